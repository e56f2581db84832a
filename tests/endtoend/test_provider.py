"""A real provider that changes its keys, or stops answering in the middle of a sign-in."""

import signal
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.cluster.bed.keycloak import PASSWORDS, Keycloak
from tests.endtoend.conftest import BLUE, PATIENCE

pytestmark = pytest.mark.cluster


def test_new_keys_of_the_provider_are_taken_up_at_once(signed_in: Callable[[str], Page], keycloak: Keycloak) -> None:
    before = signed_in("ben")
    realm = keycloak.admin("GET", "")
    key = {
        "name": "new",
        "providerId": "rsa-generated",
        "providerType": "org.keycloak.keys.KeyProvider",
        "parentId": realm["id"],
        "config": {"priority": ["500"], "enabled": ["true"], "active": ["true"], "algorithm": ["RS256"]},
    }
    keycloak.admin("POST", "components", key)
    try:
        after = signed_in("cleo")  # signed with a key that the portal has never seen
        expect(after.get_by_text("oidc:cleo")).to_be_visible()
        before.reload()
        expect(before.get_by_text("oidc:ben")).to_be_visible()
    finally:
        (made,) = [each for each in keycloak.admin("GET", "components?name=new") if each["name"] == "new"]
        keycloak.admin("DELETE", f"components/{made['id']}")
    again = signed_in("ada")  # and back to the old key
    expect(again.get_by_text("oidc:ada")).to_be_visible()


def test_a_provider_that_hangs_in_the_middle_of_a_sign_in(
    portal: str, signed_in: Callable[[str], Page], new_page: Callable[[], Page], keycloak: Keycloak
) -> None:
    ben, cleo = signed_in("ben"), new_page()
    cleo.goto("/checks/")
    action = cleo.locator("form").get_attribute("action") or ""
    typed: dict[str, str | float | bool] = {"username": "cleo", "password": PASSWORDS["cleo"]}
    way_back = cleo.request.post(action, form=typed, max_redirects=0).headers["location"]
    assert way_back.startswith(f"{portal}/signin/callback/")
    keycloak.server.signal(signal.SIGSTOP)
    try:
        cleo.goto(way_back)
        expect(cleo.get_by_text("too long to answer")).to_be_visible(timeout=PATIENCE)
        ben.goto("/checks/")
        expect(ben.locator("tbody")).to_contain_text(BLUE)
    finally:
        keycloak.server.signal(signal.SIGCONT)
    cleo.get_by_role("link", name="Sign in again").click()  # Keycloak knows her by now and asks nothing
    cleo.wait_for_url(f"{portal}/checks/")
    expect(cleo.get_by_text("oidc:cleo")).to_be_visible()
