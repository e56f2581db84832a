"""Reads what `kubectl get … -o yaml|json` prints: a List, several documents, one object; gzip too; in flat memory.

Each object comes out as plain JSON values. What cannot be read is a problem with its place, and reading goes on.
YAML is read as JSON's superset: no tags, no anchors, no dates; a key twice is refused.
"""

import gzip
import io
import json
import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import yaml

from .contract.document import MAX_DEPTH

MAX_OBJECT = 8 * 1024 * 1024
_CHUNK = 256 * 1024


@dataclass(frozen=True, slots=True)
class Item:
    """One object of a dump (`value`), or why there is none (`problem`). where: file and position, for people."""

    where: str
    value: dict[str, Any] | None
    problem: str = ""


class Unreadable(ValueError):
    """A part of a dump that cannot be read; the text says why."""


def read_files(paths: Iterable[Path]) -> Iterator[Item]:
    """Every object of every file. Raises OSError for a file that cannot be opened."""
    for path in paths:
        with path.open("rb") as stream:
            yield from read_stream(stream, str(path))


def read_stream(raw: IO[bytes], name: str) -> Iterator[Item]:
    """Every object of one stream, in order."""
    buffered: Any = raw if hasattr(raw, "peek") else io.BufferedReader(raw)
    if buffered.peek(2)[:2] == b"\x1f\x8b":
        buffered = io.BufferedReader(gzip.GzipFile(fileobj=buffered))
    text = io.TextIOWrapper(buffered, encoding="utf-8-sig", errors="surrogateescape", newline="")
    number = 0
    try:
        for value in _objects(text):
            number += 1
            where = f"{name}, object {number}"
            if isinstance(value, str):
                yield Item(where, None, value)
            elif value is not None:
                yield Item(where, value)
    except (OSError, EOFError, zlib.error) as error:
        yield Item(f"{name}, after object {number}", None, f"the file cannot be read to its end: {error}")
    finally:
        text.detach()  # the stream is its opener's to close


def _objects(text: io.TextIOWrapper) -> Iterator[dict[str, Any] | str | None]:
    """Objects, or sentences for what is none."""
    head = text.read(_CHUNK)
    if head.lstrip()[:1] in ("{", "["):
        yield from _json_objects(_Buffer(text, head))
    else:
        yield from _yaml_objects(_Lines(text, head))


def _whole_list(found: dict[str, Any]) -> str | None:
    """What is wrong with a List whose items have been read: kubectl writes its kind last, so a cut one has none."""
    kind = found.get("kind")
    return None if isinstance(kind, str) and kind.endswith("List") else "a List without its kind; the file may be cut"


def _checked(value: Any) -> dict[str, Any] | str:
    return value if isinstance(value, dict) else "not an object"


# JSON: the standard library's scanner, object by object over a sliding window.


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise Unreadable("a key stands twice in one object")
    return found


_DECODER = json.JSONDecoder(object_pairs_hook=_pairs)


class _Buffer:
    """A window on a JSON text, refilled as values need more."""

    def __init__(self, text: io.TextIOWrapper, head: str) -> None:
        self.text, self.window, self.at, self.ended = text, head, 0, False

    def peek(self) -> str:
        """The next character that is not white space, "" at the end."""
        while True:
            while self.at < len(self.window) and self.window[self.at] in " \t\r\n":
                self.at += 1
            if self.at < len(self.window):
                return self.window[self.at]
            if not self._more():
                return ""

    def take(self, wanted: str) -> None:
        """Steps over one character. Raises Unreadable where it is another."""
        if self.peek() != wanted:
            raise Unreadable(f"no {wanted!r} where one belongs")
        self.at += 1

    def next_item(self, end: str) -> None:
        """Steps over the comma before the next item; at the end there is none. Raises Unreadable."""
        if self.peek() == end:
            return
        self.take(",")
        if self.peek() == end:
            raise Unreadable("a comma with nothing behind it")

    def value(self) -> Any:
        """The next value. Raises Unreadable."""
        self.peek()
        while True:
            try:
                value, end = _DECODER.raw_decode(self.window, self.at)
            except json.JSONDecodeError as error:
                if len(self.window) - self.at > MAX_OBJECT or not self._more():
                    raise Unreadable("no JSON, cut or too large") from error
                continue
            except Unreadable:
                raise
            except (ValueError, RecursionError) as error:
                raise Unreadable("too many levels, or a number of endless digits") from error
            if end == len(self.window) and not isinstance(value, (dict, list, str)) and self._more():
                continue  # a number may go on in the next chunk
            self.at = end
            return value

    def _more(self) -> bool:
        if self.ended:
            return False
        more = self.text.read(max(_CHUNK, len(self.window) - self.at))
        self.ended = not more
        self.window, self.at = self.window[self.at :] + more, 0
        return bool(more)


