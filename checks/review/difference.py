"""Two documents side by side, as lines of YAML, with what changed marked.

Characters that a screen would not show as they are (control characters, right-to-left marks) stand escaped: what a
reviewer reads is what the API server holds.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from typing import Any

import yaml

# Beyond this many lines on a side, what differs is shown as one block: comparing them is quadratic.
MOST_COMPARED = 1500
MOST_AHEAD = 50
CONTEXT = 3


class Change(StrEnum):
    """What happened to a line."""

    SAME = "same"
    CHANGED = "changed"
    ADDED = "added"
    REMOVED = "removed"
    FOLDED = "folded"


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of one line; `marked` where the other side has something else."""

    text: str
    marked: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """A row of the comparison. before, after: the line's number (from 1) and its pieces; number 0: no line there.

    folded: how many equal lines this row stands for.
    """

    change: Change
    before: int = 0
    left: tuple[Piece, ...] = ()
    after: int = 0
    right: tuple[Piece, ...] = ()
    folded: int = 0


class _Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
    """Scripts as blocks, everything else as it comes; no aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _string(dumper: Any, text: str) -> Any:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _string)


# What tells the items of a list apart stands first, so that a new key below it does not move it.
_FIRST = ("apiVersion", "kind", "name", "rule")


def lines_of(document: Any) -> list[str]:
    """The document as lines of YAML in one order of keys, so that an equal document has equal lines."""
    text = yaml.dump(_ordered(document), Dumper=_Dumper, sort_keys=False, allow_unicode=False, width=1_000_000)
    return str(text).removesuffix("...\n").rstrip("\n").split("\n")


def _ordered(value: Any) -> Any:
    if isinstance(value, dict):
        keys = [key for key in _FIRST if key in value] + sorted(set(value) - set(_FIRST))
        return {key: _ordered(value[key]) for key in keys}
    return [_ordered(item) for item in value] if isinstance(value, list) else value


def compare(before: Any, after: Any) -> list[Line]:
    """Every line of both documents."""
    old, new = lines_of(before), lines_of(after)
    return [line for block in _blocks(old, new) for line in _rows(old, new, *block)]


def alone(document: Any) -> list[Line]:
    """Every line of a document that has no other side."""
    return [Line(Change.SAME, after=at, right=(Piece(text),)) for at, text in enumerate(lines_of(document), 1)]


def changes(lines: list[Line]) -> int:
    """How many rows differ."""
    return sum(line.change not in (Change.SAME, Change.FOLDED) for line in lines)


def fold(lines: list[Line]) -> list[Line]:
    """The same comparison with long equal stretches folded to one row each."""
    near = [False] * len(lines)
    for at, line in enumerate(lines):
        if line.change is not Change.SAME:
            for index in range(max(0, at - CONTEXT), min(len(lines), at + CONTEXT + 1)):
                near[index] = True
    found: list[Line] = []
    for line, keep in zip(lines, near, strict=True):
        if keep:
            found.append(line)
        elif found and found[-1].change is Change.FOLDED:
            found[-1] = Line(Change.FOLDED, folded=found[-1].folded + 1)
        else:
            found.append(Line(Change.FOLDED, folded=1))
    return found


def _blocks(old: list[str], new: list[str]) -> Iterator[tuple[str, int, int, int, int]]:
    """Opcodes of difflib; what both begin and end with is cut off first, and very long rests are one block."""
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    stop_old, stop_new = len(old) - end, len(new) - end
    if start:
        yield "equal", 0, start, 0, start
    if stop_old - start > MOST_COMPARED or stop_new - start > MOST_COMPARED:
        yield "replace", start, stop_old, start, stop_new
    else:
        matcher = SequenceMatcher(None, old[start:stop_old], new[start:stop_new], autojunk=False)
        for tag, i1, i2, j1, j2 in matcher.get_opcodes():
            yield tag, i1 + start, i2 + start, j1 + start, j2 + start
    if end:
        yield "equal", stop_old, len(old), stop_new, len(new)


def _rows(old: list[str], new: list[str], tag: str, i1: int, i2: int, j1: int, j2: int) -> Iterator[Line]:
    if tag == "equal":
        for i, j in zip(range(i1, i2), range(j1, j2), strict=True):
            yield Line(Change.SAME, i + 1, (Piece(old[i]),), j + 1, (Piece(new[j]),))
        return
    j = j1
    for i in range(i1, i2):
        match = next((k for k in range(j, min(j2, j + MOST_AHEAD)) if _key(old[i]) == _key(new[k])), None)
        if match is None:
            yield Line(Change.REMOVED, before=i + 1, left=(Piece(old[i]),))
            continue
        yield from (Line(Change.ADDED, after=k + 1, right=(Piece(new[k]),)) for k in range(j, match))
        yield Line(Change.CHANGED, i + 1, _marked(old[i], new[match]), match + 1, _marked(new[match], old[i]))
        j = match + 1
    yield from (Line(Change.ADDED, after=k + 1, right=(Piece(new[k]),)) for k in range(j, j2))


def _key(line: str) -> str:
    """What makes a changed line the same line: its indent and its key; an item of a list has only its indent."""
    key, colon, _ = line.partition(":")
    return key if colon else line[: len(line) - len(line.lstrip())] + line.lstrip()[:1]


def _marked(line: str, other: str) -> tuple[Piece, ...]:
    """The line in up to three pieces: what it has in common with the other at both ends stays plain."""
    start = 0
    while start < min(len(line), len(other)) and line[start] == other[start]:
        start += 1
    end = 0
    while end < min(len(line), len(other)) - start and line[-1 - end] == other[-1 - end]:
        end += 1
    middle = line[start : len(line) - end]
    pieces = (Piece(line[:start]), Piece(middle, marked=True), Piece(line[len(line) - end :]))
    return tuple(piece for piece in pieces if piece.text)
