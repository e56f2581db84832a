"""Where evidence is kept, by content: each piece is named by its sha256, so that storing twice is storing once.

A store never overwrites. What is there under a name is compared: the same bytes are a no-op, other bytes a conflict,
which is left as it is for readers to find. The folder is here, Azure Blob and S3 in `uploading.py`.
"""

import contextlib
import errno
import hashlib
import os
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from urllib.parse import unquote, urlsplit

import structlog

log = structlog.get_logger(__name__)
CHUNK = 256 * 1024
_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS)  # file systems without links, as SMB shares are
_MAX_READ = 4 * 1024 * 1024


class ArtifactError(Exception):
    """The store cannot be used now; the text says why, and holds no credential and no signed address."""


class ArtifactConflict(Exception):
    """Other bytes stand under the name of a piece. They stay; who reads the evidence will find it different."""


class NotAsSaid(Exception):
    """What was to be stored has another size or digest than was said of it. Nothing of it was stored."""


@dataclass(frozen=True, slots=True)
class Stored:
    """One piece in the store."""

    uri: str
    sha256: str
    size: int


class ArtifactStore(Protocol):
    """A store of pieces by their sha256."""

    def uri(self, sha256: str) -> str:
        """Where a piece with this digest is, or would be."""

    def copy(self, chunks: Iterable[bytes], sha256: str, size: int) -> Stored:
        """Stores a stream durably in constant memory; a crash leaves all of it or nothing under its name.

        Raises ArtifactError, ArtifactConflict, NotAsSaid.
        """

    def read(self, sha256: str) -> bytes | None:
        """The bytes with this digest (4 MiB at most), or None where they are missing or no longer those. Raises
        ArtifactError."""


def put(store: ArtifactStore, data: bytes) -> Stored:
    """Stores bytes under their digest; a conflict is logged and left for the reader to find. Raises ArtifactError."""
    sha256 = hashlib.sha256(data).hexdigest()
    try:
        return store.copy([data], sha256, len(data))
    except ArtifactConflict as conflict:
        log.error("evidence not stored", why=str(conflict))
        return Stored(store.uri(sha256), sha256, len(data))


def as_said(chunks: Iterable[bytes], sha256: str, size: int) -> Iterator[bytes]:
    """The stream, its last chunk only once all of it is known to be what was said. Raises NotAsSaid."""
    digest, left, held = hashlib.sha256(), size, b""
    for chunk in chunks:
        digest.update(chunk)
        left -= len(chunk)
        if left < 0:
            raise NotAsSaid(f"it is larger than {size} bytes")
        if held:
            yield held
        held = chunk
    if left:
        raise NotAsSaid(f"it has {size - left} bytes instead of {size}")
    if digest.hexdigest() != sha256:
        raise NotAsSaid("it has another sha256")
    if held:
        yield held


class ArtifactFolder:
    """A store on a file system, given as `file:///absolute/path`."""

    def __init__(self, base: str) -> None:
        """Makes the folder where it is missing. Raises ArtifactError."""
        parts = urlsplit(base)
        if parts.scheme != "file" or parts.netloc or not parts.path.startswith("/") or parts.query or parts.fragment:
            raise ArtifactError(f"{base!r} is no artifact store; give file:///absolute/path")
        self.base = base.rstrip("/")
        self._folder = Path(unquote(parts.path))
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ArtifactError(f"the artifact store cannot be made: {error.strerror}") from error

    def uri(self, sha256: str) -> str:
        return f"{self.base}/{sha256}"

    def copy(self, chunks: Iterable[bytes], sha256: str, size: int) -> Stored:
        try:
            if not (self._folder / sha256).exists():
                self._write(sha256, as_said(chunks, sha256, size))
            if not self._holds(sha256, size):
                raise ArtifactConflict(f"other bytes stand under {sha256}")
        except OSError as error:
            raise ArtifactError(f"the artifact store cannot be written: {error.strerror}") from error
        return Stored(self.uri(sha256), sha256, size)

    def _write(self, name: str, chunks: Iterable[bytes]) -> None:
        handle, path = tempfile.mkstemp(dir=self._folder, prefix=".new-")
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.writelines(chunks)
                stream.flush()
                os.fsync(stream.fileno())
            Path(path).chmod(0o644)
            self._name(path, name)
        finally:
            with contextlib.suppress(FileNotFoundError):
                Path(path).unlink()

    def _name(self, path: str, name: str) -> None:
        """Gives a whole file its name; a link is made only where nothing is, so it replaces nothing."""
        try:
            os.link(path, self._folder / name)
        except FileExistsError:
            return
        except OSError as error:
            if error.errno not in _NO_LINKS or (self._folder / name).exists():
                raise
            Path(path).replace(self._folder / name)

    def _holds(self, sha256: str, size: int) -> bool:
        digest = hashlib.sha256()
        with (self._folder / sha256).open("rb") as stream:
            if os.fstat(stream.fileno()).st_size != size:
                return False
            while chunk := stream.read(CHUNK):
                digest.update(chunk)
        return digest.hexdigest() == sha256

    def read(self, sha256: str) -> bytes | None:
        try:
            data = (self._folder / sha256).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise ArtifactError(f"the artifact store cannot be read: {error.strerror}") from error
        return data if len(data) <= _MAX_READ and hashlib.sha256(data).hexdigest() == sha256 else None
