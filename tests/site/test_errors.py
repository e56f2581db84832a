"""What people get instead of a page, and the headers that every answer has."""

import subprocess
import sys

import pytest
from bs4 import BeautifulSoup
from django.test import Client

from tests.site.people import sign_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def browser() -> Client:
    return Client(headers={"host": "localhost:8000"}, raise_request_exception=False)


def test_what_may_not_be_seen_and_what_does_not_exist_are_the_same_bytes(browser: Client) -> None:
    sign_in(browser, "ada")
    hidden, missing = browser.get("/hidden/"), browser.get("/no-such-page/")
    assert hidden.status_code == missing.status_code == 404
    assert hidden.content == missing.content
    assert b"team-secret" not in hidden.content


@pytest.mark.parametrize(
    ("path", "status", "title"),
    [
        ("/no-such-page/", 404, "Nothing here"),
        ("/broken/", 500, "The portal made a mistake"),
        ("/without-database/", 503, "The portal cannot read its data"),
    ],
)
def test_an_error_is_a_page_with_a_plain_sentence(
    browser: Client, path: str, status: int, title: str, caplog: pytest.LogCaptureFixture
) -> None:
    sign_in(browser, "ada")
    response = browser.get(path)
    assert response.status_code == status
    page = BeautifulSoup(response.content, "html.parser")
    assert page.h1 is not None
    assert page.h1.text == title
    assert b"secret in an exception" not in response.content
    assert b"db.internal" not in response.content
    assert (response["X-Request-ID"] in page.text) is (status >= 500)


def test_an_unknown_host_is_a_page_too() -> None:
    response = Client(headers={"host": "evil.example"}).get("/signed-out/")
    assert response.status_code == 400
    assert b"It is at http://localhost:8000." in response.content


def test_an_error_below_the_api_is_json(browser: Client) -> None:
    sign_in(browser, "ada")
    response = browser.get("/api/portal/no-such-thing")
    assert response.status_code == 404
    assert set(response.json()) == {"code", "reason", "retryable"}
    assert response.json()["code"] == "not_found"


@pytest.mark.parametrize("path", ["/", "/whoami/", "/signed-out/", "/no-such-page/", "/broken/", "/livez", "/static/x"])
def test_every_answer_is_isolated(browser: Client, path: str) -> None:
    for signed_in in (False, True):
        if signed_in:
            sign_in(browser, "ada")
        headers = browser.get(path).headers
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert "http" not in policy
        assert headers["X-Frame-Options"] == "DENY"
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "same-origin"
        assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
        assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
        assert "no-cache" in headers["Cache-Control"]


def test_behind_tls_cookies_are_secure_and_browsers_insist_on_it() -> None:
    script = (
        "from taugrid_portal import settings as s; print(s.SESSION_COOKIE_SECURE, s.SESSION_COOKIE_NAME,"
        "s.SECURE_HSTS_SECONDS > 0, s.ALLOWED_HOSTS, s.DEBUG)"
    )
    environment = {"PORTAL_URL": "https://portal.example.org", "POD_IP": "10.1.2.3"}
    said = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=60, check=True
    ).stdout
    assert said == "True __Host-taugrid-session True ['portal.example.org', '10.1.2.3'] False\n"
