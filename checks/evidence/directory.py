"""A directory or a mounted volume. No link is followed, so that nothing outside it can be read through it.

obstore's own local store follows links, which is why this one opens every segment of a path itself.
"""

import errno
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from .stores import CHUNK, Body, Missing, Unavailable

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Directory:
    """Files below a root."""

    root: Path

    def open(self, path: str, start: int = 0, end: int | None = None) -> Body:
        """Opens a regular file. A root that is not there is the store's fault, not the piece's."""
        *folders, name = path.split("/")
        if any(segment in ("", ".", "..") or "\0" in segment for segment in (*folders, name)):
            raise Unavailable("its path is not one within the directory")
        try:
            handle = os.open(self.root, _FOLDER)
        except OSError as error:
            raise Unavailable(f"the directory cannot be opened: {error.strerror}") from error
        try:
            for folder in folders:
                handle = _into(handle, folder, _FOLDER | os.O_NOFOLLOW)
            handle = _into(handle, name, _FILE)
        except FileNotFoundError as error:
            raise Missing("it is not in the directory") from error
        except OSError as error:
            raise Unavailable(_why(error)) from error
        return _body(handle, start, end)


def _into(handle: int, name: str, flags: int) -> int:
    """Opens below `handle`, which is closed."""
    try:
        return os.open(name, flags, dir_fd=handle)
    finally:
        os.close(handle)


def _why(error: OSError) -> str:
    if error.errno in (errno.ELOOP, errno.ENOTDIR):
        return "its path goes through a link or a file"
    return f"it cannot be opened: {error.strerror}"


def _body(handle: int, start: int, end: int | None) -> Body:
    found = os.fstat(handle)
    if not stat.S_ISREG(found.st_mode):
        os.close(handle)
        raise Unavailable("it is not a file")
    if start:
        os.lseek(handle, start, os.SEEK_SET)
    left = (found.st_size if end is None else min(end, found.st_size)) - start
    version = f"{found.st_ino}-{found.st_mtime_ns}"
    return Body(found.st_size, version, _chunks(handle, left), partial(_close, [handle]))


def _chunks(handle: int, left: int) -> Iterator[bytes]:
    """The next `left` bytes, without a buffer between: the chunks are large."""
    try:
        while left > 0 and (chunk := os.read(handle, min(CHUNK, left))):
            left -= len(chunk)
            yield chunk
    except OSError as error:
        raise Unavailable(f"reading broke off: {error.strerror}") from error
    if left > 0:
        raise Unavailable("it became shorter while it was read")


def _close(handles: list[int]) -> None:
    """Once: the number may be another file's by then."""
    while handles:
        os.close(handles.pop())
