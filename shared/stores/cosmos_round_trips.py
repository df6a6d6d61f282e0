"""Every request that one store call makes, as the SDK's pipeline sees it pass: nothing it repeats stays hidden."""

from dataclasses import replace
from typing import Any, TypedDict

from ..idempotency import Clock, Hook, StoreCall

_REQUEST_CHARGE = "x-ms-request-charge"
_NO_ANSWER = 0


class PipelineHooks(TypedDict):
    """Keyword arguments of an SDK call (azure-core, `CustomHookPolicy`)."""

    raw_request_hook: Any
    raw_response_hook: Any


class RoundTrips:
    """The requests of one call; told to a hook when the call has ended.

    The headers that the client remembers belong to whichever call was answered last, so they are taken from each
    answer as it passes.
    """

    def __init__(self, operation: str, container: str, clock: Clock) -> None:
        self._operation = operation
        self._container = container
        self._clock = clock
        self._started_at = clock.now()
        self._started = clock.monotonic()
        self._open = False
        self._ended: list[StoreCall] = []

    @property
    def sent(self) -> bool:
        """Whether a request was handed to the network."""
        return self._open or bool(self._ended)

    @property
    def hooks(self) -> PipelineHooks:
        return {"raw_request_hook": self._on_request, "raw_response_hook": self._on_response}

    def report(self, hook: Hook, decided: int | None = None) -> None:
        """Tell what happened, once. `decided`: the code of the operation that failed, which says more than a 207."""
        if self._open or not self._ended:
            self._end()
        last = self._ended[-1]
        if decided and last.status:
            self._ended[-1] = replace(last, status=decided)
        for call in self._ended:
            hook(call)

    def _on_request(self, request: Any) -> None:  # noqa: ARG002 - the pipeline's signature
        if self._open:
            self._end()
        self._open = True
        self._started_at = self._clock.now()
        self._started = self._clock.monotonic()

    def _on_response(self, response: Any) -> None:
        answer = response.http_response
        self._end(answer.status_code, float(answer.headers.get(_REQUEST_CHARGE, 0.0)))

    def _end(self, status: int = _NO_ANSWER, charge: float = 0.0) -> None:
        self._open = False
        self._ended.append(
            StoreCall(
                operation=self._operation,
                container=self._container,
                status=status,
                request_charge=charge,
                started_at=self._started_at,
                seconds=self._clock.monotonic() - self._started,
            )
        )
