"""Reads values of unknown shape: what is not as expected is empty, and nothing raises."""

from typing import Any

MOST = 500


def mapping(value: Any) -> dict[str, Any]:
    """The object, or an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: Any) -> list[dict[str, Any]]:
    """The objects of a list; empty where it is no list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def word(value: Any) -> str:
    """A scalar as a word that fits on a line; "" where there is none. What does not print stands escaped."""
    if value is None or isinstance(value, dict | list):
        return ""
    text = str(value)[:MOST]
    return "".join(c if c.isascii() and c.isprintable() else ascii(c)[1:-1] for c in text)


def number(value: Any, otherwise: int) -> int:
    """A whole number, also where Kubernetes writes it as text."""
    if isinstance(value, bool):
        return otherwise
    text = str(value)
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else otherwise
