"""What is wrong with an input, said so that its author can mend it.

A problem is a value, never an exception: parsing collects all of them.
"""

from dataclasses import dataclass
from typing import Any

from .credential import may_hold_credential

_MAX_KEY = 128
_KINDS = {
    bool: "a boolean",
    int: "an integer",
    float: "a number",
    str: "a string",
    list: "a list",
    dict: "an object",
}


@dataclass(frozen=True, slots=True)
class Problem:
    """One fault of one field.

    pointer: JSON pointer (RFC 6901) of the field; "" is the whole document.
    found: the kind of value that is there ("a string", "nothing"); never the value, which may be a secret.
    expected: what belongs there, as the end of a sentence.
    clock: the fault is about times only (not UTC, out of order); the rest of the document can be read.
    """

    pointer: str
    found: str
    expected: str
    clock: bool = False

    def __str__(self) -> str:
        return f"{self.pointer or 'the document'}: found {self.found}, expected {self.expected}"

    def below(self, prefix: str) -> "Problem":
        """The same problem, of a document that stands at `prefix` in a larger one."""
        return Problem(prefix + self.pointer, self.found, self.expected, self.clock)


def kind_of(value: Any) -> str:
    """The JSON kind of a value, with its article."""
    return "null" if value is None else _KINDS.get(type(value), "a value that is not JSON")


def pointer(path: tuple[str | int, ...]) -> str:
    """A JSON pointer from keys and indexes. A key that could be a secret, or harm a terminal, is written as `…`."""
    return "".join("/" + _shown(str(part)).replace("~", "~0").replace("/", "~1") for part in path)


def _shown(key: str) -> str:
    return key if len(key) <= _MAX_KEY and key.isprintable() and not may_hold_credential(key) else "…"
