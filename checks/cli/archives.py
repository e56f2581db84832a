"""Sealed results of a snapshot, with the way to their evidence."""

import hashlib
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..contract.document import canonical
from ..contract.envelope import Evidence
from ..contract.kinds import RESULT
from ..evidence.bundle import Bundle
from ..evidence.locating import Place, Stores
from ..evidence.stores import StoreError
from ..facts import Result
from ..objects import section
from ..snapshot import Snapshot

if TYPE_CHECKING:
    from ..evidence.signing import SigningKey


@dataclass(frozen=True, slots=True)
class Sealed:
    """A result that can be read. check: the check that it speaks for."""

    check: str
    namespace: str
    result: Result
    place: Place
    spec: dict[str, Any]

    def bundle(self, read_from: Path | Stores, key: "SigningKey | None" = None) -> Bundle:
        """Its archive; key: signs the statement in it."""
        assert self.result.envelope is not None
        stores = _stores(read_from)
        data = canonical(self.spec["envelope"])
        return Bundle(self.spec, data, self.result.envelope.evidence, lambda piece: stores.open(piece, self.place), key)

    def copy(self, piece: Evidence, read_from: Path | Stores, target: Path) -> str:
        """Copies a piece, whole and as it was sealed, or not at all; why not, "" where it was."""
        digest, count = hashlib.sha256(), 0
        with tempfile.NamedTemporaryFile(dir=target.parent, prefix=".piece-", delete=False) as stream:
            try:
                with _stores(read_from).open(piece, self.place) as body:
                    for chunk in body.chunks:
                        digest.update(chunk)
                        count += len(chunk)
                        if count > piece.size_bytes:
                            break
                        stream.write(chunk)
                if (count, digest.hexdigest()) == (piece.size_bytes, piece.sha256):
                    Path(stream.name).replace(target)
                    return ""
                return "it is another than was sealed"
            except StoreError as error:
                return str(error)
            finally:
                Path(stream.name).unlink(missing_ok=True)


def _stores(read_from: Path | Stores) -> Stores:
    return read_from if isinstance(read_from, Stores) else Stores(folder=read_from)


def sealed_results(snapshot: Snapshot) -> Iterator[Sealed]:
    """Every result of a snapshot that keeps the contract, the newest of each check first."""
    for check, result, place in snapshot.sealed():
        copies = snapshot.copies[RESULT][(result.namespace, result.name)]
        if result.envelope is not None and len(copies) == 1:
            yield Sealed(check, result.namespace, result, place, section(copies[0], "spec"))
