"""Portable primitives for files other processes also touch: locks, atomic writes, reads that never block.

The lock is hand-written because importing the `filelock` library costs as much CPU time as a whole `remember` may take
above bare Python (45 ms, measured); both system calls it would make are here.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
import time
from typing import TYPE_CHECKING

from cofferctl.errors import CofferError, ExitCode

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MAX_TEXT_BYTES = 1_000_000
"""A text file over this size is never read whole, indexed or committed."""

_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_NONBLOCK = getattr(os, "O_NONBLOCK", 0)
_BINARY = getattr(os, "O_BINARY", 0)
_CLOEXEC = getattr(os, "O_CLOEXEC", 0)


class Busy(CofferError):
    """Another process holds a lock for longer than we wait."""

    code = "STORE_BUSY"
    exit_code = ExitCode.UNAVAILABLE

    def __init__(
        self, path: Path, *, pid: int | None = None, age: float | None = None, hint: str | None = None
    ) -> None:
        owner = f" by process {pid}" if pid else ""
        since = f", taken {age:.0f} s ago" if age is not None else ""
        super().__init__(
            f"{path} is held{owner}{since}",
            hint=hint or "try again when the other process has ended",
            details={"lock": str(path), "pid": pid, "age": age},
        )


class NotWritable(CofferError):
    """The disk refuses what we must write: read-only, full, or not ours."""

    code = "STORE_NOT_WRITABLE"
    exit_code = ExitCode.UNAVAILABLE

    def __init__(self, path: Path | str, error: OSError) -> None:
        super().__init__(
            f"cannot write {path}: {error.strerror or error}",
            hint="free some space" if error.errno in _NO_SPACE else "check the permissions of the directory",
            details={"path": str(path), "errno": error.errno},
        )


_NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG) if hasattr(errno, "EDQUOT") else (errno.ENOSPC, errno.EFBIG)


def make_private_dirs(path: Path) -> None:
    """Create a directory and its missing parents with mode 0700, whatever the umask says."""
    if path.is_dir():
        return
    make_private_dirs(path.parent)
    with contextlib.suppress(FileExistsError):
        path.mkdir(mode=0o700)


def read_regular(path: Path | str, limit: int = MAX_TEXT_BYTES) -> bytes | None:
    """Read a regular file of at most `limit` bytes; None when it is absent, larger, a link, a FIFO or a device.

    Never blocks and never follows a link at the last component. Raises OSError for what is there but unreadable.
    """
    try:
        fd = os.open(path, os.O_RDONLY | _NOFOLLOW | _NONBLOCK | _BINARY | _CLOEXEC)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EISDIR, errno.ENXIO, errno.EMLINK):
            return None
        raise
    with os.fdopen(fd, "rb") as file:
        info = os.fstat(fd)
        if not stat.S_ISREG(info.st_mode) or info.st_size > limit:
            return None
        data = file.read(limit + 1)
        return data if len(data) <= limit else None


def fsync_file(path: Path | str) -> None:
    """Make the content of a file durable that another program wrote."""
    fd = os.open(path, os.O_RDWR | _NOFOLLOW | _BINARY | _CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def fsync_dir(path: Path | str) -> None:
    """Make the names in a directory durable, where the system can (Windows cannot, and need not)."""
    if sys.platform == "win32":
        return
    fd = os.open(path, os.O_RDONLY | _CLOEXEC)
    try:
        os.fsync(fd)
    except OSError as error:
        if error.errno != errno.EINVAL:  # some network file systems have no fsync for directories
            raise
    finally:
        os.close(fd)


def write_new(path: Path | str, data: bytes, *, sync: bool = True) -> None:
    """Create a file that must not exist, mode 0600, durably.

    Raises:
        FileExistsError: something with that name is there.
    """
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW | _BINARY | _CLOEXEC, 0o600)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(data)
            file.flush()
            if sync:
                os.fsync(file.fileno())
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(path)
        raise


def write_atomic(path: Path, data: bytes, *, temp_dir: Path | None = None, sync: bool = True) -> None:
    """Replace a file in one step, mode 0600: a reader sees the old bytes or the new, after a crash too.

    Args:
        path: the file to write.
        data: its new content.
        temp_dir: where the temporary file is made, on the same file system; default: beside the file.
        sync: whether to wait for the disk; False for what can be derived again.
    """
    temp = (temp_dir or path.parent) / f"{path.name}.{os.getpid()}.{time.monotonic_ns()}.tmp"
    write_new(temp, data, sync=sync)
    try:
        os.replace(temp, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temp)
        raise
    if sync:
        fsync_dir(path.parent)


def move_new(temp: Path, path: Path) -> None:
    """Give a finished file its name, only if nothing has that name yet.

    Raises:
        FileExistsError: something with that name is there; `temp` is left.
    """
    try:
        os.link(temp, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links: the moment between look and rename is the price
        if os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path)) from None
        os.rename(temp, path)
    else:
        os.unlink(temp)


@contextlib.contextmanager
def lock(path: Path, *, timeout: float = 10.0) -> Iterator[int]:
    """Hold an exclusive lock on a file, released by the system when the process dies; yields the file descriptor.

    The holder's process id is written into the file, for the message of those who wait. After locking, the file's
    identity is checked again: a lock file that somebody deleted meanwhile protects nobody.

    Raises:
        Busy: held by another process for longer than `timeout` seconds.
        NotWritable: the lock file cannot be made.
    """
    deadline = time.monotonic() + timeout
    delay = 0.002
    while True:
        fd = _open_lock(path)
        if _try_lock(fd):
            if _same_file(fd, path):
                break
            os.close(fd)
            continue
        pid = _holder(fd)
        os.close(fd)
        if time.monotonic() >= deadline:
            raise Busy(path, pid=pid)
        time.sleep(delay)
        delay = min(delay * 1.5, 0.01)  # short: who came late must have the chances of who waits longest
    try:
        with contextlib.suppress(OSError):  # a full disk must not stop a lock from being taken
            os.ftruncate(fd, 0)
            os.pwrite(fd, b"%d\n" % os.getpid(), 0) if hasattr(os, "pwrite") else os.write(fd, b"%d\n" % os.getpid())
        yield fd
    finally:
        _unlock(fd)
        os.close(fd)


def _open_lock(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | _NOFOLLOW | _BINARY | _CLOEXEC, 0o600)
    except FileNotFoundError:
        _make_lock_directory(path)
        return os.open(path, os.O_RDWR | os.O_CREAT | _NOFOLLOW | _BINARY | _CLOEXEC, 0o600)
    except OSError as error:
        raise NotWritable(path, error) from error


def _make_lock_directory(path: Path) -> None:
    """Make the lock's own directory, but none above: a writer that waited must not bring a deleted store back."""
    try:
        with contextlib.suppress(FileExistsError):
            path.parent.mkdir(mode=0o700)
    except OSError as error:
        raise NotWritable(path, error) from error


def _same_file(fd: int, path: Path) -> bool:
    try:
        there = os.stat(path)
    except FileNotFoundError:
        return False
    return os.path.samestat(os.fstat(fd), there)


def _holder(fd: int) -> int | None:
    with contextlib.suppress(OSError, ValueError):
        os.lseek(fd, 0, os.SEEK_SET)
        return int(os.read(fd, 32))
    return None


if sys.platform == "win32":  # pragma: no cover - not run on the development machine
    import msvcrt

    _LOCKED_BYTE = 1 << 30  # far behind the process id, so that waiting processes can read that

    def _try_lock(fd: int) -> bool:
        try:
            os.lseek(fd, _LOCKED_BYTE, os.SEEK_SET)
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _unlock(fd: int) -> None:
        os.lseek(fd, _LOCKED_BYTE, os.SEEK_SET)
        msvcrt.locking(fd, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _try_lock(fd: int) -> bool:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.EACCES):
                raise
            return False
        return True

    def _unlock(fd: int) -> None:
        fcntl.flock(fd, fcntl.LOCK_UN)
