"""What `prune` deletes, and what it never touches."""

import copy
from datetime import UTC, datetime

import pytest

from checks.models import Check, Result, Run
from checks.sync.dump_load import load
from checks.sync.retention import prune

from .conftest import EVIDENCE, example_objects, named
from .test_load_dump import Write, verdict_of

pytestmark = pytest.mark.django_db


def with_history(write: Write, runs: int) -> None:
    """The example with older runs and results, all of which have left the cluster since."""
    objects = example_objects()
    older = []
    for number in range(runs):
        for kind in ("TauValidationRun", "TauValidationResult"):
            item = copy.deepcopy(named(objects, kind))
            item["metadata"] |= {"name": f"old-{number}", "uid": f"{kind}-{number}"}
            item["metadata"]["creationTimestamp"] = f"2026-11-29T{number:02}:00:00Z"
            if kind == "TauValidationRun":
                item["status"]["resultRef"] = {"name": f"old-{number}", "uid": f"TauValidationResult-{number}"}
            else:
                item["spec"]["envelope"]["run"]["uid"] = f"TauValidationRun-{number}"
                item["spec"]["envelope"]["times"]["created"] = f"2026-11-29T{number:02}:00:00Z"
            older.append(item)
    load([write([*objects, *older])], evidence=EVIDENCE)
    load([write(objects)], evidence=EVIDENCE)


def test_the_newest_stay_and_the_verdict_is_the_same(write: Write) -> None:
    with_history(write, 10)
    assert prune(4) == 14
    assert (Run.objects.count(), Result.objects.count()) == (4, 4)
    assert verdict_of() == ("Passed", "proved")
    assert prune(4) == 0


def test_what_is_still_in_the_cluster_stays(write: Write) -> None:
    with_history(write, 3)
    Result.objects.update(gone_at=None)
    Run.objects.update(gone_at=None)
    assert prune(1) == 0


def test_what_speaks_for_a_check_stays_even_when_it_is_old_and_gone(write: Write) -> None:
    with_history(write, 3)
    oldest = Result.objects.order_by("created_at").first()
    assert oldest is not None
    Check.objects.update(last_result=oldest)
    Result.objects.update(gone_at=datetime(2026, 12, 1, tzinfo=UTC))
    prune(1)
    assert Result.objects.filter(pk=oldest.pk).exists()


def test_keeping_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        prune(0)
