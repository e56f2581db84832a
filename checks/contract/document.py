"""Bytes to plain JSON values, and plain values to the canonical bytes that every digest is computed over.

Nothing is repaired: a document with two meanings (a key twice, a number that a double cannot hold) is refused.
"""

import hashlib
import json
import math
import re
from typing import Any

import orjson
import rfc8785

from .credential import may_hold_credential
from .problem import Problem, kind_of, pointer

MAX_DEPTH = 32
MAX_STRING = 4096
MAX_PROBLEMS = 50
_SAFE_INTEGER = 2**53 - 1


class _Repeated(dict[str, Any]):
    """An object that has a key more than once, until `plain` says where."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        keys = [key for key, _ in pairs]
        self.key = next(key for position, key in enumerate(keys) if key in keys[:position])


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    return found if len(found) == len(pairs) else _Repeated(pairs)


def decode(data: bytes, limit: int) -> tuple[Any, list[Problem]]:
    """The JSON value in `data` (UTF-8, at most `limit` bytes), or None and what is wrong with it."""
    if len(data) > limit:
        return None, [Problem("", f"{len(data)} bytes", f"at most {limit} bytes")]
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        return None, [Problem("", f"bytes that are not UTF-8 at offset {error.start}", "JSON in UTF-8")]
    try:
        try:
            value = json.loads(text, object_pairs_hook=_object)
        except json.JSONDecodeError:
            raise
        except ValueError:  # an integer of thousands of digits; as a double it is infinite, and refused with its place
            value = json.loads(text, object_pairs_hook=_object, parse_int=float)
    except json.JSONDecodeError as error:
        return None, [Problem("", f"no JSON at line {error.lineno} column {error.colno}", "one JSON document")]
    except RecursionError:
        return None, [Problem("", "too many levels", f"at most {MAX_DEPTH} levels")]
    return plain(value)


def plain(value: Any, levels: int = MAX_DEPTH) -> tuple[Any, list[Problem]]:
    """The same value made of dict, list, str, int, float, bool and None only, or None and what is wrong with it.

    Integers beyond 2^53 become the double that they are the value or the shortest spelling of: a JSON writer gives a
    large double that way.
    """
    problems: list[Problem] = []
    read = _plain(value, (), levels, problems)
    return (None if problems else read), problems


def _plain(value: Any, path: tuple[str | int, ...], levels: int, problems: list[Problem]) -> Any:
    if len(problems) >= MAX_PROBLEMS:
        return None
    if len(path) > levels:
        problems.append(Problem(pointer(path), "too many levels", f"at most {MAX_DEPTH} levels"))
        return None
    kind = type(value)
    if kind is dict:
        for key in value:
            if type(key) is not str:
                problems.append(Problem(pointer(path), f"a key that is {kind_of(key)}", "keys that are strings"))
                return None
            if not _is_text(key):
                problems.append(Problem(pointer(path), "a key with half a surrogate pair", "valid Unicode"))
                return None
        return {key: _plain(item, (*path, key), levels, problems) for key, item in value.items()}
    if kind is list:
        return [_plain(item, (*path, index), levels, problems) for index, item in enumerate(value)]
    if kind is _Repeated:
        problems.append(Problem(pointer((*path, value.key)), "a key that is there twice", "each key once"))
    elif kind is str:
        if not _is_text(value):
            problems.append(Problem(pointer(path), "half a surrogate pair", "valid Unicode"))
    elif kind is int and not -_SAFE_INTEGER <= value <= _SAFE_INTEGER:
        if abs(value) < 2**1023 and (int(double := float(value)) == value or rfc8785.dumps(double) == b"%d" % value):
            return double
        problems.append(Problem(pointer(path), "an integer that a double cannot hold", "an integer up to 2^53"))
    elif kind is float and not math.isfinite(value):
        problems.append(Problem(pointer(path), "a number that is not finite", "a finite number"))
    elif kind not in (int, float, bool) and value is not None:
        problems.append(Problem(pointer(path), kind_of(value), "a JSON value"))
    return value


def _is_text(value: str) -> bool:
    return value.isascii() or not re.search("[\ud800-\udfff]", value)


_BOXES = frozenset({dict, list})
_PLAIN = frozenset({dict, list, str, int, float, bool, type(None)})
_STRICT = (
    orjson.OPT_SORT_KEYS
    | orjson.OPT_STRICT_INTEGER
    | orjson.OPT_PASSTHROUGH_SUBCLASS
    | orjson.OPT_PASSTHROUGH_DATETIME
    | orjson.OPT_PASSTHROUGH_DATACLASS
)


def ordinary(value: Any, levels: int = MAX_DEPTH) -> bytes | None:
    """The canonical bytes of a value that is plain beyond doubt, in a tenth of the time; None for `plain` to look.

    Beyond doubt: nothing but JSON's own types, no number that two encoders could write differently, no key beyond the
    basic plane, not too deep. Nearly every sealed envelope is such a value.
    """
    if type(value) not in _BOXES or not _is_common(value, levels):
        return None
    try:
        data = orjson.dumps(value, option=_STRICT)
    except TypeError:  # a key that is no string, half a surrogate pair, a large integer
        return None
    return data if data.isascii() or max(data) < 0xED else None  # above: another order of keys


def _is_common(value: Any, levels: int) -> bool:
    """Whether a box holds plain values only, layer by layer, and doubles that every encoder writes alike."""
    layer = [value]
    for _ in range(levels):
        items: list[Any] = []
        for box in layer:
            items += box.values() if type(box) is dict else box
        kinds = set(map(type, items))
        if not kinds <= _PLAIN or (float in kinds and not all(map(_is_common_number, items))):
            return False
        if kinds.isdisjoint(_BOXES):
            return True
        layer = [item for item in items if type(item) in _BOXES]
    return not any(layer)


def _is_common_number(value: Any) -> bool:
    return type(value) is not float or (1e-4 <= abs(value) < 1e16 and not value.is_integer())


_PLAIN_STRING = re.compile(r'"[^"]*"')
_ANY_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
# Numbers that the two encoders write differently: with an exponent, of many digits, whole with a fraction, minus zero.
_UNCOMMON = re.compile(r"[eE]|[0-9]{16}|\.0(?![0-9])|-0(?![.0-9])")


def canonical(value: Any) -> bytes:
    """RFC 8785 bytes of a plain value. Raises ValueError for what `plain` refuses.

    The standard library's encoder gives the same bytes, ten times as fast, for all but a few numbers and for keys
    beyond the basic plane; where one of those is inside, the RFC's own library writes it.
    """
    if (common := ordinary(value)) is not None:
        return common
    try:
        quick = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    except (ValueError, TypeError, RecursionError):
        quick = "e"  # said by the library below, in its words
    numbers = (_ANY_STRING if "\\" in quick else _PLAIN_STRING).sub("", quick).replace("true", "").replace("false", "")
    if not _UNCOMMON.search(numbers) and (quick.isascii() or max(quick) < "\ud800"):
        return quick.encode()
    try:
        return rfc8785.dumps(value)
    except rfc8785.CanonicalizationError as error:
        raise ValueError(str(error)) from error


def digest_of(data: bytes) -> str:
    """`sha256:` and 64 lower-case hex digits over the bytes given."""
    return "sha256:" + hashlib.sha256(data).hexdigest()


def digest(value: Any) -> str:
    """Digest of a plain value: over its canonical bytes."""
    return digest_of(canonical(value))


def text_problems(value: Any, data: bytes | None = None) -> list[Problem]:
    """Strings (and keys) that are too long or look like a credential, wherever they stand in a plain value.

    data: its canonical bytes, if known: where they hold nothing escaped and nothing suspicious, no string does.
    """
    if data is not None and b"\\" not in data and _is_harmless(data.decode()):
        return []
    found: list[tuple[tuple[str | int, ...], str]] = []
    _collect_texts(value, (), found)
    texts = [text for _, text in found]
    if max(map(len, texts), default=0) <= MAX_STRING and not may_hold_credential("\n".join(texts)):
        return []
    return [problem for path, text in found for problem in _text_problem(text, path)][:MAX_PROBLEMS]


def _is_harmless(text: str) -> bool:
    return not _has_long_string(text) and not may_hold_credential(text)


def _has_long_string(text: str) -> bool:
    """Whether more than MAX_STRING characters lie between two quotes, or outside of any."""
    at = -1
    while len(text) - at > MAX_STRING + 1:
        after = text.rfind('"', at + 1, at + MAX_STRING + 2)  # the farthest quote that is near enough
        if after < 0:
            return True
        at = after
    return False


def _collect_texts(value: Any, path: tuple[str | int, ...], found: list[tuple[tuple[str | int, ...], str]]) -> None:
    if isinstance(value, str):
        found.append((path, value))
    elif isinstance(value, dict):
        for key, item in value.items():
            found.append(((*path, key), key))
            _collect_texts(item, (*path, key), found)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            _collect_texts(item, (*path, index), found)


def _text_problem(text: str, path: tuple[str | int, ...]) -> list[Problem]:
    if len(text) > MAX_STRING:
        return [Problem(pointer(path), f"a string of {len(text)} characters", f"at most {MAX_STRING} characters")]
    if may_hold_credential(text):
        return [Problem(pointer(path), "a string that looks like a credential", "nothing secret")]
    return []
