"""Asking again: 304 where nothing but the clock has changed, and an ETag that tells nobody about anybody else."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest
import time_machine

from checks.models import Cluster as ClusterRow
from tests.review.conftest import Cluster

from .conftest import ADMINS, API, OPERATORS, WEST, Program

Ask = Callable[..., Program]


def etag(client: Program, path: str = "checks") -> str:
    response = client.get(API + path)
    assert response.status_code == 200
    return str(response.headers["ETag"])


def test_the_same_question_again_costs_no_body(west: Cluster, program: Ask) -> None:
    client = program(OPERATORS)
    known = etag(client)
    again = client.get(API + "checks", headers={"If-None-Match": known})
    assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", known)
    assert again.headers["Cache-Control"] == "private, no-cache"
    assert "Cookie" in again.headers["Vary"]


@pytest.mark.parametrize("form", ['{}, W/"other"', '"x", {}', "*"])
def test_every_form_of_the_header_is_read(west: Cluster, program: Ask, form: str) -> None:
    client = program(OPERATORS)
    known = form.replace("{}", etag(client))
    assert client.get(API + "checks", headers={"If-None-Match": known}).status_code == 304


@pytest.mark.parametrize("other", ['W/"0123"', '"abc"', "nonsense", ""])
def test_another_etag_gets_the_answer(west: Cluster, program: Ask, other: str) -> None:
    assert program(OPERATORS).get(API + "checks", headers={"If-None-Match": other}).status_code == 200


def test_an_etag_changes_with_what_is_said(west: Cluster, program: Ask) -> None:
    client = program(OPERATORS)
    known = etag(client)
    west.check["spec"]["title"] = "Another title"
    west.seen()
    assert client.get(API + "checks", headers={"If-None-Match": known}).status_code == 200


def test_an_etag_does_not_change_with_the_clock_alone(west: Cluster, program: Ask) -> None:
    at = datetime(2026, 11, 30, 8, 2, tzinfo=UTC)
    with time_machine.travel(at, tick=False):
        client = program(OPERATORS)
        ClusterRow.objects.update(captured_at=None, heartbeat_at=at)
        known = etag(client)
    with time_machine.travel(at.replace(second=30), tick=False):
        assert client.get(API + "checks", headers={"If-None-Match": known}).status_code == 304
    with time_machine.travel(at.replace(minute=5), tick=False):
        answer = client.get(API + "checks", headers={"If-None-Match": known})
        assert answer.status_code == 200, "the heartbeat is too old now"
        assert answer.json()["items"][0]["reason"] == "source_unavailable"


def test_equal_answers_have_other_etags_for_other_viewers(west: Cluster, program: Ask) -> None:
    """So that nobody can try out what somebody else is shown."""
    assert etag(program(WEST, username="ann")) != etag(program(WEST, username="bob"))


def test_the_etag_of_somebody_else_is_no_key(west: Cluster, program: Ask) -> None:
    known = etag(program(ADMINS, username="ann"))
    assert program(WEST, username="bob").get(API + "checks", headers={"If-None-Match": known}).status_code == 200
    assert program().get(API + "checks", headers={"If-None-Match": known}).status_code == 401


def test_an_etag_outlives_neither_the_right_nor_the_thing(west: Cluster, east: Cluster, program: Ask) -> None:
    path = "checks/east-1/team-vision/ib-pair"
    known = etag(program(ADMINS, username="ann"), path)
    assert program(WEST, username="ann").get(API + path, headers={"If-None-Match": known}).status_code == 404


def test_each_address_has_an_etag_of_its_own(west: Cluster, program: Ask) -> None:
    client = program(ADMINS)
    run = "runs/00000000-0000-4000-8000-000000000003"
    paths = ("fleet", "checks", "checks/summary", "registrations", run, f"{run}/evidence")
    assert len({etag(client, path) for path in paths}) == len(paths)
