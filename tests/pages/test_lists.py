"""The list of checks: its counts, filters, orders and pages."""

from collections import Counter
from datetime import timedelta
from urllib.parse import urlencode

import pytest

from checks.contract.reasons import State
from checks.models import Check, Step
from checks.sample import LIVING, SCENARIOS

from .conftest import NOW, Browser, Page

EVERY = (*SCENARIOS, LIVING)


def counts(page: Page) -> dict[str, int]:
    tally = page.every("#tally li")
    return {li.select_one(".state").get_text(): int(li.select_one("b").get_text()) for li in tally}


def rows(browser: Browser, **query: str) -> list[tuple[str, str, str]]:
    """(state, name, place) of every row, over all pages."""
    found: list[tuple[str, str, str]] = []
    address = "/checks/?" + urlencode(query)
    while address:
        page = browser.open(address)
        for row in page.every("tbody tr"):
            place = " ".join(row.select_one(".c-place").get_text(" ").split())
            found.append((str(row["data-state"]), row.select_one(".c-name .mono").get_text(), place))
        following = page.links("a[rel=next]")
        address = f"/checks/{following[0]}" if following else ""
    return found


def test_counts_are_those_of_the_rows_and_of_the_scenarios(admin: Browser) -> None:
    found = rows(admin)
    assert len(found) == len(set(found)) == len(EVERY)
    shown = counts(admin.open("/checks/"))
    assert shown == {str(state): n for state, n in Counter(state for state, _, _ in found).items()}
    [living] = [state for state, name, _ in found if name == LIVING.name]
    assert shown == {str(state): n for state, n in Counter([living, *(s.state for s in SCENARIOS)]).items()}


@pytest.mark.parametrize("state", State)
def test_a_state_gives_its_rows_and_keeps_all_counts(state: State, admin: Browser) -> None:
    assert {found for found, _, _ in rows(admin, state=state)} == {state}
    assert counts(admin.open(f"/checks/?state={state}")) == counts(admin.open("/checks/"))


def test_filters_narrow_rows_and_counts_alike(admin: Browser) -> None:
    for query in ({"cluster": "east-1"}, {"workspace": "team-search"}, {"q": "infiniband SPEECH"}, {"q": "no such"}):
        found = rows(admin, **query)
        assert sum(counts(admin.open("/checks/?" + urlencode(query))).values()) == len(found)
    assert {place for _, _, place in rows(admin, workspace="team-search", cluster="east-1")} == {"team-search east-1"}
    assert "Show all" in admin.open("/checks/?q=nothing-is-called-this").text


def test_worst_comes_first_and_a_stale_failure_stands_with_the_failures(admin: Browser) -> None:
    order = [state for state, _, _ in rows(admin)]
    assert order[0] == "Failed" and order[-1] == "Passed"
    failed_last = Check.objects.filter(last_state="Failed").values_list("namespace", "name", "cluster")
    urgent = {(name, f"{namespace} {cluster}") for namespace, name, cluster in failed_last}
    found = [(name, place) in urgent or state == "Failed" for state, name, place in rows(admin)]
    assert "Stale" in order[: sum(found)]
    assert all(found[: sum(found)])


@pytest.mark.parametrize("sort", ["name", "workspace", "age", "state"])
def test_each_order_has_its_reverse_and_loses_no_row(sort: str, admin: Browser) -> None:
    forwards, backwards = rows(admin, sort=sort), rows(admin, sort=f"-{sort}")
    assert forwards == backwards[::-1]
    assert len(forwards) == len(EVERY)


def test_pages_survive_inserts_and_deletes(admin: Browser) -> None:
    first = admin.open("/checks/?sort=name")
    names = first.words("tbody .c-name .mono")
    following = "/checks/" + first.links("a[rel=next]")[0]
    before = admin.open(following).words("tbody .c-name .mono")
    Check.objects.filter(name=names[-1]).delete()
    early = Check.objects.create(
        cluster_id="west-1", namespace="team-vision", name="aaa", title="AAA", registered=True, uid="x", content=""
    )
    Step.objects.create(subject=early, since=NOW - timedelta(days=9), state="Unknown", reason="no_result", severity=2)
    assert admin.open(following).words("tbody .c-name .mono") == before


@pytest.mark.parametrize(
    "query",
    [
        "state=Green",
        "sort=colour",
        "cursor=abc",
        "cursor=.",
        "cluster=secret-1",
        "workspace=a%00b",
        "type=" + "x" * 300,
    ],
)
def test_a_value_that_cannot_be_is_refused(query: str, admin: Browser) -> None:
    admin.open(f"/checks/?{query}", status=400)


def test_a_cursor_belongs_to_its_filter_its_order_and_its_viewer(admin: Browser, operator: Browser) -> None:
    cursor = admin.open("/checks/").links("a[rel=next]")[0].removeprefix("?cursor=")
    admin.open(f"/checks/?cursor={cursor}")
    for query in ("state=Passed", "sort=name", "q=x"):
        admin.open(f"/checks/?{query}&cursor={cursor}", status=400)
    operator.open(f"/checks/?cursor={cursor}", status=400)
    for damaged in (cursor[:-1], cursor[1:], cursor.swapcase(), cursor + "A", cursor + "=" * 2100):
        admin.open(f"/checks/?cursor={damaged}", status=400)
