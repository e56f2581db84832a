"""Forged and unfit ID tokens: each is refused with a page for a person and a log line without claims."""

import json
import time
from typing import Any

import jwt
import pytest
from pytest_django.fixtures import Settings

from taugrid_portal.models import Account
from tests.site.conftest import Browser
from tests.site.provider import CLIENT_ID, Provider, Sign, SigningKey, forge

pytestmark = pytest.mark.django_db


def test_an_honest_sign_in_reaches_the_page_that_was_asked_for(browser: Browser) -> None:
    response = browser.sign_in("/whoami/?a=b")
    assert response.status_code == 302
    assert response["Location"] == "/whoami/?a=b"
    assert browser.get("/whoami/").json()["username"] == "ada-1"


def test_an_elliptic_curve_key_is_as_good(browser: Browser, provider: Provider) -> None:
    provider.published = [SigningKey.ec("curve")]
    assert browser.sign_in().status_code == 302


def at(seconds: int) -> int:
    return int(time.time()) + seconds


REFUSED_CLAIMS = [
    pytest.param({"iss": "https://other.example"}, "token_issuer", id="another issuer"),
    pytest.param({"iss": None}, "token_claim_missing", id="issuer null"),
    pytest.param({"iss": ["http://127.0.0.1"]}, "token_issuer", id="issuer a list"),
    pytest.param({"aud": "another-client"}, "token_audience", id="another audience"),
    pytest.param({"aud": []}, "token_claim_missing", id="no audience"),
    pytest.param({"aud": {"portal": 1}}, "token_audience", id="audience an object"),
    pytest.param({"aud": [CLIENT_ID, "other"]}, "token_party", id="several audiences without azp"),
    pytest.param({"aud": [CLIENT_ID, "other"], "azp": "other"}, "token_party", id="several, azp another"),
    pytest.param({"azp": "other"}, "token_party", id="one audience, azp another"),
    pytest.param({"exp": at(-3600)}, "token_expired", id="expired"),
    pytest.param({"exp": "tomorrow"}, "token_malformed", id="expiry a word"),
    pytest.param({"exp": 1e400}, "token_malformed", id="expiry infinite"),
    pytest.param({"nbf": at(3600)}, "token_not_yet_valid", id="not yet valid"),
    pytest.param({"iat": at(3600)}, "token_not_yet_valid", id="issued in the future"),
    pytest.param({"nonce": "another sign-in's"}, "token_nonce", id="another nonce"),
    pytest.param({"nonce": 5}, "token_nonce", id="nonce a number"),
    pytest.param({"sub": 7}, "subject_invalid", id="subject a number"),
    pytest.param({"sub": ""}, "subject_invalid", id="subject empty"),
    pytest.param({"sub": "a\nb"}, "subject_invalid", id="subject with a line break"),
    pytest.param({"sub": "a" * 256}, "subject_invalid", id="subject too long"),
]


@pytest.mark.parametrize(("claims", "code"), REFUSED_CLAIMS)
def test_claims_that_do_not_fit_are_refused(
    browser: Browser, claims: dict[str, Any], code: str, caplog: pytest.LogCaptureFixture
) -> None:
    response = browser.sign_in(**claims)
    assert_refused(browser, response, code, caplog)


@pytest.mark.parametrize("claim", ["iss", "aud", "sub", "exp", "iat", "nonce"])
def test_a_token_that_leaves_a_claim_out_is_refused(
    browser: Browser, provider: Provider, claim: str, caplog: pytest.LogCaptureFixture
) -> None:
    provider.sign = Sign(without=(claim,))
    response = browser.sign_in()
    assert_refused(browser, response, "token_claim_missing", caplog)


def test_several_audiences_are_accepted_when_we_are_the_party(browser: Browser) -> None:
    assert browser.sign_in(aud=["other", CLIENT_ID], azp=CLIENT_ID).status_code == 302


def test_an_unsigned_token_is_refused(browser: Browser, provider: Provider, caplog: pytest.LogCaptureFixture) -> None:
    for algorithm in ("none", "None", "nOnE", ""):
        provider.sign.forged = lambda claims, alg=algorithm: forge({"alg": alg, "kid": "first"}, claims)
        assert_refused(browser, browser.sign_in(), "token_algorithm", caplog)


def test_the_public_key_as_a_shared_secret_is_refused(
    browser: Browser, provider: Provider, caplog: pytest.LogCaptureFixture
) -> None:
    pem = provider.original_key.pem()
    provider.sign.forged = lambda claims: forge({"alg": "HS256", "kid": "first"}, claims, hmac_key=pem)
    assert_refused(browser, browser.sign_in(), "token_algorithm", caplog)


