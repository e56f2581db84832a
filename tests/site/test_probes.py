"""Probes, metrics and logs: what the machinery around the portal relies on."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import OperationalError
from django.test import Client
from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from pytest_django.fixtures import Settings

from taugrid_portal import logs

pytestmark = pytest.mark.django_db


@pytest.fixture
def browser() -> Client:
    return Client(headers={"host": "localhost:8000"}, raise_request_exception=False)


def answer_with(monkeypatch: pytest.MonkeyPatch, readiness: Any) -> None:
    monkeypatch.setattr("checks.queries.readiness", readiness)


def test_alive_needs_no_sign_in_and_no_database(browser: Client, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(0):
        assert browser.get("/livez").content == b"ok\n"


def test_ready_follows_what_the_checks_say(browser: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    answer_with(monkeypatch, lambda: "Cluster west-1 has not been read in full yet.")
    response = browser.get("/readyz")
    assert (response.status_code, response.content) == (
        503,
        b"not ready: Cluster west-1 has not been read in full yet.\n",
    )
    answer_with(monkeypatch, lambda: "")
    assert browser.get("/readyz").status_code == 200


def test_not_ready_while_the_database_is_away(browser: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def readiness() -> str:
        raise OperationalError("could not connect to db.internal")

    answer_with(monkeypatch, readiness)
    response = browser.get("/readyz")
    assert response.status_code == 503
    assert b"db.internal" not in response.content


def test_requests_are_measured_by_route_name(browser: Client, settings: Settings) -> None:
    settings.METRICS_COLLECTOR = "tests.site.test_probes.States"
    browser.get("/hidden/")
    browser.get("/no/such/page/1")
    browser.get("/no/such/page/2")
    text = browser.get("/metrics").content.decode()
    assert 'portal_request_duration_seconds_count{code="3xx",method="GET",route="hidden"}' in text
    assert 'route="unmatched"' in text
    assert "/no/such" not in text
    assert 'portal_checks{state="Passed"} 12.0' in text
    assert "portal_check_states_up 1.0" in text


def test_the_process_is_measured_while_the_database_is_away(browser: Client, settings: Settings) -> None:
    settings.METRICS_COLLECTOR = "tests.site.test_probes.without_database"
    text = browser.get("/metrics").content.decode()
    assert "portal_check_states_up 0.0" in text
    assert "portal_request_duration_seconds_bucket" in text


class States(Collector):
    def collect(self) -> Iterator[Metric]:
        states = GaugeMetricFamily("portal_checks", "Checks by state.", labels=["state"])
        states.add_metric(["Passed"], 12)
        yield states


def without_database() -> object:
    raise OperationalError


def test_metrics_are_for_whoever_holds_the_token(browser: Client, settings: Settings) -> None:
    settings.METRICS_COLLECTOR = "tests.site.test_probes.States"
    settings.METRICS_TOKEN = "prometheus-token"
    assert browser.get("/metrics").status_code == 404
    assert browser.get("/metrics", headers={"Authorization": "Bearer other"}).status_code == 404
    assert browser.get("/metrics", headers={"Authorization": "Bearer prometheus-token"}).status_code == 200
    settings.METRICS_TOKEN, settings.PORTAL_MODE = "", "production"
    assert browser.get("/metrics").status_code == 404


@pytest.mark.parametrize(
    ("sent", "kept"), [("abc-DEF_1.2345", True), ("short", False), ("a" * 65, False), ("a\tb" * 4, False)]
)
def test_a_sane_request_id_is_kept_and_another_replaced(browser: Client, sent: str, kept: bool) -> None:
    answered = browser.get("/livez", headers={"X-Request-ID": sent})["X-Request-ID"]
    assert (answered == sent) is kept
    assert len(answered) >= 8


def test_a_log_line_is_json_with_the_request_id_and_no_query(browser: Client, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    browser.get("/signed-out/?code=secret-code", headers={"X-Request-ID": "from-the-proxy"})
    formatted = format_as_configured(caplog.records[-1])
    line = json.loads(formatted)
    assert (line["request_id"], line["path"], line["route"]) == ("from-the-proxy", "/signed-out/", "signin:signed-out")
    assert "secret-code" not in caplog.text


def format_as_configured(record: Any) -> str:
    config = logs.configuration("INFO", readable=False)["formatters"]["events"]
    factory = config.pop("()")
    return str(factory(**config).format(record))
