"""Three people sign in; what each sees is what role bindings say, for as long as they and their groups say it."""

import time
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from taugrid_portal.access.kubernetes import YES_SECONDS
from tests.cluster.bed.control import ControlPlane
from tests.cluster.bed.keycloak import Keycloak
from tests.endtoend.conftest import BLUE, BLUE_BINDING, GREEN, NODE, PATIENCE

pytestmark = pytest.mark.cluster
SignIn = Callable[[str], Page]
RENEWED = 60  # seconds, as the portal was told


def spaces(page: Page) -> set[str]:
    """The workspaces of this test on the list of checks, as the page says it now."""
    page.goto("/checks/")
    page.wait_for_url("**/checks/")
    found = {place.split("\n")[0] for place in page.locator("tbody .c-place").all_inner_texts()}
    return found & {BLUE, GREEN}


def until(page: Page, expected: set[str], seconds: float) -> float:
    """Loads the list of checks again and again until it shows these workspaces; how many seconds that took."""
    began = time.monotonic()
    while (found := spaces(page)) != expected:
        assert time.monotonic() - began < seconds, f"still {found} after {seconds} s"
        page.wait_for_timeout(1000)
    return time.monotonic() - began


@pytest.mark.parametrize(
    ("name", "expected"), [("ada", {BLUE, GREEN}), ("ben", {BLUE}), ("cleo", {BLUE, GREEN})], ids=["ada", "ben", "cleo"]
)
def test_each_sees_the_workspaces_that_role_bindings_give(signed_in: SignIn, name: str, expected: set[str]) -> None:
    page = signed_in(name)
    until(page, expected, 60)  # the sync may still be listing
    expect(page.get_by_text(f"oidc:{name}")).to_be_visible()


def test_what_somebody_may_not_read_is_not_there_at_any_address(signed_in: SignIn) -> None:
    ben = signed_in("ben")
    until(ben, {BLUE}, 60)
    own, other = (f"/checks/west-1/{space}/ib-pair/" for space in (BLUE, GREEN))
    ben.goto(own)
    expect(ben.locator("#verdict-state")).to_have_text("Unknown")
    statuses = {path: ben.request.get(path).status for path in (other, f"{other}evidence/", f"{other}raw/")}
    assert set(statuses.values()) == {404}, statuses
    answer = ben.request.get("/api/portal/checks").json()
    assert GREEN not in str(answer) and BLUE in str(answer)
    assert NODE not in ben.request.get("/nodes/").text()
    assert ben.get_by_role("link", name="Registrations").count() == 0


def test_an_approver_sees_the_fleet_and_the_registrations(signed_in: SignIn) -> None:
    ada = signed_in("ada")
    until(ada, {BLUE, GREEN}, 60)
    ada.goto("/nodes/")
    expect(ada.get_by_text(NODE).first).to_be_visible()
    ada.get_by_role("link", name="Registrations").click()
    expect(ada.locator("#result_list, main").get_by_text(GREEN).first).to_be_visible()


def test_signing_out_ends_the_session_here_and_at_the_provider(portal: str, signed_in: SignIn) -> None:
    page = signed_in("ben")
    before = page.context.cookies(portal)
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("button", name="Logout").click()  # Keycloak asks, since it is not sent the ID token
    page.wait_for_url("**/signed-out/**")
    page.goto("/checks/")
    expect(page.get_by_label("Username")).to_be_visible(timeout=PATIENCE)
    page.context.add_cookies(before)  # type: ignore[arg-type]
    assert page.request.get("/api/portal/checks").status == 401, "the old cookie still opens the portal"


def test_rights_groups_and_sessions_that_are_taken_away_are_gone_in_time(
    signed_in: SignIn, workspaces: ControlPlane, keycloak: Keycloak
) -> None:
    ben, cleo, ada = signed_in("ben"), signed_in("cleo"), signed_in("ada")
    for page, expected in ((ben, {BLUE}), (cleo, {BLUE, GREEN}), (ada, {BLUE, GREEN})):
        until(page, expected, 60)
    (account,) = keycloak.admin("GET", "users?exact=true&username=ada")
    keycloak.leave("cleo", "team-green")
    keycloak.admin("POST", f"users/{account['id']}/logout")
    workspaces.kubectl("delete", "rolebinding", "blue", "--namespace", BLUE)
    began = time.monotonic()
    try:
        assert spaces(cleo) >= {GREEN}, "groups are those of the last token until it is renewed"
        until(ben, set(), YES_SECONDS + 15)
        until(cleo, set(), max(began + RENEWED + 15 - time.monotonic(), 5))
        ada.wait_for_timeout(max(0, began + RENEWED + 1 - time.monotonic()) * 1000)
        ada.goto("/checks/")
        expect(ada.get_by_label("Username")).to_be_visible(timeout=PATIENCE)
    finally:
        keycloak.join("cleo", "team-green")
        workspaces.apply([BLUE_BINDING])
    until(ben, {BLUE}, 30)