def _json_objects(buffer: _Buffer) -> Iterator[dict[str, Any] | str | None]:
    try:
        while buffer.peek():
            if buffer.peek() == "[":
                yield from _json_items(buffer)
            else:
                yield from _json_document(buffer)
    except Unreadable as error:
        yield f"{error}; the rest of the file was not read"


def _json_document(buffer: _Buffer) -> Iterator[dict[str, Any] | str | None]:
    """One document; a List gives its items one by one, whichever order its keys have."""
    found: dict[str, Any] = {}
    is_list = False
    buffer.take("{")
    while buffer.peek() != "}":
        key = buffer.value()
        if not isinstance(key, str):
            raise Unreadable("a key that is not a string")
        if key in found or (key == "items" and is_list):
            raise Unreadable("a key stands twice in one object")
        buffer.take(":")
        if key == "items" and buffer.peek() == "[":
            is_list = True
            yield from _json_items(buffer)
        else:
            found[key] = buffer.value()
        buffer.next_item("}")
    buffer.take("}")
    yield found if not is_list else _whole_list(found)


def _json_items(buffer: _Buffer) -> Iterator[dict[str, Any] | str | None]:
    buffer.take("[")
    while buffer.peek() != "]":
        yield _checked(buffer.value())
        buffer.next_item("]")
    buffer.take("]")


# YAML: libyaml's events, document by document, so that one bad document costs only itself.


class _Lines:
    """The text of one YAML document after another, as a file that ends where its document ends."""

    def __init__(self, text: io.TextIOWrapper, head: str) -> None:
        self.text, self.rest, self.done = text, head, False
        self.boundary = False

    def next_document(self) -> bool:
        """Goes behind the next `---`, skipping what is left. False at the end of the stream."""
        while not self.boundary and self.read(_CHUNK):
            pass
        self.boundary = False
        return not (self.done and not self.rest)

    def read(self, size: int) -> str:
        """Some text of this document, "" at its end."""
        if self.boundary:
            return ""
        while "\n" not in self.rest and not self.done:
            self._fill(size)
        cut = _BOUNDARY.search(self.rest)
        if cut is not None:
            part, self.rest, self.boundary = self.rest[: cut.start()], self.rest[cut.end() :], True
            return part
        end = len(self.rest) if self.done else self.rest.rfind("\n") + 1
        part, self.rest = self.rest[:end], self.rest[end:]
        if not part and not self.done:
            self._fill(size)
            return self.read(size)
        return part

    def _fill(self, size: int) -> None:
        more = self.text.read(max(size, _CHUNK))
        self.done = not more
        self.rest += more
        if len(self.rest) > MAX_OBJECT and "\n" not in self.rest:
            self.rest, self.done = "", True
            raise Unreadable("a line that is too long; the rest of the file was not read")


_BOUNDARY = re.compile(r"^---(?:[ \t]*(?:#[^\n]*)?\r?\n|[ \t]*$|(?=[ \t]))", re.MULTILINE)


