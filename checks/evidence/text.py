"""Evidence as lines to look at, in constant memory, hashed while it is read.

Up to `WHOLE` bytes the piece is read to its end, and its sha256 is known before a line is shown. Of a larger one only
the first and the last part are read, and that is said.
"""

import hashlib
import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .ansi import Span, Terminal, plain
from .locating import Piece, Place, Stores
from .stores import Unavailable

WHOLE, PART = 16 * 1024**2, 1024**2
AT_ONCE, LONGEST_LINE, LAID_OUT = 1000, 4096, 512 * 1024
_JSON = ("application/json",)
_TEXT = (
    "application/jsonl",
    "application/x-ndjson",
    "application/x-yaml",
    "application/yaml",
    "text/csv",
    "text/markdown",
    "text/plain",
    "text/x-log",
    "text/yaml",
)
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[\]{},:]|[^\s\[\]{},:"]+')


def is_shown(media_type: str) -> bool:
    """Whether a kind of content is shown as text; everything else, HTML and SVG included, is for download only."""
    return media_type in _TEXT or _is_json(media_type)


def _is_json(media_type: str) -> bool:
    return media_type in _JSON or (media_type.startswith("application/") and media_type.endswith("+json"))


@dataclass(frozen=True, slots=True)
class Line:
    """One line. number: from 1, or below 0 from the end where nobody counted. cut: characters left out at its end."""

    number: int
    spans: list[Span]
    cut: int = 0


@dataclass(frozen=True, slots=True)
class Shown:
    """What is shown. total: lines, None where only parts were read. hits: of a search, None without one.

    difference: why these are not the bytes that the result names; "" where they are, None where nobody can say.
    is_laid_out: indented for reading; the exact bytes are the download.
    """

    first: list[Line]
    last: list[Line]
    total: int | None
    hits: int | None
    difference: str | None
    size: int
    is_laid_out: bool = False

    @property
    def left_out(self) -> int | None:
        """Lines between the first and the last part."""
        return None if self.total is None else self.total - len(self.first) - len(self.last)


def read_text(stores: Stores, piece: Piece, place: Place, query: str = "") -> Shown:
    """Reads a piece as text. query: only lines that hold it, whatever their case. Raises StoreError."""
    with stores.open(piece, place) as body:
        if body.size <= WHOLE:
            return _whole(body.chunks, body.size, piece, query)
    return _parts(stores, piece, place, query)


def _whole(chunks: Iterable[bytes], size: int, piece: Piece, query: str) -> Shown:
    digest, count = hashlib.sha256(), 0

    def hashed() -> Iterator[bytes]:
        nonlocal count
        for chunk in chunks:
            digest.update(chunk)
            count += len(chunk)
            yield chunk

    laid_out = _is_json(piece.media_type) and size <= LAID_OUT
    lines: Iterable[tuple[bytes, int]] = _lines(hashed())
    if laid_out:
        lines = ((text.encode(), len(text)) for text in lay_out(b"".join(hashed()).decode("utf-8", "replace")))
    first, last, total, hits = _chosen(lines, query)
    if count != size:
        raise Unavailable(f"the store said {size} bytes and sent {count}")
    difference = ""
    if size != piece.size_bytes:
        difference = f"it has {size} bytes, the result says {piece.size_bytes}"
    elif digest.hexdigest() != piece.sha256:
        difference = f"its sha256 is {digest.hexdigest()}"
    return Shown(first, last, total, hits, difference, size, laid_out)


def _parts(stores: Stores, piece: Piece, place: Place, query: str) -> Shown:
    with stores.open(piece, place, 0, PART) as body:
        size, version = body.size, body.version
        head = list(_lines(body.chunks))[:-1]
    with stores.open(piece, place, size - PART) as body:
        if (body.size, body.version) != (size, version):
            raise Unavailable("it changed while it was read")
        tail = list(_lines(body.chunks))[1:]
    terminal = Terminal()
    first = [_line(n, *line, terminal) for n, line in enumerate(head[:AT_ONCE], 1) if _holds(line[0], query)]
    terminal = Terminal()
    kept = tail[-AT_ONCE:]
    last = [_line(n - len(kept), *line, terminal) for n, line in enumerate(kept) if _holds(line[0], query)]
    differs = f"it has {size} bytes, the result says {piece.size_bytes}" if size != piece.size_bytes else None
    return Shown(first, last, None, len(first) + len(last) if query else None, differs, size)


def _chosen(lines: Iterable[tuple[bytes, int]], query: str) -> tuple[list[Line], list[Line], int, int | None]:
    """The first and the last lines to show, how many there are, and how many a search found."""
    first: list[tuple[int, bytes, int]] = []
    last: deque[tuple[int, bytes, int]] = deque(maxlen=AT_ONCE)
    total = found = 0
    for text, length in lines:
        total += 1
        if query and not _holds(text, query):
            continue
        found += 1
        (first if len(first) < AT_ONCE else last).append((total, text, length))
    terminal = Terminal()
    shown = [[_line(*line, terminal) for line in part] for part in (first, last)]
    return shown[0], shown[1], found if query else total, found if query else None


def _holds(text: bytes, query: str) -> bool:
    return not query or query.casefold() in plain(text.decode("utf-8", "replace")).casefold()


def _line(number: int, text: bytes, length: int, terminal: Terminal) -> Line:
    return Line(number, terminal.spans(text.decode("utf-8", "replace").removesuffix("\r")), length - len(text))


def _lines(chunks: Iterable[bytes]) -> Iterator[tuple[bytes, int]]:
    """The beginning of each line, and how long the line is in bytes."""
    head, length = bytearray(), 0
    for chunk in chunks:
        for index, part in enumerate(chunk.split(b"\n")):
            if index:
                yield bytes(head), length
                head, length = bytearray(), 0
            head += part[: LONGEST_LINE - len(head)]
            length += len(part)
    if length:
        yield bytes(head), length


def lay_out(text: str) -> Iterator[str]:
    """JSON indented, token by token: nothing is converted, rounded, reordered or left out, also where it is no JSON."""
    depth, line = 0, ""
    for word in _TOKEN.findall(text):
        if word in "}]":
            depth = max(0, depth - 1)
            if line.strip():
                yield line[:LONGEST_LINE]
            line = "  " * min(depth, 40) + word
        elif word in "{[":
            yield (line + word)[:LONGEST_LINE]
            depth += 1
            line = "  " * min(depth, 40)
        elif word == ",":
            yield (line + word)[:LONGEST_LINE]
            line = "  " * min(depth, 40)
        else:
            line += ": " if word == ":" else word
    if line.strip():
        yield line[:LONGEST_LINE]
