"""Every verdict of the sample on its own page: state, reason, proof, next step."""

from urllib.parse import quote

import pytest

from checks.contract.reasons import State, next_step
from checks.sample import LIVING, SCENARIOS, Scenario

from .conftest import Browser

PASSED, FAILED = State.PASSED, State.FAILED


def address(scenario: Scenario, panel: str = "") -> str:
    parts = [scenario.cluster, scenario.namespace, scenario.name, *([panel] if panel else [])]
    return "/checks/" + "".join(quote(part, safe="") + "/" for part in parts)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: f"{s.reason} by {s.name} in {s.namespace} on {s.cluster}")
def test_a_page_shows_the_verdict_and_why(scenario: Scenario, admin: Browser) -> None:
    page = admin.open(address(scenario))
    banner = page.one("#verdict")
    assert banner["data-state"] == scenario.state
    assert banner.select_one("h2").get_text() == scenario.state
    assert banner.select_one(".reason").get_text() == scenario.reason
    assert page.words("#proof-title") == [f"Why is this {scenario.state}?"]
    holds = [clause["data-holds"] for clause in page.every(".clause")]
    assert len(holds) == 17
    if scenario.state is PASSED:
        assert set(holds) == {"holds"}
        assert not page.every(".next")
    else:
        assert "does_not_hold" in holds
        decided = page.one(".clause[data-decides]")
        assert decided.select_one(".reason").get_text() == scenario.reason
        assert page.one(".next a.link[href^='#clause-']")["href"] == f"#{decided['id']}"
        if step := next_step(scenario.reason):
            assert step in page.words(".next .step")[0]


def test_a_state_is_told_by_word_icon_and_colour(admin: Browser) -> None:
    seen = set()
    for state in State:
        page = admin.open(f"/checks/?state={state}")
        for mark in page.every("tbody .c-state .state"):
            assert mark.get_text() == mark["data-state"] == state
            seen.add((state, mark.select_one("use")["href"]))
    assert len(seen) == len(State)
    assert len({icon for _, icon in seen}) == len(State)


def test_each_clause_can_be_linked_and_names_the_object_it_was_read_from(admin: Browser) -> None:
    page = admin.open("/checks/west-1/team-vision/ib-pair/")
    for clause in page.every(".clause"):
        assert clause.select_one("a.says")["href"] == f"#{clause['id']}"
        assert clause.select_one(".source").get_text(strip=True)
    for link in set(page.links(".clause .source a")):
        admin.open(link.partition("#")[0])


def test_the_last_sealed_verdict_stays_visible_beside_a_running_and_a_stale_one(admin: Browser) -> None:
    for state in (State.RUNNING, State.STALE):
        rows = admin.open(f"/checks/?state={state}").every("tbody tr")
        told = [row for row in rows if row.select_one(".last")]
        assert told, state
        page = admin.open(told[0].select_one("a.name")["href"])
        assert page.one("#verdict .last .state").get_text() != state


def test_the_command_that_shows_the_object_is_there_to_copy(admin: Browser) -> None:
    failed = next(s for s in SCENARIOS if s.state is FAILED and s.reason == "socket_fallback_observed")
    command = admin.open(address(failed)).words(".next pre code")[0]
    assert command.startswith(f"kubectl -n {failed.namespace} get validationresults {failed.name}-")


def test_the_page_says_that_a_verdict_is_of_one_moment(admin: Browser) -> None:
    for scenario in (SCENARIOS[0], LIVING):
        assert "not continuous health" in admin.open(address(scenario)).words("#verdict")[0]
