"""Live refresh: asking again costs nothing where nothing changed, and every page is complete without it."""

import re
from datetime import timedelta

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext

from checks.models import Check, Step
from tests.site.people import sign_in

from .conftest import ADMINS, NOW, Browser

PAGES = (
    "/",
    "/checks/",
    "/nodes/",
    "/checks/west-1/team-vision/ib-pair/",
    "/checks/west-1/team-vision/ib-pair/raw/",
    "/checks/west-1/team-vision/ib-pair/runs/",
)


@pytest.mark.parametrize("path", PAGES)
def test_asking_again_with_the_etag_is_answered_with_304(path: str, admin: Browser) -> None:
    first = admin.get(path)
    again = admin.get(path, headers={"if-none-match": first.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert "no-cache" in first.headers["Cache-Control"] and "private" in first.headers["Cache-Control"]


def test_a_change_gives_another_etag(admin: Browser) -> None:
    etag = admin.get(PAGES[3]).headers["ETag"]
    Step.objects.filter(subject__name="ib-pair").update(state="Failed", reason="check_failed")
    assert admin.get(PAGES[3], headers={"if-none-match": etag}).status_code == 200


def test_the_etag_of_one_viewer_is_not_that_of_another(admin: Browser, operator: Browser) -> None:
    etag = admin.get("/checks/").headers["ETag"]
    assert operator.get("/checks/", headers={"if-none-match": etag}).status_code == 200


def test_seconds_alone_do_not_change_a_page(admin: Browser) -> None:
    with time_machine.travel(NOW, tick=False) as clock:
        sign_in(admin, "ada@example.org", [ADMINS])
        etag = admin.get("/checks/").headers["ETag"]
        clock.move_to(NOW + timedelta(seconds=20))
        assert admin.get("/checks/", headers={"if-none-match": etag}).status_code == 304


@pytest.mark.parametrize("path", PAGES)
def test_every_part_that_is_refreshed_has_a_name_of_its_own(path: str, admin: Browser) -> None:
    page = admin.open(path)
    names = [part.get("id") for part in page.every("[data-live]")]
    assert names and None not in names
    every = [each["id"] for each in page.every("[id]")]
    assert len(every) == len(set(every))
    assert page.one("#announcer[aria-live=polite]")


@pytest.mark.parametrize("path", PAGES)
def test_no_page_has_inline_script_or_style(path: str, admin: Browser) -> None:
    page = admin.open(path)
    assert not page.every("style, [style]")
    assert all(script.get("src") and not script.get_text() for script in page.every("script"))
    assert not re.search(r"\son[a-z]+=", page.body.decode())
    policy = page.response.headers["Content-Security-Policy"]
    assert "unsafe" not in policy and "default-src 'none'" in policy


def test_no_query_per_row(admin: Browser) -> None:
    """The number of queries is the same for few checks and for many, and small."""
    assert count_queries(admin, "/checks/?workspace=tau-system") == count_queries(admin, "/checks/") <= 15
    assert count_queries(admin, "/") <= 24
    check = Check.objects.get(cluster="west-1", namespace="team-vision", name="ib-pair")
    many = count_queries(admin, PAGES[3])
    assert many <= 20
    check.runs.filter(created_at__lt=NOW - timedelta(days=2)).delete()
    assert count_queries(admin, PAGES[3]) == many


def count_queries(browser: Browser, path: str) -> int:
    with CaptureQueriesContext(connection) as queries:
        browser.open(path)
    return len(queries)
