"""Runs one command and ends it, with all it started, as soon as this process's standard input closes.

The supervisor holds the other end of that pipe. Closing it is the one way a part is stopped, and the kernel closes it
too when the supervisor is killed: nothing has to be remembered or cleaned up by anybody, on Linux and macOS alike.

Started by its path (`python -I -S guard.py command…`), not as a module: it must cost next to nothing.
"""

import os
import signal
import subprocess
import sys
import threading
from types import FrameType

STOP_GRACE_SECONDS = 15.0
"""How long a part may take to stop by itself after SIGTERM: the host gives running invocations 10 s, then tidies up."""

FORCED_EXIT_CODE = 137
"""What a shell reports for a process that SIGKILL ended (128 + 9)."""


def run(command: list[str]) -> int:
    """Run `command` in a process group of its own until it ends or standard input closes; answer its exit code."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _ignore)  # a handler, not SIG_IGN, which the command would inherit
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, process_group=0)
    threading.Thread(target=_stop_when_input_closes, args=(child,), daemon=True).start()
    code = child.wait()
    _kill_group(child.pid)  # what the command left behind
    return code if code >= 0 else 128 - code


def _stop_when_input_closes(child: subprocess.Popen[bytes]) -> None:
    while os.read(sys.stdin.fileno(), 1):
        pass
    child.terminate()
    try:
        child.wait(STOP_GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        _kill_group(child.pid)
        os._exit(FORCED_EXIT_CODE)


def _kill_group(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):  # empty already; macOS says the latter of a group of zombies
        return


def _ignore(_number: int, _frame: FrameType | None) -> None:
    """Signals meant for the supervisor may reach us too; the pipe alone decides."""


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
