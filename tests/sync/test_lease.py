"""Who syncs a cluster: by the database's clock, whatever the clocks of the machines say."""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.db import transaction

from checks.models import Cluster
from checks.sync import lease

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def cluster() -> None:
    Cluster.objects.create(name="west-1")


@pytest.mark.parametrize("minutes", [5, -5])
def test_a_machine_whose_clock_is_off_does_not_take_a_lease_that_is_held(minutes: int) -> None:
    assert lease.acquire("west-1", "one")
    with time_machine.travel(_now() + timedelta(minutes=minutes)):
        assert not lease.acquire("west-1", "two")
        assert lease.acquire("west-1", "one")


@pytest.mark.parametrize("minutes", [5, -5])
def test_a_lease_that_a_machine_with_another_clock_left_behind_is_free_in_time(
    minutes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease, "LEASE", timedelta(seconds=-1))
    with time_machine.travel(_now() + timedelta(minutes=minutes)):
        assert lease.acquire("west-1", "one")
        with transaction.atomic():
            lease.held("west-1", "one").save()
    monkeypatch.undo()
    assert lease.acquire("west-1", "two")


def test_whoever_lost_it_writes_nothing() -> None:
    assert lease.acquire("west-1", "one")
    lease.release("west-1", "one")
    assert lease.acquire("west-1", "two")
    with pytest.raises(lease.LeaseLost), transaction.atomic():
        lease.held("west-1", "one")


def _now() -> datetime:
    return datetime.now(UTC)
