"""Evidence written to Azure Blob or S3: one conditional PUT for each piece, to an address that was signed for it.

A PUT is all or nothing, so a crash leaves no half of a piece, and whoever goes on stores what is missing.
`If-None-Match: *` makes the store refuse to overwrite; what is there is then read and compared. No redirect is
followed, and no address with its signature gets into an error.
"""

import hashlib
import time
from collections.abc import Iterable, Iterator

import urllib3

from ..evidence.configuration import Option, Target
from ..evidence.remote import LEAST_BYTES_PER_SECOND, READ_SECONDS, Remote, Signer, fault, pool, refusal
from ..evidence.stores import Missing, Unavailable
from .artifacts import ArtifactConflict, ArtifactError, Stored, as_said

MAX_READ = 4 * 1024 * 1024
_PUT = {"If-None-Match": "*", "Content-Type": "application/octet-stream"}
_STORED, _THERE, _REFUSED = (200, 201), (409, 412), (401, 403)


class Uploads:
    """A container or bucket. option: gives its options, credentials among them, whenever they are read again."""

    def __init__(self, target: Target, option: Option) -> None:
        self.base, self._prefix = target.base, target.prefix.strip("/")
        self._headers = {**_PUT, **target.put_headers}
        self._signer = Signer(lambda: target.sign(option, "PUT"))
        self._remote = Remote(lambda: target.sign(option, "GET"))
        self._pool = pool()

    def uri(self, sha256: str) -> str:
        return f"{self.base}/{sha256}"

    def copy(self, chunks: Iterable[bytes], sha256: str, size: int) -> Stored:
        try:
            status, error = self._put(as_said(chunks, sha256, size), sha256, size)
            if status in (
                *_THERE,
                *_REFUSED,
            ):  # a store that may only create refuses what is there as it does a stranger
                self._compare(sha256, size, error)
            elif error is not None:
                raise error
        except (Missing, Unavailable) as error:
            raise ArtifactError(f"the artifact store cannot be written: {error}") from None
        return Stored(self.uri(sha256), sha256, size)

    def _put(self, chunks: Iterator[bytes], sha256: str, size: int) -> tuple[int, Missing | Unavailable | None]:
        headers = self._headers | {"Content-Length": str(size)}
        address = self._signer.address(self._path(sha256))
        body = _paced(chunks, size) if size else b"".join(chunks)
        try:
            answer = self._pool.request("PUT", address, body=body, headers=headers, redirect=False)
        except urllib3.exceptions.HTTPError as error:
            raise Unavailable(fault(error)) from None
        if answer.status in _STORED:
            return answer.status, None
        if answer.status in _REFUSED:
            self._signer.forget()
        return answer.status, refusal(answer)

    def _compare(self, sha256: str, size: int, refused: Missing | Unavailable | None) -> None:
        """Returns where the same bytes are there already."""
        try:
            body = self._remote.open(self._path(sha256))
        except Missing:
            raise refused or Unavailable("another upload of the same piece is under way") from None
        with body:
            digest = hashlib.sha256()
            for chunk in body.chunks if body.size == size else ():
                digest.update(chunk)
        if body.size != size or digest.hexdigest() != sha256:
            raise ArtifactConflict(f"other bytes stand under {sha256}")

    def _path(self, sha256: str) -> str:
        return f"{self._prefix}/{sha256}".lstrip("/")

    def read(self, sha256: str) -> bytes | None:
        try:
            with self._remote.open(self._path(sha256)) as body:
                data = b"".join(body.chunks) if body.size <= MAX_READ else b""
        except Missing:
            return None
        except Unavailable as error:
            raise ArtifactError(f"the artifact store cannot be read: {error}") from None
        return data if hashlib.sha256(data).hexdigest() == sha256 else None


def _paced(chunks: Iterator[bytes], size: int) -> Iterator[bytes]:
    """The stream, as long as the store takes it at a bearable pace."""
    until = time.monotonic() + READ_SECONDS + size / LEAST_BYTES_PER_SECOND
    for chunk in chunks:
        if time.monotonic() > until:
            raise Unavailable("the store takes it too slowly")
        yield chunk
