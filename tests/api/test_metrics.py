"""What Prometheus reads about checks."""

from datetime import UTC, datetime

import time_machine
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from checks.models import Cluster as ClusterRow
from tests.review.conftest import Cluster

from .test_answers import another


def scrape() -> dict[tuple[str, ...], float]:
    """Every sample of checks by its name and label values."""
    response = Client(headers={"host": "localhost:8000"}).get("/metrics")
    assert response.status_code == 200
    families = text_string_to_metric_families(response.content.decode())
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in families
        for sample in family.samples
        if family.name.startswith(("portal_check", "portal_cluster", "portal_registrations"))
    }


def test_states_are_counted_per_cluster_and_zeros_are_there_too(west: Cluster) -> None:
    west.objects += [another(west, number) for number in range(3)]
    west.seen()
    found = scrape()
    states = {key[2]: value for key, value in found.items() if key[0] == "portal_checks"}
    assert states == {"Unknown": 4, "Passed": 0, "Failed": 0, "Stale": 0, "Running": 0}
    assert found["portal_registrations", "west-1", "approved"] == 4
    assert found["portal_registrations", "west-1", "pending"] == 0
    assert found["portal_check_states_up",] == 1


def test_the_age_of_each_cluster_is_told_and_a_silent_one_counts_nothing_as_passed(west: Cluster) -> None:
    at = datetime(2026, 11, 30, 8, 2, tzinfo=UTC)
    ClusterRow.objects.update(captured_at=None, heartbeat_at=at)
    with time_machine.travel(at.replace(minute=3), tick=False):
        found = scrape()
    assert found["portal_cluster_seen_age_seconds", "west-1"] == 60
    assert found["portal_cluster_available", "west-1"] == 1
    with time_machine.travel(at.replace(minute=30), tick=False):
        found = scrape()
    assert found["portal_cluster_available", "west-1"] == 0
    assert found["portal_checks", "west-1", "Unknown"] == 1


def test_a_cluster_that_was_never_seen_has_no_age(db: None) -> None:
    ClusterRow.objects.create(name="north-1")
    found = scrape()
    assert found["portal_cluster_available", "north-1"] == 0
    assert ("portal_cluster_seen_age_seconds", "north-1") not in found


def test_labels_do_not_grow_with_the_checks(west: Cluster) -> None:
    before = set(scrape())
    west.objects += [another(west, number) for number in range(30)]
    west.seen()
    assert set(scrape()) == before


def test_readiness_waits_for_the_first_full_load(west: Cluster) -> None:
    client = Client(headers={"host": "localhost:8000"})
    assert client.get("/readyz").status_code == 200
    ClusterRow.objects.create(name="north-1", complete=False)
    answer = client.get("/readyz")
    assert answer.status_code == 503 and b"north-1" not in answer.content
