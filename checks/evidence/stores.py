"""What a store of evidence is: something that opens one piece for reading, and says plainly why it cannot.

A store never writes. Its errors hold sentences for people; no address with a signature and no credential gets into one.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import TracebackType
from typing import Protocol

CHUNK = 256 * 1024


class StoreError(Exception):
    """A piece cannot be read. The text is a sentence's end: "it is not there"."""


class Missing(StoreError):
    """The store answers and has no such piece: final until it is looked at again."""


class Refused(StoreError):
    """The portal does not ask: the address is not one that this result may name."""


class Unavailable(StoreError):
    """The store cannot be asked, or breaks off: temporary, and never a verdict on the piece."""


@dataclass
class Body:
    """One piece, opened. size: of the whole piece in bytes, before any is read. version: changes when the piece does.

    chunks: the bytes from the asked start, in order; reading raises Unavailable when they break off.
    """

    size: int
    version: str
    chunks: Iterator[bytes]
    close: Callable[[], None] = field(default=lambda: None)

    def __enter__(self) -> "Body":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


class Store(Protocol):
    """Where evidence lies. Paths are relative to its root, decoded, with `/` between their segments."""

    def open(self, path: str, start: int = 0, end: int | None = None) -> Body:
        """The piece, from byte `start` up to and without `end`. Raises Missing, Unavailable."""
