"""One archive per run: the envelope's exact bytes, its evidence, digests, and a verifier that needs nothing but Python.

A tar made while it is sent, in constant memory. What cannot be read is left out and named in `bundle.json`; what
differs is in it as it was found, and named too: the verifier refuses either.
"""

import hashlib
import json
import re
import tarfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from importlib import resources
from typing import TYPE_CHECKING, Any

from ..contract.clock import parse_time
from .locating import Piece
from .stores import Body, StoreError

if TYPE_CHECKING:  # it loads a large library, which a bundle without a signature does not need
    from .signing import SigningKey

STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "https://tau.azure.com/validation-result/v1"
_PADDING = 512


@dataclass
class Bundle:
    """A result to be bundled. spec: publisher, digest and envelope as stored; envelope: its exact bytes.

    open_piece: opens a piece, or raises StoreError. key: signs the statement, where there is one. outcomes: filled
    while it is sent, by the piece's name.
    """

    spec: dict[str, Any]
    envelope: bytes
    pieces: Iterable[Piece]
    open_piece: Callable[[Piece], Body]
    key: "SigningKey | None" = None
    outcomes: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What the archive's folder is called: check, run and attempt."""
        sealed = self.spec["envelope"]
        words = f"{sealed['check']['name']}-{sealed['run']['id']}-{sealed['run']['attempt']}"
        return re.sub(r"[^A-Za-z0-9._-]", "", words).lstrip(".")[:200] or "bundle"

    def chunks(self) -> Iterator[bytes]:
        """The archive."""
        yield from self._file("envelope.json", self.envelope)
        yield from self._file("result.json", _json({k: self.spec[k] for k in ("publisher", "digest")}))
        stated = _json(statement(self.spec, self.envelope))
        yield from self._file("statement.json", stated)
        if self.key is not None:
            yield from self._file("statement.dsse.json", _json(self.key.envelope(stated)))
        script = resources.files("checks.evidence").joinpath("verify_bundle.py").read_bytes()
        yield from self._file("verify.py", script)
        for piece in self.pieces:
            yield from self._piece(piece)
        yield from self._file("bundle.json", _json({"evidence": self.outcomes}))
        yield bytes(2 * _PADDING)

    def _piece(self, piece: Piece) -> Iterator[bytes]:
        try:
            body = self.open_piece(piece)
        except StoreError as error:
            self.outcomes[piece.name] = f"left out: {error}"
            return
        with body:
            if body.size != piece.size_bytes:
                self.outcomes[piece.name] = f"left out: {body.size} bytes instead of {piece.size_bytes}"
                return
            yield self._header(f"evidence/{piece.name}", body.size)
            digest, left = hashlib.sha256(), body.size
            why = ""
            try:
                for chunk in body.chunks:
                    digest.update(chunk[:left])
                    yield chunk[:left]
                    left -= len(chunk[:left])
            except StoreError as error:
                why = str(error)
            for start in range(0, left, 1024**2):  # the archive stays readable; the piece is wrong, and said to be
                yield bytes(min(1024**2, left - start))
            yield bytes(-body.size % _PADDING)
        same = digest.hexdigest() == piece.sha256
        self.outcomes[piece.name] = "same" if same else f"differs: {why or 'another sha256'}"

    def _file(self, name: str, data: bytes) -> Iterator[bytes]:
        yield self._header(name, len(data))
        yield data + bytes(-len(data) % _PADDING)

    def _header(self, name: str, size: int) -> bytes:
        sealed = parse_time(self.spec["envelope"]["times"]["observed"])
        made = tarfile.TarInfo(f"{self.name}/{name}")
        made.size, made.mode = size, 0o644
        made.mtime = int(sealed.timestamp()) if sealed else 0
        return made.tobuf(tarfile.PAX_FORMAT)


def statement(spec: dict[str, Any], envelope: bytes) -> dict[str, Any]:
    """An in-toto statement of the result: its subjects are the envelope and every piece of evidence."""
    sealed = spec["envelope"]
    pieces = [{"name": item["name"], "digest": {"sha256": item["sha256"]}} for item in sealed["evidence"]]
    return {
        "_type": STATEMENT,
        "subject": [{"name": "envelope.json", "digest": {"sha256": hashlib.sha256(envelope).hexdigest()}}, *pieces],
        "predicateType": PREDICATE,
        "predicate": {
            key: sealed.get(key)
            for key in ("check", "run", "scope", "times", "outcome", "reason", "producer", "parser")
        }
        | {"publisher": spec["publisher"]},
    }


def _json(value: Any) -> bytes:
    return json.dumps(value, indent=2, sort_keys=True).encode() + b"\n"
