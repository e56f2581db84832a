"""A provider that is down, slow, or lies: a page that says so, and nobody signed in."""

import time
from contextlib import ExitStack
from typing import Any

import pytest
from pytest_django.fixtures import Settings

from taugrid_portal.signin import provider as provider_calls
from tests.site.conftest import Browser
from tests.site.people import sign_in
from tests.site.provider import Provider


def test_a_provider_that_is_down_is_a_page_that_says_so(
    browser: Browser, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    settings.OIDC_ISSUER = "http://127.0.0.1:1"
    sign_in(browser, "ada")
    response = browser.get("/signin/?next=/whoami/")
    assert response.status_code == 503
    assert browser.get("/whoami/").status_code == 200  # and the session that still holds goes on
    assert response["Retry-After"] == "10"
    assert "cannot be reached" in response.content.decode()
    assert "provider_unreachable" in caplog.text


@pytest.mark.parametrize("drops", [False, True], ids=["silent", "one byte at a time"])
def test_a_slow_provider_costs_no_more_than_the_time_limit(browser: Browser, provider: Provider, drops: bool) -> None:
    provider.delay_seconds, provider.drops = (0, True) if drops else (1.0, False)
    began = time.perf_counter()
    response = browser.get("/signin/")
    assert time.perf_counter() - began < 3  # the limit is half a second; the machine may be busy
    assert response.status_code == 503
    assert "too long to answer" in response.content.decode()


def test_a_provider_that_hangs_holds_few_of_the_threads(browser: Browser) -> None:
    with ExitStack() as hanging:
        for _ in range(4):
            hanging.enter_context(provider_calls._one_of_few(1))
        response = browser.get("/signin/")
        assert response.status_code == 503
        assert "too long to answer" in response.content.decode()
    assert browser.get("/signin/").status_code == 302


@pytest.mark.parametrize(
    "lie",
    [
        pytest.param({"issuer": "https://other.example"}, id="another issuer"),
        pytest.param({"issuer": None}, id="no issuer"),
        pytest.param({"token_endpoint": "http://evil.example/token"}, id="token endpoint without TLS"),
        pytest.param({"jwks_uri": "http://127.0.0.1:1/keys"}, id="keys at another port"),
        pytest.param({"jwks_uri": "file:///etc/passwd"}, id="keys in a file"),
        pytest.param({"authorization_endpoint": "javascript:alert(1)"}, id="a script as endpoint"),
        pytest.param({"authorization_endpoint": None}, id="no endpoint"),
        pytest.param({"token_endpoint": ["https://a.example"]}, id="endpoint a list"),
        pytest.param({"token_endpoint": "https://a.example:x/"}, id="port a word"),
        pytest.param({"end_session_endpoint": "http://evil.example/"}, id="sign-out without TLS"),
    ],
)
def test_a_description_that_does_not_fit_the_issuer_is_not_believed(
    browser: Browser, provider: Provider, lie: dict[str, Any]
) -> None:
    provider.discovery = lie
    response = browser.get("/signin/")
    assert response.status_code == 503
    assert "does not fit" in response.content.decode()


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        pytest.param("/.well-known/openid-configuration", (200, b"<html>"), id="a page"),
        pytest.param("/.well-known/openid-configuration", (200, b"[]"), id="a list"),
        pytest.param("/.well-known/openid-configuration", (500, b"{}"), id="an error"),
        pytest.param("/.well-known/openid-configuration", (200, b" " * 1_100_000), id="too much"),
        pytest.param("/.well-known/openid-configuration", (200, b"[" * 100_000), id="too deep"),
        pytest.param("/.well-known/openid-configuration", (302, b""), id="a redirect"),
    ],
)
def test_a_description_that_cannot_be_read_is_a_page(
    browser: Browser, provider: Provider, path: str, answer: tuple[int, bytes]
) -> None:
    provider.answers[path] = answer
    provider.headers["Location"] = f"{provider.issuer}/elsewhere"
    assert browser.get("/signin/").status_code == 503
    assert "/elsewhere" not in provider.asked


@pytest.mark.parametrize(
    ("path", "answer", "status"),
    [
        pytest.param("/token", (200, b"not json"), 503, id="no JSON"),
        pytest.param("/token", (200, b"[1]"), 503, id="a list"),
        pytest.param("/token", (200, b"{}"), 403, id="no ID token"),
        pytest.param("/token", (400, b'{"error":"invalid_grant"}'), 403, id="refused"),
        pytest.param("/token", (500, b""), 503, id="broken"),
        pytest.param("/token", (307, b""), 403, id="a redirect with the client secret"),
        pytest.param("/keys", (200, b'{"keys": 5}'), 503, id="keys not a list"),
        pytest.param("/keys", (200, b'{"keys": [5, {}, {"kty": "RSA", "kid": "first"}]}'), 403, id="odd keys"),
        pytest.param("/keys", (404, b""), 503, id="no keys"),
    ],
)
def test_a_token_or_keys_that_cannot_be_read_are_a_page(
    browser: Browser, provider: Provider, path: str, answer: tuple[int, bytes], status: int
) -> None:
    provider.answers[path] = answer
    provider.headers["Location"] = f"{provider.issuer}/elsewhere"
    assert browser.sign_in().status_code == status
    assert "/elsewhere" not in provider.asked
    assert browser.get("/whoami/").status_code == 302


def test_the_description_is_asked_for_once(browser: Browser, provider: Provider) -> None:
    browser.sign_in()
    browser.logout()
    browser.sign_in()
    assert provider.asked.count("/.well-known/openid-configuration") == 1
    assert provider.asked.count("/keys") == 1


def test_the_userinfo_endpoint_is_never_asked(browser: Browser, provider: Provider) -> None:
    browser.sign_in()
    assert set(provider.asked) == {"/.well-known/openid-configuration", "/token", "/keys"}
