"""Where a field stands in a file: line numbers by JSON pointer, for YAML and JSON.

The values themselves come from the dump reader; this only finds lines. Where a text cannot be followed (another
encoding, compressed), there is no line, and nothing else is lost.
"""

import gzip
import json
import re
from collections.abc import Iterator

import yaml

_LARGEST = 8 * 1024 * 1024
_SPACE = re.compile(r"\s*")
_BOUNDARY = re.compile(r"^---(?=\s|$)", re.MULTILINE)


class Places:
    """The lines of the objects of one file, by the number that the dump reader gives each object (from 1)."""

    def __init__(self, data: bytes) -> None:
        self.nodes: list[tuple[int, yaml.Node]] = []
        if len(data) > _LARGEST:
            return
        try:
            text = (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode("utf-8-sig")
            is_json = text.lstrip()[:1] in ("{", "[")
            last = offset = 0
            for begin, part in _json_documents(text) if is_json else _yaml_documents(text):
                offset, last = offset + text.count("\n", last, begin), begin
                root = yaml.compose(part, Loader=yaml.CSafeLoader)
                self.nodes += [(offset, node) for node in _objects(root, is_json)]
        except (ValueError, OSError, EOFError, RecursionError, yaml.YAMLError):
            return  # what was found so far stands before the place where the text could not be followed

    def line(self, number: int, pointer: str) -> int | None:
        """The line of a field of the object, or of the nearest field around it; None where it is not known."""
        if not 0 < number <= len(self.nodes):
            return None
        offset, node = self.nodes[number - 1]
        line = node.start_mark.line
        for step in pointer.split("/")[1:]:
            found = _child(node, step.replace("~1", "/").replace("~0", "~"))
            if found is None:
                break
            line, node = found
        return int(offset + line) + 1


def _yaml_documents(text: str) -> Iterator[tuple[int, str]]:
    """Where each document of a YAML stream begins, and its text."""
    begins = [0, *(found.end() for found in _BOUNDARY.finditer(text))]
    ends = [*(found.start() for found in _BOUNDARY.finditer(text)), len(text)]
    return ((begin, text[begin:end]) for begin, end in zip(begins, ends, strict=True))


def _json_documents(text: str) -> Iterator[tuple[int, str]]:
    """The same of JSON documents one after another. Raises ValueError where there is no JSON any more."""
    decoder, end = json.JSONDecoder(), 0
    while (begin := _SPACE.match(text, end).end()) < len(text):  # type: ignore[union-attr]  # always matches
        _, end = decoder.raw_decode(text, begin)
        yield begin, text[begin:end]


def _objects(root: yaml.Node | None, is_json: bool) -> Iterator[yaml.Node]:
    """The objects of a document in the reader's order; after the items of a List comes the List itself."""
    if root is None:
        return
    if is_json and isinstance(root, yaml.SequenceNode):
        yield from root.value
        return
    if isinstance(root, yaml.MappingNode):
        for key, value in root.value:
            if key.value == "items" and isinstance(value, yaml.SequenceNode):
                yield from value.value
    yield root


def _child(node: yaml.Node, step: str) -> tuple[int, yaml.Node] | None:
    """Line and node of a key (the line of the key itself) or of an item."""
    if isinstance(node, yaml.MappingNode):
        return next(((key.start_mark.line, value) for key, value in node.value if key.value == step), None)
    if isinstance(node, yaml.SequenceNode) and step.isdigit() and int(step) < len(node.value):
        item = node.value[int(step)]
        return item.start_mark.line, item
    return None