def _yaml_objects(lines: _Lines) -> Iterator[dict[str, Any] | str | None]:
    while True:
        events = _Events(lines)
        try:
            yield from events.objects()
        except Unreadable as error:
            yield str(error)
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            place = f" at line {mark.line + 1} of its document" if mark else ""
            yield f"no YAML{place}: {getattr(error, 'problem', None) or 'characters that do not belong there'}"
        except (RecursionError, UnicodeEncodeError):
            yield "no YAML: too many levels or broken characters"
        if not lines.next_document():
            return


class _Events:
    """libyaml's events of one document, as plain values."""

    def __init__(self, lines: _Lines) -> None:
        self.events = yaml.parse(lines, Loader=yaml.CSafeLoader)  # type: ignore[arg-type]

    def objects(self) -> Iterator[dict[str, Any] | str | None]:
        """The document, or the items of the List that it is."""
        for event in self.events:
            if isinstance(event, yaml.MappingStartEvent):
                yield from self._document()
            elif isinstance(event, (yaml.SequenceStartEvent, yaml.AliasEvent)):
                yield _checked(self._value(event, 0))
            elif isinstance(event, yaml.ScalarEvent):
                value = _scalar(event)
                yield None if value is None else "not an object"

    def _document(self) -> Iterator[dict[str, Any] | str | None]:
        found: dict[str, Any] = {}
        is_list = False
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            key = self._key(event, found)
            event = next(self.events)
            if key == "items" and is_list:
                raise Unreadable("a key stands twice in one object")
            if key == "items" and isinstance(event, yaml.SequenceStartEvent):
                is_list = True
                while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
                    yield _checked(self._value(event, 0))
            else:
                found[key] = self._value(event, 0)
        yield found if not is_list else _whole_list(found)

    def _key(self, event: yaml.Event, found: dict[str, Any]) -> str:
        if not isinstance(event, yaml.ScalarEvent):
            raise Unreadable("a key that is not a string")
        if event.value in found:
            raise Unreadable("a key stands twice in one object")
        return str(event.value)

    def _value(self, event: yaml.Event, depth: int) -> Any:
        if depth > 2 * MAX_DEPTH:
            raise Unreadable("too many levels")
        if isinstance(event, yaml.ScalarEvent):
            return _scalar(event)
        if not isinstance(event, yaml.CollectionStartEvent) or event.anchor or event.tag not in (None, "", "!"):
            raise Unreadable("an anchor, alias or tag, which a dump never has")
        if isinstance(event, yaml.SequenceStartEvent):
            items = []
            while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
                items.append(self._value(event, depth + 1))
            return items
        found: dict[str, Any] = {}
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            key = self._key(event, found)
            found[key] = self._value(next(self.events), depth + 1)
        return found


# As Go and Python write numbers, always with a signed exponent: `1e3` is text that one of them did not quote.
_NUMBER = re.compile(r"[-+]?(0|[1-9][0-9]*)(\.[0-9]*)?(e[-+][0-9]+)?|[-+]?\.[0-9]+(e[-+][0-9]+)?")
_WORDS: dict[str, Any] = {"": None, "~": None, "null": None, "Null": None, "NULL": None}
_WORDS |= {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_WORDS |= {f"{sign}.{word}": float(sign + word) for sign in ("", "-", "+") for word in ("inf", "Inf")} | {
    ".nan": float("nan")
}


def _scalar(event: yaml.ScalarEvent) -> Any:
    if event.anchor is not None or event.tag not in (None, "!", "tag:yaml.org,2002:str"):
        raise Unreadable("an anchor, alias or tag, which a dump never has")
    text: str = event.value
    if not event.implicit[0] or (event.style is not None and event.style != ""):
        return text
    if text in _WORDS:
        return _WORDS[text]
    if text[:1] in "0123456789-+." and _NUMBER.fullmatch(text):
        whole = text.lstrip("+-").isdigit()
        return int(text) if whole and len(text) < 400 else float(text)
    return text
