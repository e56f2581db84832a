"""Who has signed in, and with which groups: read whole or not at all."""

from typing import Any

import pytest
from pytest_django.fixtures import Settings

from taugrid_portal.models import Account
from tests.site.conftest import Browser
from tests.site.test_signin_tokens import assert_refused


def test_an_account_is_an_issuer_and_a_subject(browser: Browser) -> None:
    browser.sign_in(sub="s-1", email="ada@example.org", email_verified=True)
    browser.logout()
    browser.sign_in(sub="s-2", email="ada@example.org", email_verified=True)
    assert Account.objects.count() == 2
    assert browser.get("/whoami/").json()["username"] == "s-2"


def test_a_new_name_leaves_the_account_the_same(browser: Browser, settings: Settings) -> None:
    settings.OIDC_USERNAME_CLAIM = "preferred_username"
    browser.sign_in(preferred_username="ada")
    browser.logout()
    browser.sign_in(preferred_username="ada.lovelace")
    assert Account.objects.get().username == "ada.lovelace"


def test_people_are_named_as_the_api_server_names_them(browser: Browser, settings: Settings) -> None:
    settings.OIDC_USERNAME_CLAIM, settings.OIDC_USERNAME_PREFIX = "preferred_username", "corp:"
    settings.OIDC_GROUPS_CLAIM, settings.OIDC_GROUPS_PREFIX = "roles", "corp:"
    browser.sign_in(preferred_username="ada", roles=["b", "a", "a"])
    who = browser.get("/whoami/").json()
    assert (who["username"], who["groups"]) == ("corp:ada", ["corp:a", "corp:b"])


@pytest.mark.parametrize(
    ("claims", "code", "status"),
    [
        pytest.param({"groups": [f"g{i}" for i in range(300)]}, "too_many_groups", 431, id="300 groups"),
        pytest.param({"groups": ["g" * 200 + str(i) for i in range(90)]}, "too_many_groups", 431, id="17 KiB"),
        pytest.param({"_claim_names": {"groups": "src1"}}, "too_many_groups", 431, id="groups to be fetched"),
        pytest.param({"groups": {"a": 1}}, "groups_malformed", 403, id="groups an object"),
        pytest.param({"groups": ["a", 5]}, "groups_malformed", 403, id="a group that is a number"),
        pytest.param({"groups": ["a", ""]}, "groups_malformed", 403, id="an empty group"),
        pytest.param({"groups": ["a\x00b"]}, "groups_malformed", 403, id="a group with a control character"),
        pytest.param({"groups": ["system:masters"]}, "name_reserved", 403, id="a group of Kubernetes itself"),
        pytest.param({"sub": "system:admin"}, "name_reserved", 403, id="a user of Kubernetes itself"),
    ],
)
def test_rights_are_read_whole_or_not_at_all(
    browser: Browser, claims: dict[str, Any], code: str, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    assert_refused(browser, browser.sign_in(**claims), code, caplog, status)


def test_256_groups_are_read(browser: Browser) -> None:
    browser.sign_in(groups=[f"g{i:03}" for i in range(256)])
    assert len(browser.get("/whoami/").json()["groups"]) == 256


def test_no_groups_and_one_group_as_a_word_are_read(browser: Browser) -> None:
    browser.sign_in(groups=None)
    assert browser.get("/whoami/").json()["groups"] == []
    browser.logout()
    browser.sign_in(groups="operators")
    assert browser.get("/whoami/").json()["groups"] == ["operators"]


@pytest.mark.parametrize("verified", [False, "true", 1, None])
def test_an_unverified_address_is_no_name(
    browser: Browser, settings: Settings, verified: object, caplog: pytest.LogCaptureFixture
) -> None:
    settings.OIDC_USERNAME_CLAIM = "email"
    response = browser.sign_in(email="ada@example.org", email_verified=verified)
    assert_refused(browser, response, "email_unverified", caplog)


def test_a_name_that_is_missing_is_refused(
    browser: Browser, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    settings.OIDC_USERNAME_CLAIM = "preferred_username"
    assert_refused(browser, browser.sign_in(), "username_invalid", caplog)
