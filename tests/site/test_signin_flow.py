"""The way through a sign-in: state, nonce, code challenge, and the way back."""

from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from django.contrib.sessions.models import Session
from django.test import Client

from tests.site.conftest import Browser
from tests.site.provider import Provider
from tests.site.test_signin_tokens import assert_refused


def test_a_finished_sign_in_cannot_be_replayed(browser: Browser, provider: Provider) -> None:
    back = provider.consent(browser.begin())
    assert browser.get(back).status_code == 302
    response = browser.get(back)
    assert response.status_code == 400
    assert "This sign-in cannot be finished" in response.content.decode()


def test_a_refused_sign_in_cannot_be_repeated_with_the_same_state(browser: Browser, provider: Provider) -> None:
    provider.sign.claims = {"aud": "another"}
    back = provider.consent(browser.begin())
    assert browser.get(back).status_code == 403
    provider.sign.claims = {}
    assert browser.get(back).status_code == 400


def test_the_nonce_of_an_earlier_sign_in_is_refused(
    browser: Browser, provider: Provider, caplog: pytest.LogCaptureFixture
) -> None:
    first = browser.begin()
    used = parse_qs(urlsplit(first).query)["nonce"][0]
    browser.get(provider.consent(first))
    browser.logout()
    assert_refused(browser, browser.sign_in(nonce=used), "token_nonce", caplog)


def test_a_sign_in_begun_in_another_browser_is_refused(browser: Browser, provider: Provider) -> None:
    back = provider.consent(browser.begin())
    other = Client(headers={"host": "localhost:8000"})
    assert other.get(back).status_code == 400


def test_a_callback_out_of_nowhere_is_refused_with_a_page(browser: Browser) -> None:
    for query in ("", "?code=a", "?state=b", "?code=a&state=b", "?error=access_denied", "?error=x&state=b"):
        response = browser.get(f"/signin/callback/{query}")
        assert response.status_code == 400
        assert "Start again" in response.content.decode()


def test_a_stranger_cannot_sign_somebody_out_with_an_error(browser: Browser) -> None:
    browser.sign_in()
    browser.get("/signin/callback/?error=access_denied&state=guessed")
    assert browser.get("/whoami/").status_code == 200


def test_a_sign_in_that_took_too_long_is_refused(browser: Browser, provider: Provider) -> None:
    back = provider.consent(browser.begin())
    held = browser.session
    for begun in held["oidc_states"].values():
        begun["added_on"] -= 601
    held.save()
    response = browser.get(back)
    assert response.status_code == 400
    assert "took too long" in response.content.decode()


def test_a_code_without_its_verifier_is_worth_nothing(browser: Browser, provider: Provider) -> None:
    victim = provider.consent(browser.begin())
    code = parse_qs(urlsplit(victim).query)["code"][0]
    thief = Browser(headers={"host": "localhost:8000"})
    thief.provider = provider
    state = parse_qs(urlsplit(thief.begin()).query)["state"][0]
    response = thief.get(f"/signin/callback/?code={code}&state={state}")
    assert response.status_code == 403
    assert thief.get("/whoami/").status_code == 302


def test_an_answer_that_names_another_issuer_is_refused(browser: Browser, provider: Provider) -> None:
    back = provider.consent(browser.begin())
    assert browser.get(f"{back}&iss=https://other.example").status_code == 403


def test_two_tabs_come_back_to_their_own_pages(browser: Browser, provider: Provider) -> None:
    first, second = browser.begin("/whoami/?tab=1"), browser.begin("/whoami/?tab=2")
    assert browser.get(provider.consent(first))["Location"] == "/whoami/?tab=1"
    assert browser.get(provider.consent(second))["Location"] == "/whoami/?tab=2"


@pytest.mark.parametrize("address", ["https://evil.example/", "//evil.example/", "javascript:alert(1)", "/\\evil"])
def test_the_way_back_never_leads_to_another_site(browser: Browser, address: str) -> None:
    assert browser.sign_in(address)["Location"] == "/"


def test_the_session_key_changes_at_sign_in(browser: Browser) -> None:
    browser.begin()
    before = browser.session.session_key
    browser.sign_in()
    assert browser.session.session_key != before


def test_sign_ins_that_nobody_finished_are_swept_away(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    stranger = Browser(headers={"host": "localhost:8000"})
    stranger.begin()
    left = Session.objects.get()
    left.expire_date -= timedelta(seconds=601)
    left.save()
    monkeypatch.setattr("secrets.randbelow", lambda limit: 0)
    browser.begin()
    assert not Session.objects.filter(pk=left.pk).exists()
    assert Session.objects.count() == 1


def test_no_token_is_kept(browser: Browser, provider: Provider) -> None:
    browser.sign_in()
    assert provider.last_token not in str(dict(browser.session.items()))
    assert "an-access-token" not in str(dict(browser.session.items()))


def test_somebody_who_declines_is_told_so(browser: Browser, caplog: pytest.LogCaptureFixture) -> None:
    state = parse_qs(urlsplit(browser.begin()).query)["state"][0]
    response = browser.get(f"/signin/callback/?error=access_denied&error_description=<b>ada-1</b>&state={state}")
    assert_refused(browser, response, "declined", caplog)
    assert "<b>" not in response.content.decode()
