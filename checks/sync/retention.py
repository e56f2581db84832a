"""How much history the database keeps. What the cluster still holds, and what speaks for a check now, always stays."""

from typing import Any

from django.db import transaction
from django.db.models import QuerySet, Window
from django.db.models.functions import RowNumber

from ..models import Check, Result, Run

_AT_ONCE = 500


def prune(kept: int) -> int:
    """Deletes results and runs that are gone from their cluster and older than the `kept` newest of their check.

    Never what a current or last verdict was made from, so that no verdict changes. Returns how many rows went.
    """
    if kept < 1:
        raise ValueError("at least 1 must be kept")
    with transaction.atomic():
        return _delete(Result.objects.all(), ("result", "last_result"), kept) + _delete(
            Run.objects.all(), ("run", "last_run"), kept
        )


def _delete(rows: QuerySet[Any], pointers: tuple[str, str], kept: int) -> int:
    place = Window(RowNumber(), partition_by="subject", order_by=("-ordered_at", "-id"))
    beyond = rows.annotate(place=place).filter(place__gt=kept)
    old = rows.filter(pk__in=beyond.values("pk")).exclude(gone_at=None)
    spoken = {pk for name in pointers for pk in Check.objects.exclude(**{name: None}).values_list(name, flat=True)}
    going = [pk for pk in old.values_list("pk", flat=True) if pk not in spoken]
    for start in range(0, len(going), _AT_ONCE):
        rows.filter(pk__in=going[start : start + _AT_ONCE]).delete()
    return len(going)
