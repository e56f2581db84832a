"""A verdict depends on whether its cluster was seen: on pages, in counts and in filters alike."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from checks.models import Check, Cluster, Step

from .conftest import Browser
from .test_lists import counts, rows

PASSED = "/checks/west-1/team-vision/ib-pair/"
Live = Callable[..., None]


def test_a_live_cluster_is_judged_by_the_readers_clock(admin: Browser, live: Live) -> None:
    assert admin.open(PASSED).one("#verdict")["data-state"] == "Passed"
    live(after=timedelta(days=2))
    assert admin.open(PASSED).one("#verdict")["data-state"] == "Stale"
    assert ("Stale", "ib-pair", "team-vision west-1") in rows(admin)


def test_a_dump_is_judged_by_its_capture_however_late_it_is_read(admin: Browser, live: Live) -> None:
    live(after=timedelta(days=200))
    page = admin.open("/checks/east-1/team-vision/ib-pair/")
    assert page.one("#verdict")["data-state"] == "Passed"
    assert "As of capture" in page.text
    assert "30 Nov 2026, 08:24 UTC" in page.words(".strip-note")[0]


@pytest.mark.parametrize("silent", [timedelta(minutes=2, microseconds=1), -timedelta(seconds=60, microseconds=1)])
def test_all_checks_of_a_cluster_out_of_reach_are_unknown(silent: timedelta, admin: Browser, live: Live) -> None:
    live(silent=silent)
    west = rows(admin, cluster="west-1")
    assert west and {state for state, _, _ in west} == {"Unknown"}
    assert counts(admin.open("/checks/?cluster=west-1"))["Unknown"] == len(west)
    assert not rows(admin, cluster="west-1", state="Passed")
    page = admin.open(PASSED)
    assert page.one("#verdict .reason").get_text() == "source_unavailable"
    assert "out of reach" in page.text
    fleet = admin.open("/")
    assert "west-1" in " ".join(fleet.words(".pill[data-available=false]"))


def test_every_page_says_that_it_shows_a_capture(admin: Browser) -> None:
    for path in ("/", "/nodes/", "/checks/", PASSED, f"{PASSED}runs/", "/admin/checks/check/"):
        assert "As of capture" in admin.open(path).words("#notes")[0], path


def test_a_cluster_seen_exactly_at_the_limit_still_counts(admin: Browser, live: Live) -> None:
    live(silent=timedelta(minutes=2))
    assert admin.open(PASSED).one("#verdict")["data-state"] == "Passed"


def test_a_cluster_that_was_not_seen_completely_proves_nothing(admin: Browser, live: Live) -> None:
    Cluster.objects.filter(name="west-1").update(complete=False)
    assert admin.open(PASSED).one("#verdict .reason").get_text() == "source_unavailable"


def test_a_step_that_says_passed_alone_makes_nothing_green(admin: Browser) -> None:
    failed = Check.objects.get(cluster="west-1", namespace="team-vision", name="ib-pair-site-b")
    Step.objects.filter(subject=failed).update(state="Passed", reason="proved", severity=5)
    page = admin.open("/checks/west-1/team-vision/ib-pair-site-b/")
    assert page.one("#verdict")["data-state"] == "Unknown"
    row = [state for state, name, _ in rows(admin, state="Passed") if name == "ib-pair-site-b"]
    assert row == ["Unknown"]


def test_a_step_that_hides_a_pass_is_not_believed_either(admin: Browser) -> None:
    passed = Check.objects.get(cluster="west-1", namespace="team-vision", name="ib-pair")
    Step.objects.filter(subject=passed).update(state="Running", reason="queued", severity=4)
    assert admin.open(PASSED).one("#verdict")["data-state"] == "Unknown"


def test_facts_of_a_cluster_out_of_reach_are_unknown_and_never_zero(admin: Browser, live: Live) -> None:
    ready, total = (int(part) for part in admin.open("/").words("#facts .figure")[0].split(" of "))
    live(silent=timedelta(hours=1))
    Cluster.objects.exclude(name="west-1").update(complete=False)
    facts = admin.open("/")
    assert facts.words("#facts .figure")[0] == f"Unknown of {total}"
    assert facts.words("#facts .figure")[1:] == ["Unknown", "0 Fault", "Unknown"]
    assert f"{total} Unknown" in facts.words("#facts p")[1]
    assert ready > 0
    assert {cell["data-condition"] for cell in facts.every(".map .cell")} == {"unknown"}
