"""The supervisor's side of the parts' HTTP control endpoints: JSON in, JSON out, every call with a deadline."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import aiohttp

CONTROL_SECONDS = 10.0
"""Control calls answer from memory; one that takes longer than this will not answer."""


class ControlFailed(Exception):
    """A part did not answer a control call, or refused it."""


@dataclass(frozen=True, slots=True)
class Channel:
    """Where one part takes control calls."""

    part: str
    """The part's name, for errors."""
    base: str
    """Its address, such as http://127.0.0.1:8081."""
    session: aiohttp.ClientSession
    """The stack's client; closed by the stack."""

    async def call(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, query: Mapping[str, str] | None = None
    ) -> Any:
        """The parsed JSON answer, None when it has no body. Raises ControlFailed."""
        deadline = aiohttp.ClientTimeout(total=CONTROL_SECONDS)
        try:
            async with self.session.request(
                method, self.base + path, json=body, params=query, timeout=deadline
            ) as response:
                text = await response.text()
                if response.status >= 400:
                    raise ControlFailed(f"{self.part} refused {method} {path}: {response.status} {text[:500]}")
                return await response.json(content_type=None) if text else None
        except (aiohttp.ClientError, TimeoutError) as error:
            raise ControlFailed(f"{self.part} did not answer {method} {path}: {error!r}") from error

    async def answers(self) -> None:
        """Return once the part speaks HTTP, whatever it says. Raises ControlFailed."""
        try:
            async with self.session.get(self.base, timeout=aiohttp.ClientTimeout(total=CONTROL_SECONDS)):
                return
        except (aiohttp.ClientError, TimeoutError) as error:
            raise ControlFailed(f"{self.part} does not answer on {self.base}: {error!r}") from error
