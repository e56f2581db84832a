"""Every way in which the API refuses, held against one shape."""

import json
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import pytest
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext

from checks.api.urls import urlpatterns
from checks.models import Cluster as ClusterRow
from checks.queries import checks as checks_queries
from taugrid_portal.signin import session
from tests.review.conftest import Cluster

from .conftest import ADMINS, API, GHOSTS, OPERATORS, WEST, Program

Ask = Callable[..., Program]
RETRYABLE = {"backend_unavailable"}
RUN = "runs/00000000-0000-4000-8000-000000000003"
CHECK = "checks/west-1/team-vision/ib-pair"
ADDRESSES = [
    "fleet",
    "checks/summary",
    "checks",
    CHECK,
    f"{CHECK}/runs",
    RUN,
    f"{RUN}/evidence",
    f"{RUN}/evidence/logs",
    "registrations",
]


def assert_error(response: Any, status: int, code: str, says: str = "") -> None:
    """The one shape of every refusal: nothing but code, reason and retryable, as JSON, for this viewer only."""
    assert response.status_code == status, response.content
    assert response.headers["Content-Type"] == "application/json"
    assert "ETag" not in response.headers
    assert response.headers["Cache-Control"] == "private, no-cache"
    body = json.loads(response.content)
    assert set(body) == {"code", "reason", "retryable"}
    assert body["code"] == code
    assert body["reason"] and says in body["reason"]
    assert body["retryable"] is (code in RETRYABLE)
    assert ("Retry-After" in response.headers) is (code in RETRYABLE)


def test_the_list_of_addresses_here_is_that_of_the_url_configuration() -> None:
    assert len(urlpatterns) == len(ADDRESSES)


@pytest.mark.parametrize("address", ADDRESSES)
def test_nobody_is_told_to_sign_in(west: Cluster, program: Ask, address: str) -> None:
    assert_error(program().get(API + address), 401, "unauthenticated")


@pytest.mark.parametrize("address", ADDRESSES)
def test_too_many_groups_are_refused_and_never_cut(west: Cluster, program: Ask, address: str) -> None:
    client = program()
    held = client.session
    session.remember_too_many_groups(held)
    held.save()
    client.cookies["taugrid-session"] = held.session_key or ""
    assert_error(client.get(API + address), 431, "too_many_groups")


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete", "options", "trace"])
@pytest.mark.parametrize("address", ADDRESSES)
def test_nothing_but_reading_is_allowed(west: Cluster, program: Ask, address: str, method: str) -> None:
    response: Any = getattr(program(ADMINS), method)(API + address)
    assert_error(response, 405, "method_not_allowed")
    assert response.headers["Allow"] == "GET, HEAD"


def test_head_is_get_without_a_body(west: Cluster, program: Ask) -> None:
    client = program(ADMINS)
    head, get = client.head(API + "checks"), client.get(API + "checks")
    assert (head.status_code, head.content, head.headers["ETag"]) == (200, b"", get.headers["ETag"])


@pytest.mark.parametrize("address", ADDRESSES)
def test_an_unknown_parameter_is_refused_by_its_name(west: Cluster, program: Ask, address: str) -> None:
    assert_error(program(ADMINS).get(API + address, {"statuss": "Failed"}), 400, "invalid_argument", "statuss")


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("state=failed", "state: expected one of Passed"),
        ("state=", "state: expected one of Passed"),
        ("state=Failed&state=Passed", "state: give it once"),
        ("limit=0", "limit: expected a whole number from 1 to 100"),
        ("limit=101", "limit: expected a whole number from 1 to 100"),
        ("limit=-1", "limit: expected"),
        ("limit=1.0", "limit: expected"),
        ("limit=%D9%A1", "limit: expected"),
        ("limit=1e1", "limit: expected"),
        ("limit=", "limit: expected"),
        ("sort=severity", "sort: expected one of"),
        ("cursor=x", "cursor: it does not belong to this list"),
        ("cursor=" + "a" * 2049, "cursor: expected text of 1 to 2048 characters"),
        ("q=" + "a" * 201, "q: expected text of 1 to 200 characters"),
        ("q=a%00b", "q: expected text"),
        ("cluster=%00", "cluster: expected text"),
        ("cluster=north-1", "cluster: none that you may read"),
        ("workspace=team-secret", "workspace: none that you may read"),
        ("format=xml", "format: no such parameter"),
        ("State=Failed", "State: no such parameter"),
        ("%00=1", "?: no such parameter"),
    ],
)
def test_a_parameter_that_cannot_be_says_what_belongs_there(west: Cluster, program: Ask, query: str, says: str) -> None:
    assert_error(program(OPERATORS).get(f"{API}checks?{query}"), 400, "invalid_argument", says)


