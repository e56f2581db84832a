"""From a plain value to one shape of the contract, or to every problem it has."""

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Annotated, Any, Generic, TypeVar

from pydantic import StringConstraints, TypeAdapter, ValidationError
from pydantic_core import SchemaError

from .fields import URI_PATTERN, Shape, Tolerant
from .problem import Problem, kind_of, pointer

T = TypeVar("T", bound=Shape | Tolerant)

_EXPECTED = {
    "missing": "this field",
    "extra_forbidden": "no such field in this version of the contract",
    "string_type": "a string",
    "int_type": "an integer",
    "float_type": "a number",
    "bool_type": "true or false",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
    "none_required": "null",
}
_BOUNDS = {
    "string_pattern_mismatch": "text that matches {pattern}",
    "string_too_long": "at most {max_length} characters",
    "string_too_short": "at least {min_length} characters",
    "too_long": "at most {max_length} items",
    "too_short": "at least {min_length} items",
    "greater_than_equal": "at least {ge}",
    "less_than_equal": "at most {le}",
}


@dataclass(frozen=True, slots=True)
class Parsed(Generic[T]):
    """Either the value, or the problems that prevent it."""

    value: T | None
    problems: tuple[Problem, ...] = field(default=())


def is_pattern(pattern: str) -> bool:
    """Whether a text is a regular expression, of the kind that is matched in linear time."""
    try:
        return bool(_text_like(pattern))
    except SchemaError:
        return False


def matches(pattern: str, text: str) -> bool:
    """Whether a pattern (`is_pattern`) is found in a text."""
    try:
        _text_like(pattern).validate_python(text)
    except ValidationError:
        return False
    return True


@lru_cache(maxsize=256)
def _text_like(pattern: str) -> TypeAdapter[str]:
    return TypeAdapter(Annotated[str, StringConstraints(pattern=pattern)])


def parse(shape: type[T], value: Any, prefix: str = "") -> Parsed[T]:
    """Reads a plain value strictly. Never raises; at most 50 problems are kept."""
    try:
        value_read: T = shape.model_validate(value)  # type: ignore[assignment]
        return Parsed(value_read)
    except ValidationError as error:
        details = error.errors(include_url=False, include_context=True)[:50]
        return Parsed(None, tuple(_problem(detail, value).below(prefix) for detail in details))


def _problem(detail: Any, document: Any) -> Problem:
    path = _real_path(detail["loc"], document)
    missing = detail["type"] == "missing"
    found = "nothing" if missing else kind_of(detail["input"])
    return Problem(pointer(path), found, _expected(detail))


def _expected(detail: Any) -> str:
    kind, context = detail["type"], detail.get("ctx", {})
    if kind in _EXPECTED:
        return _EXPECTED[kind]
    if kind == "literal_error":
        return f"one of {context['expected']}"
    if kind == "string_pattern_mismatch" and context["pattern"] == URI_PATTERN:
        return "an address without query, fragment, user, backslash or step upwards, plain or percent-encoded"
    if kind in _BOUNDS:
        return _BOUNDS[kind].format(**context)
    return str(detail["msg"]).removeprefix("Value error, ")


def _real_path(loc: tuple[str | int, ...], document: Any) -> tuple[str | int, ...]:
    """pydantic adds the names of union branches to a location; only steps that the document has are kept."""
    path: list[str | int] = []
    here: Any = document
    for position, step in enumerate(loc):
        if isinstance(here, dict) and isinstance(step, str):
            if step in here:
                here = here[step]
            elif position < len(loc) - 1:
                continue
        elif isinstance(here, list) and isinstance(step, int) and step < len(here):
            here = here[step]
        elif position < len(loc) - 1 or not isinstance(here, dict):
            continue
        path.append(step)
    return tuple(path)
