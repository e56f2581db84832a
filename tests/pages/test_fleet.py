"""The fleet page: facts first, checks only where there are any, machines by place."""

from collections import Counter
from datetime import timedelta
from typing import Any

import pytest

from checks.models import Check, Node, NodeSignal, Queue

from .conftest import ADMINS, NOBODY, NOW, Browser


def test_the_first_thing_is_what_the_fleet_can_do(admin: Browser) -> None:
    page = admin.open("/")
    assert page.words("#facts h2") == ["Nodes ready", "GPUs free", "Node signals", "Waiting in queues"]
    nodes = Node.objects.filter(gone_at=None)
    assert page.words("#facts .figure")[0].endswith(f"of {nodes.count()}")
    assert [part["id"] for part in page.every("main [data-live]")] == [
        "sources",
        "facts",
        "check-summary",
        "map",
        "queues",
    ]


def test_the_map_draws_each_node_once_in_words_of_node_health(admin: Browser) -> None:
    page = admin.open("/")
    assert len(page.every(".map .cell")) == Node.objects.filter(gone_at=None).count()
    faulty = page.every(".map a.cell[data-condition=fault]")
    assert faulty and all("Fault" in cell["aria-label"] for cell in faulty)
    assert "Observed OK" in page.text
    admin.open(faulty[0]["href"])


def test_the_counts_of_a_pool_are_those_of_its_nodes_in_every_condition(admin: Browser) -> None:
    combinations = [
        (ready, signal, until)
        for ready in (True, False, None)
        for signal in NodeSignal.values
        for until in (None, NOW, NOW - timedelta(microseconds=1))
    ]
    for number, (ready, signal, until) in enumerate(combinations):
        Node.objects.create(
            cluster_id="west-1", name=f"odd-{number}", uid="u", content="", pool="odd", ready=ready, signal=signal,
            signal_until=until,
        )  # fmt: skip
    page = admin.open("/")
    pool = next(each for each in page.every(".pool") if "odd" in each.select_one(".pool-name").get_text())
    drawn = Counter(cell["data-condition"] for cell in pool.select(".cell"))
    listed = Counter(cell["data-condition"] for cell in admin.open("/nodes/?cluster=west-1&pool=odd").every("td .cell"))
    told = pool.select_one(".visually-hidden").get_text()
    assert drawn == listed == {"fault": 3, "ok": 1, "not-ready": 8, "unknown": 15}
    for condition, words in (
        ("fault", "Fault"),
        ("ok", "Observed OK"),
        ("not-ready", "Not ready"),
        ("unknown", "Unknown"),
    ):
        assert f"{drawn[condition]} {words}" in told


def test_pools_add_up_to_the_nodes_and_lead_to_them(admin: Browser) -> None:
    page = admin.open("/")
    totals = [int(each.get_text()) for each in page.every(".pool-name > .muted")]
    assert sum(totals) == Node.objects.filter(gone_at=None).count()
    for total, link in zip(totals, page.links("a.pool-name"), strict=True):
        assert len(admin.open(link).every("tbody tr")) == total


def test_a_signal_counts_until_its_limit_only(admin: Browser) -> None:
    before = admin.open("/").words("#facts .figure")[2]
    assert before != "0 Fault"
    Node.objects.filter(signal=NodeSignal.FAULT).update(signal_until=NOW - timedelta(seconds=1))
    assert admin.open("/").words("#facts .figure")[2] == "0 Fault"


def test_a_queue_whose_use_is_not_known_says_so(admin: Browser) -> None:
    Queue.objects.update(gpus_used=None, pending=None)
    page = admin.open("/")
    assert page.words("#facts .figure")[1].startswith("Unknown")
    assert page.words("#facts .figure")[3] == "Unknown"
    assert "Unknown" in page.words("#queues tbody td")[2]


def test_ten_thousand_nodes_are_drawn_by_pool(admin: Browser) -> None:
    many = [
        Node(cluster_id="west-1", name=f"n{i:05}", uid=f"n{i}", content="", site=f"site-{i % 4}", pool=f"pool-{i % 40}",
             gpus=8, gpus_allocatable=8, ready=True, signal="ok", signal_until=NOW + timedelta(hours=1))
        for i in range(10_000)
    ]  # fmt: skip
    Node.objects.bulk_create(many, batch_size=500)
    page = admin.open("/")
    assert not page.every(".map .cell")
    assert len(page.every(".pool .bar")) >= 40
    assert len(page.body) < 80_000
    listed = admin.open("/nodes/?cluster=west-1&site=site-0&pool=pool-0")
    assert len(listed.every("tbody tr")) == 100
    following = admin.open("/nodes/" + listed.links("a[rel=next]")[0])
    assert not set(listed.words("tbody th")) & set(following.words("tbody th"))


def test_without_a_check_there_is_not_one_word_about_checks(browser: Any) -> None:
    admin: Browser = browser(ADMINS)
    assert admin.open("/").every("#check-summary")
    Check.objects.all().delete()
    page = admin.open("/")
    assert page.every("#facts") and not page.every("#check-summary")
    assert "check" not in page.one("main").get_text().lower()


def test_whoever_may_see_nothing_is_told_so_and_what_to_ask_for(browser: Any) -> None:
    page = browser(NOBODY).open("/")
    assert "There is nothing here that you may see" in page.text
    assert NOBODY in page.text
    assert not page.every("#facts, #check-summary, #map")


def test_an_operator_sees_the_checks_of_the_workspace_and_no_machines(operator: Browser) -> None:
    page = operator.open("/")
    assert page.every("#check-summary") and not page.every("#facts, #map, #queues")
    assert {place.partition(" ")[0] for place in page.words("#check-summary .place")} <= {"team-vision"}


@pytest.mark.parametrize("query", ["condition=purple", "cluster=nowhere", "cursor=x"])
def test_a_place_that_cannot_be_is_refused(query: str, admin: Browser) -> None:
    admin.open(f"/nodes/?{query}", status=400)
