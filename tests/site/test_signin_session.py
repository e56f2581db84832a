"""What a sign-in is worth and how long: renewal, the wall, sign-out."""

import time
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from taugrid_portal.models import Account
from tests.site.conftest import Browser
from tests.site.people import sign_in
from tests.site.provider import Provider


def expire(browser: Client) -> None:
    """The provider has to confirm this session again."""
    held = browser.session
    held["oidc_id_token_expiration"] = time.time() - 1
    held.save()


def test_a_session_is_renewed_without_a_word_and_its_groups_change(browser: Browser, provider: Provider) -> None:
    browser.sign_in()
    assert browser.get("/whoami/").json()["reviews"] is True
    expire(browser)
    wall = browser.get("/whoami/?x=1")
    assert (wall.status_code, wall["Location"]) == (302, "/signin/?next=%2Fwhoami%2F%3Fx%3D1")
    asked = browser.get(wall["Location"])["Location"]
    assert parse_qs(urlsplit(asked).query)["prompt"] == ["none"]
    provider.sign.claims = {"groups": ["team-vision-operators"]}
    back = browser.get(provider.consent(asked))
    assert back["Location"] == "/whoami/?x=1"
    who = browser.get("/whoami/").json()
    assert (who["reviews"], who["namespaces"]) == (False, [["west-1", "team-vision"]])


def test_an_ordinary_sign_in_asks_the_person(browser: Browser) -> None:
    assert "prompt" not in parse_qs(urlsplit(browser.begin()).query)


def test_a_renewal_that_wants_a_word_becomes_an_ordinary_sign_in(browser: Browser) -> None:
    browser.sign_in()
    expire(browser)
    state = parse_qs(urlsplit(browser.begin()).query)["state"][0]
    response = browser.get(f"/signin/callback/?error=login_required&state={state}")
    assert response["Location"] == "/signin/?next=%2Fwhoami%2F"
    asked = browser.get(response["Location"])["Location"]
    assert "prompt" not in parse_qs(urlsplit(asked).query)
    assert browser.get("/whoami/").status_code == 302


def test_an_ordinary_sign_in_that_wants_a_word_ends_with_a_page_and_no_loop(browser: Browser) -> None:
    state = parse_qs(urlsplit(browser.begin()).query)["state"][0]
    assert browser.get(f"/signin/callback/?error=login_required&state={state}").status_code == 403


def test_a_renewal_that_names_somebody_else_ends_the_session(
    browser: Browser, provider: Provider, caplog: pytest.LogCaptureFixture
) -> None:
    browser.sign_in()
    expire(browser)
    provider.sign.claims = {"sub": "ada-2", "email": "ada@example.org"}
    response = browser.get(provider.consent(browser.begin()))
    assert response.status_code == 403
    assert "another person" in response.content.decode()
    assert browser.get("/whoami/").status_code == 302
    assert "subject_changed" in caplog.text


def test_a_renewal_with_too_many_groups_ends_the_session(browser: Browser, provider: Provider) -> None:
    browser.sign_in()
    expire(browser)
    provider.sign.claims = {"groups": [f"g{i}" for i in range(257)]}
    assert browser.get(provider.consent(browser.begin())).status_code == 431
    answer = browser.get("/api/portal/fleet")
    assert answer.status_code == 431
    assert answer.json()["code"] == "too_many_groups"
    provider.sign.claims = {}
    browser.sign_in()
    assert browser.get("/api/portal/fleet").status_code == 200


@pytest.mark.parametrize("state", ["nobody", "expired", "made by something else"])
def test_the_wall_answers_each_kind_of_request_in_its_own_way(browser: Browser, state: str) -> None:
    if state == "expired":
        sign_in(browser, "ada")
        expire(browser)
    elif state == "made by something else":
        browser.force_login(Account.objects.create(issuer="i", subject="s", username="s"))
    page = browser.get("/whoami/?a=1")
    assert (page.status_code, page["Location"]) == (302, "/signin/?next=%2Fwhoami%2F%3Fa%3D1")
    panel = browser.get(
        "/whoami/", headers={"HX-Request": "true", "HX-Current-URL": "http://localhost:8000/checks/?q=a"}
    )
    assert (panel.status_code, panel["HX-Redirect"]) == (401, "/signin/?next=%2Fchecks%2F%3Fq%3Da")
    assert panel.content == b""
    program = browser.get("/api/portal/fleet")
    assert program.status_code == 401
    assert program.json() == {
        "code": "unauthenticated",
        "reason": "Nobody is signed in, or the sign-in has ended.",
        "retryable": False,
    }


def test_an_htmx_request_cannot_choose_a_way_back_to_another_site(browser: Browser) -> None:
    panel = browser.get("/", headers={"HX-Request": "true", "HX-Current-URL": "https://evil.example/x"})
    assert panel["HX-Redirect"] == "/signin/?next=%2F"


def test_a_bearer_token_opens_nothing(browser: Browser, provider: Provider) -> None:
    browser.sign_in()
    stranger = Client(headers={"host": "localhost:8000", "Authorization": f"Bearer {provider.last_token}"})
    assert stranger.get("/api/portal/fleet").status_code == 401
    assert stranger.get("/whoami/").status_code == 302


def test_the_sign_in_pages_are_outside_the_wall(browser: Browser) -> None:
    for address in ("/signed-out/", "/livez"):
        assert browser.get(address).status_code == 200
    assert browser.get("/signin/")["Location"].startswith(browser.provider.issuer)


def test_sign_out_ends_the_session_here_and_then_at_the_provider(browser: Browser, provider: Provider) -> None:
    browser.sign_in()
    response = browser.post("/signout/")
    assert response.status_code == 200
    where = urlsplit(response["Refresh"].removeprefix("0; url="))
    assert f"{where.scheme}://{where.netloc}{where.path}" == f"{provider.issuer}/end"
    assert parse_qs(where.query) == {
        "client_id": ["portal"],
        "post_logout_redirect_uri": ["http://localhost:8000/signed-out/"],
    }
    assert browser.get("/whoami/").status_code == 302


def test_sign_out_works_while_the_provider_is_down(browser: Browser, settings: Settings) -> None:
    sign_in(browser, "ada")
    settings.OIDC_ISSUER = "http://127.0.0.1:1"
    response = browser.post("/signout/")
    assert response["Location"] == "/signed-out/"
    assert browser.get("/whoami/").status_code == 302


def test_sign_out_by_a_link_or_from_another_site_does_nothing(browser: Browser) -> None:
    sign_in(browser, "ada")
    assert browser.get("/signout/").status_code == 405
    assert browser.post("/signout/", headers={"Origin": "https://evil.example"}).status_code == 403
    assert browser.post("/signout/", headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
    assert browser.get("/whoami/").status_code == 200