@pytest.mark.parametrize("path", ["checks", "checks/summary"])
def test_a_parameter_that_contradicts_the_scope_is_refused_alike_for_what_is_there_and_what_is_not(
    west: Cluster, east: Cluster, program: Ask, path: str
) -> None:
    client = program(OPERATORS)
    hidden, absent = client.get(API + path, {"cluster": "east-1"}), client.get(API + path, {"cluster": "nowhere"})
    assert_error(hidden, 400, "invalid_argument", "cluster: none that you may read")
    assert hidden.content == absent.content


HIDDEN_AND_ABSENT = [
    ("checks/east-1/team-vision/ib-pair", "checks/east-1/team-vision/nothing"),
    ("checks/east-1/team-vision/ib-pair/runs", "checks/nowhere/team-vision/ib-pair/runs"),
    ("runs/99999999-0000-4000-8000-000000000003", "runs/88888888-0000-4000-8000-000000000003"),
    ("runs/99999999-0000-4000-8000-000000000003/evidence", "runs/88888888-0000-4000-8000-000000000003/evidence"),
]


@pytest.mark.parametrize(("hidden", "absent"), HIDDEN_AND_ABSENT)
@pytest.mark.parametrize("groups", [(OPERATORS,), (WEST,), ("nobody-knows-this-group",)])
def test_what_may_not_be_seen_is_what_does_not_exist_in_bytes_and_in_cost(
    west: Cluster, east: Cluster, program: Ask, hidden: str, absent: str, groups: tuple[str, ...]
) -> None:
    client = program(*groups)
    client.get(API + "fleet")
    answers, costs = [], []
    for path in (hidden, absent):
        with CaptureQueriesContext(connection) as queries:
            answers.append(client.get(API + path))
        costs.append(len(queries))
        assert_error(answers[-1], 404, "not_found")
    assert answers[0].content == answers[1].content
    assert costs[0] == costs[1]
    changing = {"X-Request-ID"}
    assert {k: v for k, v in answers[0].headers.items() if k not in changing} == {
        k: v for k, v in answers[1].headers.items() if k not in changing
    }


@pytest.mark.parametrize("query", ["", "?limit=1", "?limit=nonsense", "?nonsense=1"])
def test_for_those_who_do_not_review_registrations_do_not_exist(west: Cluster, program: Ask, query: str) -> None:
    answer = program(WEST).get(f"{API}registrations{query}")
    assert_error(answer, 404, "not_found")
    assert answer.content == program(WEST).get(f"{API}nothing-here").content


@pytest.mark.parametrize("path", ["checks/west-1/team-vision/%00", "runs/%00", "runs/%F0%9F%98%80", "checks/a/b/%20"])
def test_names_that_cannot_be_are_not_there(west: Cluster, program: Ask, path: str) -> None:
    assert_error(program(ADMINS).get(API + path), 404, "not_found")


@pytest.mark.parametrize("path", ["", "nothing", "checks/", "checks/west-1", "fleet/", "runs/"])
def test_an_unknown_address_has_the_same_shape(west: Cluster, program: Ask, path: str) -> None:
    assert_error(program(ADMINS).get(API + path), 404, "not_found")


@pytest.mark.parametrize("address", ADDRESSES)
def test_before_the_first_full_load_nothing_is_answered(db: None, program: Ask, address: str) -> None:
    ClusterRow.objects.create(name="west-1", complete=False)
    assert_error(program(ADMINS).get(API + address), 503, "backend_unavailable", "read in full")


def test_a_viewer_whose_cluster_was_never_read_gets_no_answer_from_another(west: Cluster, program: Ask) -> None:
    assert_error(program(GHOSTS).get(API + "checks"), 503, "backend_unavailable", "read in full")


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_database_that_does_not_answer_is_503_without_its_words(west: Cluster, program: Ask, address: str) -> None:
    with patch("checks.api.view.was_read", side_effect=OperationalError("no route to db.internal")):
        response = program(ADMINS).get(API + address)
    assert_error(response, 503, "backend_unavailable")
    assert b"db.internal" not in response.content


def test_a_mistake_of_the_portal_is_500_without_its_words(west: Cluster, program: Ask) -> None:
    with patch.object(checks_queries, "checks", side_effect=RuntimeError("a secret")):
        response = program(ADMINS).get(API + "checks")
    assert_error(response, 500, "internal")
    assert b"secret" not in response.content


@pytest.mark.parametrize(
    "header", [{"Authorization": "Bearer abc"}, {"Authorization": "Basic YTpi"}, {"X-Remote-User": "ada@example.org"}]
)
def test_no_other_credential_than_the_session_counts(west: Cluster, program: Ask, header: dict[str, str]) -> None:
    assert_error(program().get(API + "checks", headers=header), 401, "unauthenticated")


@pytest.mark.parametrize("accept", ["text/html", "application/xml", "*/*", "nonsense"])
def test_the_answer_is_json_whatever_is_preferred(west: Cluster, program: Ask, accept: str) -> None:
    response = program(ADMINS).get(API + "checks", headers={"Accept": accept})
    assert response.status_code == 200
    assert response.headers["Content-Type"] == "application/json"
