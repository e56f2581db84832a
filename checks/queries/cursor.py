"""Keyset paging: where the next page begins, as an opaque text that survives inserts and deletes.

A cursor holds the sort values of the last row shown and is sealed together with the question it belongs to, so that
one of another filter, sort order or viewer's scope is refused instead of answered wrongly.
"""

import base64
import binascii
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

from django.db.models import Model, Q, QuerySet
from django.utils.crypto import constant_time_compare, salted_hmac

from ..scope import Scope
from .scoping import InvalidArgumentError

MAX_LENGTH = 2048
M = TypeVar("M", bound=Model)
Key = str | int | datetime


def bound_to(scope: Scope, *question: object) -> str:
    """What a cursor belongs to: who asks with which scope, and what."""
    return json.dumps(
        [scope.viewer.username, sorted(scope.clusters), sorted(scope.namespaces), sorted(scope.fleet), *question],
        default=str,
    )


def encode(values: Sequence[Key], binding: str) -> str:
    """The cursor behind a row with these sort values."""
    plain = [{"at": v.isoformat()} if isinstance(v, datetime) else v for v in values]
    body = _text(json.dumps(plain, ensure_ascii=False, separators=(",", ":")).encode())
    return f"{body}.{_seal(body, binding)}"


def decode(cursor: str, binding: str) -> list[Key]:
    """The sort values in a cursor. Raises InvalidArgumentError for every text that `encode` did not make for this."""
    body, dot, seal = cursor.partition(".")
    if len(cursor) > MAX_LENGTH or not dot or not constant_time_compare(seal, _seal(body, binding)):
        raise InvalidArgumentError("cursor: it does not belong to this list; begin at its first page")
    try:
        values = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
    except (ValueError, binascii.Error) as error:
        raise InvalidArgumentError("cursor: it cannot be read") from error
    return [datetime.fromisoformat(v["at"]).astimezone(UTC) if isinstance(v, dict) else v for v in values]


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _seal(body: str, binding: str) -> str:
    return _text(salted_hmac("checks.queries.cursor", f"{binding}\n{body}", algorithm="sha256").digest()[:16])


def page(
    rows: QuerySet[M], keys: Sequence[str], *, after: str, limit: int, binding: str, descending: bool = False
) -> tuple[list[M], str]:
    """One page in the order of `keys` (fields or annotations, the last one unique, none null), and the next cursor.

    after: the cursor of the page before, "" for the first. The next cursor is "" on the last page.
    """
    if after:
        rows = rows.filter(_behind(keys, decode(after, binding), "lt" if descending else "gt"))
    found = list(rows.order_by(*(f"-{key}" if descending else key for key in keys))[: limit + 1])
    if len(found) <= limit:
        return found, ""
    found = found[:limit]
    return found, encode([_value(found[-1], key) for key in keys], binding)


def _value(row: Any, key: str) -> Key:
    for name in key.split("__"):
        row = getattr(row, name)
    value: Key = row
    return value


def _behind(keys: Sequence[str], values: Sequence[Key], comparison: str) -> Q:
    """(a, b, c) > (x, y, z), spelled out: every database reads it alike."""
    condition, equal = Q(), Q()
    for key, value in zip(keys, values, strict=True):
        condition |= equal & Q(**{f"{key}__{comparison}": value})
        equal &= Q(**{key: value})
    return condition
