"""What a client may ask for: every query parameter by name, read strictly. Anything else is refused by its name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.http import QueryDict
from drf_spectacular.utils import OpenApiParameter

from ..contract.reasons import State
from ..models import Review
from ..queries.checks import LONGEST_TEXT, SORTS
from ..queries.cursor import MAX_LENGTH
from ..queries.scoping import InvalidArgumentError

LARGEST_PAGE, USUAL_PAGE = 100, 20
LONGEST = 253


@dataclass(frozen=True, slots=True)
class Parameter:
    """One query parameter. schema: its JSON Schema; read: its value, raising ValueError with what belongs there."""

    name: str
    says: str
    schema: Mapping[str, Any]
    read: Callable[[str], Any]
    absent: Any = ""

    @property
    def documented(self) -> OpenApiParameter:
        """As OpenAPI has it."""
        return OpenApiParameter(self.name, dict(self.schema), OpenApiParameter.QUERY, description=self.says)


def _limit(value: str) -> int:
    if not (value.isascii() and value.isdigit() and len(value) <= 3 and 1 <= int(value) <= LARGEST_PAGE):
        raise ValueError(f"a whole number from 1 to {LARGEST_PAGE}")
    return int(value)


def _text(longest: int) -> Callable[[str], str]:
    def read(value: str) -> str:
        if not 0 < len(value) <= longest or "\0" in value:
            raise ValueError(f"text of 1 to {longest} characters")
        return value

    return read


def _one_of(values: list[str]) -> Callable[[str], str]:
    def read(value: str) -> str:
        if value not in values:
            raise ValueError(f"one of {', '.join(values)}")
        return value

    return read


def text(name: str, says: str, longest: int = LONGEST) -> Parameter:
    """A parameter that is free text."""
    schema = {"type": "string", "minLength": 1, "maxLength": longest, "pattern": "^[^\\u0000]+$"}
    return Parameter(name, says, schema, _text(longest))


def choice(name: str, says: str, values: list[str], absent: str = "") -> Parameter:
    """A parameter with a closed set of values."""
    schema: dict[str, Any] = {"type": "string", "enum": values}
    return Parameter(name, says, schema | ({"default": absent} if absent else {}), _one_of(values), absent)


LIMIT = Parameter(
    "limit",
    "How many items a page has at most.",
    {"type": "integer", "minimum": 1, "maximum": LARGEST_PAGE, "default": USUAL_PAGE},
    _limit,
    USUAL_PAGE,
)
CURSOR = text("cursor", "`nextCursor` of the page before, for the same filter and order.", MAX_LENGTH)
STATE = choice("state", "Only checks in this state.", list(State))
CLUSTER = text("cluster", "Only of this cluster.")
WORKSPACE = text("workspace", "Only of this namespace.")
TYPE = text("type", "Only checks of this type.")
TEXT = text("q", "Only what has each of these words in its title, name, namespace, type or owner.", LONGEST_TEXT)
SORT = choice(
    "sort",
    "The order; with - in front the reverse. state is worst first, age newest first.",
    [sign + name for name in SORTS for sign in ("", "-")],
    "state",
)
REVIEW = choice("review", "Only registrations that stand here.", list(Review.values))


def read(query: QueryDict, allowed: tuple[Parameter, ...]) -> dict[str, Any]:
    """The value of each allowed parameter. Raises InvalidArgumentError for an unknown, repeated or unreadable one."""
    known = {parameter.name: parameter for parameter in allowed}
    for name, values in query.lists():
        if name not in known:
            expected = f"known here: {', '.join(known)}" if known else "none is known here"
            raise InvalidArgumentError(f"{_shown(name)}: no such parameter; {expected}")
        if len(values) != 1:
            raise InvalidArgumentError(f"{name}: give it once")
    return {name: _value(parameter, query) for name, parameter in known.items()}


def _value(parameter: Parameter, query: QueryDict) -> Any:
    if parameter.name not in query:
        return parameter.absent
    try:
        return parameter.read(query.getlist(parameter.name)[0])
    except ValueError as error:
        raise InvalidArgumentError(f"{parameter.name}: expected {error}") from error


def _shown(name: str) -> str:
    """A name that somebody else chose, short and printable."""
    return "".join(c if c.isascii() and c.isprintable() else "?" for c in name[:60]) or "a parameter without a name"
