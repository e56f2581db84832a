"""The five scenarios say the same on the command line, in the API and on the page."""

from pathlib import Path

import pytest
from django.core.cache import cache
from django.test import Client
from pytest_django.fixtures import Settings

from checks.sample import STORIES
from checks.snapshot import Explained
from tests.sample.conftest import explain
from tests.site.people import sign_in

from .tour import GROUP, RULES, Told, tour, write


@pytest.fixture
def told(db: None, tmp_path: Path, settings: Settings) -> list[Told]:
    cache.clear()
    (tmp_path / "access.yaml").write_text(RULES)
    settings.ACCESS_FILE = str(tmp_path / "access.yaml")

    def reader() -> Client:
        client = Client(headers={"host": "localhost:8000"})
        sign_in(client, "ada@example.org", [GROUP])
        return client

    return list(tour(tmp_path / "dumps", reader))


def test_everybody_says_the_same_and_what_the_scenario_promises(told: list[Told]) -> None:
    assert {each.story for each in told} == set(STORIES)
    assert len(told) == sum(map(len, STORIES.values()))
    for each in told:
        assert each.differences == [], (each.story, each.command_line, each.api, each.page)
        assert len(each.command_line.clauses) == 17


def test_no_scenario_is_passed_and_each_has_a_sentence_and_a_deciding_clause(told: list[Told]) -> None:
    for each in told:
        assert each.command_line.state != "Passed"
        assert len(each.command_line.message) > 20
        assert "does_not_hold" in {holds for _, holds in each.command_line.clauses}


def test_each_scenario_is_a_dump_that_can_be_explained_alone_and_twice_the_same(tmp_path: Path) -> None:
    first, second = write(tmp_path / "first"), write(tmp_path / "second")
    for story, scenarios in STORIES.items():
        assert [path.read_bytes() for path in first[story]] == [path.read_bytes() for path in second[story]]
        found: list[Explained] = list(explain(first[story], tmp_path / "first" / story / "evidence").values())
        assert {item.name for item in found} == {scenario.name for scenario in scenarios}
