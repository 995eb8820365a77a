"""One writer at a time, across processes: an advisory lock that dies with its holder."""

from __future__ import annotations

import os
import sys
import time

if sys.platform == "win32":
    import msvcrt

    def _try(handle: int) -> bool:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


_POLL = 0.02


def acquire(path: str, wait: float) -> int | None:
    """Lock the file at `path` (made if missing), waiting at most `wait` seconds.

    Returns the open handle, to be given to `release`, or None when another holder kept it. Raises OSError when the file
    cannot be made or the file system knows no locks.
    """
    handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
    deadline = time.monotonic() + wait
    try:
        while not _try(handle):
            if time.monotonic() >= deadline:
                os.close(handle)
                return None
            time.sleep(_POLL)
    except BaseException:
        os.close(handle)
        raise
    return handle


def release(handle: int) -> None:
    """Give the lock back; closing the handle is what frees it."""
    os.close(handle)