def test_a_shared_secret_is_refused_even_where_the_settings_ask_for_it(
    browser: Browser, provider: Provider, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    settings.OIDC_SIGNING_ALGORITHMS = ["HS256", "none"]
    pem = provider.original_key.pem()
    provider.sign.forged = lambda claims: forge({"alg": "HS256", "kid": "first"}, claims, hmac_key=pem)
    assert_refused(browser, browser.sign_in(), "token_algorithm", caplog)


def test_a_signature_by_another_key_under_a_known_id_is_refused(
    browser: Browser, provider: Provider, caplog: pytest.LogCaptureFixture
) -> None:
    provider.sign = Sign(key=SigningKey.rsa("first"))
    assert_refused(browser, browser.sign_in(), "token_signature", caplog)


def test_a_key_in_the_tokens_own_header_counts_for_nothing(
    browser: Browser, provider: Provider, caplog: pytest.LogCaptureFixture
) -> None:
    own = SigningKey.rsa("own")
    provider.sign = Sign(key=own, header={"jwk": own.public(), "jku": "https://evil.example/keys"})
    assert_refused(browser, browser.sign_in(), "token_key_unknown", caplog)


def test_a_changed_payload_is_refused(browser: Browser, provider: Provider, caplog: pytest.LogCaptureFixture) -> None:
    def swap(claims: dict[str, Any]) -> str:
        key = provider.original_key
        honest = jwt.encode(claims, key.private, "RS256", headers={"kid": key.kid})
        header, _, signature = honest.split(".")
        return f"{header}.{forge({}, claims | {'sub': 'root'}).split('.')[1]}.{signature}"

    provider.sign.forged = swap
    assert_refused(browser, browser.sign_in(), "token_signature", caplog)


def test_an_unknown_key_is_looked_for_once_more_and_no_oftener(
    browser: Browser, provider: Provider, caplog: pytest.LogCaptureFixture
) -> None:
    browser.sign_in()
    asked_before = provider.asked.count("/keys")
    browser.logout()
    provider.sign = Sign(key=SigningKey.rsa("nowhere"))
    assert_refused(browser, browser.sign_in(), "token_key_unknown", caplog)
    assert provider.asked.count("/keys") == asked_before + 1


def test_a_rotated_key_is_found(browser: Browser, provider: Provider) -> None:
    browser.sign_in()
    browser.logout()
    provider.published = [SigningKey.rsa("second"), provider.original_key]
    assert browser.sign_in().status_code == 302


def test_a_key_that_is_no_longer_published_is_refused_after_the_keys_are_read_again(
    browser: Browser, provider: Provider, caplog: pytest.LogCaptureFixture
) -> None:
    provider.published = [SigningKey.rsa("second")]
    provider.sign = Sign(key=provider.original_key)
    assert_refused(browser, browser.sign_in(), "token_key_unknown", caplog)


def test_a_token_without_a_key_id_is_accepted_where_only_one_key_can_be_meant(
    browser: Browser, provider: Provider
) -> None:
    provider.published = [provider.original_key, SigningKey.ec("curve")]
    provider.sign = Sign(header={"kid": None})
    assert browser.sign_in().status_code == 302


def test_a_token_without_a_key_id_is_refused_where_two_keys_can_be_meant(
    browser: Browser, provider: Provider, caplog: pytest.LogCaptureFixture
) -> None:
    provider.published = [provider.original_key, SigningKey.rsa("second")]
    provider.sign = Sign(header={"kid": None})
    assert_refused(browser, browser.sign_in(), "token_key_unknown", caplog)


def test_a_short_key_is_refused(browser: Browser, provider: Provider, caplog: pytest.LogCaptureFixture) -> None:
    provider.published = [SigningKey.rsa("short", bits=1024)]
    with pytest.warns(jwt.warnings.InsecureKeyLengthWarning):
        response = browser.sign_in()
    assert_refused(browser, response, "token_key_unknown", caplog)


@pytest.mark.parametrize("token", [None, 5, "", "a.b", "a.b.c", "…", "x" * 70000, {"a": 1}])
def test_what_is_no_token_is_refused(
    browser: Browser, provider: Provider, token: object, caplog: pytest.LogCaptureFixture
) -> None:
    provider.answers["/token"] = (200, json.dumps({"id_token": token}).encode())
    assert_refused(browser, browser.sign_in(), "token_malformed", caplog)


def assert_refused(
    browser: Browser, response: Any, code: str, caplog: pytest.LogCaptureFixture, status: int = 403
) -> None:
    """A page with a way on, nobody signed in, no account made, and a log line that holds the code and no claim."""
    assert response.status_code == status, response.content
    page = response.content.decode()
    assert "Sign in again" in page
    assert "/signin/?next=%2Fwhoami%2F" in page
    assert browser.get("/whoami/").status_code == 302
    assert not Account.objects.exclude(subject="ada-1").exists()
    lines = [record.getMessage() for record in caplog.records if "sign-in refused" in record.getMessage()]
    assert any(f"'reason': '{code}'" in line for line in lines), lines
    everything = caplog.text
    for secret in ("ada-1", "platform-admins", "an-access-token", browser.provider.last_token or "no token"):
        assert secret not in everything
