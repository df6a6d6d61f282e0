"""Keeps one worker process alive and carries invocations to it."""

import asyncio
import logging
import os
import secrets
import signal
import socket
import sys
import uuid
from asyncio.subprocess import Process
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from . import wire
from .errors import IndexingError, WorkerLost

_ENTRY_POINT = Path(__file__).parent / "worker" / "__main__.py"
# What the real host passes as --functions-grpc-max-message-length: no limit of its own.
MAX_MESSAGE_LENGTH = 2**31 - 1
# A dying worker is replaced soon, but an app that cannot even be loaded must not spin: the pause doubles up to the cap.
FIRST_RESTART_PAUSE = 0.1
LONGEST_RESTART_PAUSE = 5.0
# How long a worker may take to leave after its socket was closed, before it is killed.
EXIT_GRACE = 2.0
# File descriptor that the worker inherits and also prints to.
STANDARD_ERROR = 2

_log = logging.getLogger(__name__)
_app_log = logging.getLogger("local.host.functions")


class WorkerProcess:
    """The worker of one app: started, watched, and started again whenever it dies."""

    def __init__(self, app_dir: Path, environment: Mapping[str, str], settlement_port: int) -> None:
        self._app_dir = app_dir
        self._environment = dict(environment)
        self._settlement_port = settlement_port
        self._process: Process | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._indexed: asyncio.Future[wire.Indexed] = asyncio.get_running_loop().create_future()
        self._waiting: dict[str, asyncio.Future[wire.Result]] = {}
        self._names: dict[str, str] = {}
        self._ready = asyncio.Event()
        self._keeper: asyncio.Task[None] | None = None
        self.starts = 0
        self.error: str | None = None

    @property
    def in_flight(self) -> int:
        """Invocations that the worker has and has not answered."""
        return len(self._waiting)

    @property
    def is_ready(self) -> bool:
        """True while a worker that has indexed the app is running."""
        return self._ready.is_set()

    @property
    def pid(self) -> int | None:
        """The worker's process id, None between two workers."""
        return self._process.pid if self._process and self._process.returncode is None else None

    async def start(self) -> wire.Indexed:
        """Starts the first worker and returns what it indexed.

        Raises IndexingError with the worker's own text when the app cannot be loaded.
        """
        self._keeper = asyncio.create_task(self._keep_running())
        return await asyncio.shield(self._indexed)

    async def stop(self) -> None:
        """Ends the worker and its children, and does not start another."""
        if self._keeper:
            self._keeper.cancel()
            with suppress(asyncio.CancelledError):
                await self._keeper

    async def ready(self) -> None:
        """Returns once a worker that has indexed the app is running."""
        await self._ready.wait()

    async def invoke(
        self,
        function: wire.Function,
        parameter: str,
        value: wire.TypedData,
        metadata: dict[str, wire.TypedData],
        retry: wire.RetryContext = wire.NO_RETRIES,
    ) -> wire.Result:
        """Runs the function once; waits for a worker first when there is none.

        Raises WorkerLost when the worker dies before it has answered.
        """
        await self.ready()
        if self._writer is None:
            raise WorkerLost("the worker died before it could be asked")
        invocation_id = str(uuid.uuid4())
        trace_parent = f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-01"
        answer: asyncio.Future[wire.Result] = asyncio.get_running_loop().create_future()
        self._waiting[invocation_id], self._names[invocation_id] = answer, function.name
        try:
            request = wire.Invoke(invocation_id, function.function_id, parameter, value, metadata, trace_parent, retry)
            self._writer.write(wire.pack(request))
            return await answer
        finally:
            del self._waiting[invocation_id], self._names[invocation_id]

    async def _keep_running(self) -> None:
        pause = FIRST_RESTART_PAUSE
        while True:
            try:
                await self._run_one()
            finally:
                was_ready = self._ready.is_set()
                self._ready.clear()
                self._lose_everything()
            pause = FIRST_RESTART_PAUSE if was_ready else min(pause * 2, LONGEST_RESTART_PAUSE)
            await asyncio.sleep(pause)

    async def _run_one(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = await self._spawn(theirs)
        self.starts += 1
        reader, self._writer = await asyncio.open_connection(sock=ours)
        _log.info("worker %d started (start %d)", self._process.pid, self.starts)
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                while not isinstance(frame := await _read(reader), wire.IndexingFailed):
                    self._take(frame)
                self._cannot_load(frame)
        finally:
            self._writer.close()
            self._writer = None
            await self._reap(self._process)

    async def _spawn(self, theirs: socket.socket) -> Process:
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", str(_ENTRY_POINT)),
            *("--host", "127.0.0.1", "--port", str(self._settlement_port)),
            *("--functions-grpc-max-message-length", str(MAX_MESSAGE_LENGTH)),
            stdin=theirs.fileno(),
            stdout=STANDARD_ERROR,  # what the app prints must not mix with the lines on ours that others parse
            cwd=self._app_dir,
            env=self._environment,
            start_new_session=True,  # Ctrl-C is for the host, which then stops the worker in its own time
        )

    def _take(self, frame: wire.Frame) -> None:
        match frame:
            case wire.Result(invocation_id=invocation_id):
                if (answer := self._waiting.get(invocation_id)) and not answer.done():
                    answer.set_result(frame)
            case wire.Log(invocation_id=invocation_id):
                origin = f"{self._names.get(invocation_id, '-')} {invocation_id or '-'}"
                text = frame.message.replace("\n", "\\n")
                _app_log.log(frame.level, "%s %s: %s", origin, frame.logger, text)
            case wire.Indexed():
                self.error = None
                self._ready.set()
                if not self._indexed.done():
                    self._indexed.set_result(frame)

    def _cannot_load(self, failure: wire.IndexingFailed) -> None:
        self.error = f"{failure.message}\n{failure.stack_trace}".rstrip()
        _log.error("the app could not be loaded: %s", self.error)
        if not self._indexed.done():
            self._indexed.set_exception(IndexingError(self.error))

    def _lose_everything(self) -> None:
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(WorkerLost("the worker died during the invocation"))

    async def _reap(self, process: Process) -> None:
        try:
            async with asyncio.timeout(EXIT_GRACE):
                await process.wait()
        except TimeoutError:
            _log.warning("worker %d did not leave by itself", process.pid)
        finally:
            # The worker leads its own process group: what the app started dies with it.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        code = await process.wait()
        _log.info("worker %d ended with %s", process.pid, f"signal {-code}" if code < 0 else f"exit code {code}")


async def _read(reader: asyncio.StreamReader) -> wire.Frame:
    (length,) = wire.LENGTH.unpack(await reader.readexactly(wire.LENGTH.size))
    return wire.unpack(await reader.readexactly(length))
