"""What people do: sign in, look, open panels, use keys alone, leave the page open, and do without JavaScript."""

import re
from urllib.parse import urlsplit

from playwright.sync_api import Page, expect

from .conftest import Open, Watch

PASSED = "/checks/west-1/team-vision/ib-pair/"
LIVING = "/checks/west-1/team-vision/tour/"


def path(page: Page) -> str:
    return urlsplit(page.url).path


def test_signing_in_leads_back_to_where_one_wanted_to_go_and_out_again(portal: str, open_page: Open) -> None:
    page = open_page(PASSED, person="")
    expect(page.get_by_role("heading", name="Who are you today?")).to_be_visible()
    page.get_by_role("button", name="Olu").click()
    expect(page.get_by_role("heading", name="Inter-node InfiniBand", exact=True)).to_be_visible()
    assert path(page) == PASSED
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url("**/signed-out/**")
    page.goto(f"{portal}/checks/")
    expect(page.get_by_role("heading", name="Who are you today?")).to_be_visible()


def test_from_the_fleet_to_the_proof_of_a_failure(open_page: Open) -> None:
    page = open_page("/")
    expect(page.get_by_text("Sample data:")).to_be_visible()
    page.locator("#check-summary .name").first.click()
    expect(page.locator("#verdict-state")).to_have_text("Failed")
    expect(page.get_by_role("heading", name="Why is this Failed?")).to_be_visible()
    page.locator(".next a.link").first.click()
    clause = page.locator(".clause[data-decides]")
    expect(clause).to_be_in_viewport()
    assert urlsplit(page.url).fragment == clause.get_attribute("id")


def test_filters_are_one_form_and_a_state_is_one_click(open_page: Open) -> None:
    page = open_page("/checks/")
    page.get_by_label("Workspace").select_option("team-speech")
    page.get_by_label("Text").fill("infiniband")
    page.get_by_role("button", name="Filter").click()
    rows = page.locator("tbody tr")
    expect(rows.first).to_contain_text("team-speech")
    before = rows.count()
    page.get_by_role("link", name=re.compile("Passed")).click()
    assert rows.count() < before
    assert "workspace=team-speech" in page.url and "state=Passed" in page.url


def test_a_panel_opens_in_place_has_an_address_and_the_way_back_works(open_page: Open, watch: Watch) -> None:
    page = open_page(PASSED)
    page.evaluate("window.same = true")
    asked = len(watch.asked)
    page.locator("#tab-evidence").click()
    expect(page.locator("#panel-evidence")).to_be_visible()
    assert path(page) == f"{PASSED}evidence/"
    assert f"{PASSED}evidence/" in [urlsplit(each).path for each in watch.asked[asked:]]
    assert page.evaluate("window.same") is True
    page.go_back()
    expect(page.locator("#panel-targets")).to_be_visible()
    page.goto(f"{PASSED}evidence/")
    expect(page.locator("#panel-evidence")).to_be_visible()


def test_everything_works_with_keys_alone(open_page: Open) -> None:
    page = open_page("/")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="To the content")).to_be_focused()
    expect(page.get_by_role("link", name="To the content")).to_be_in_viewport()
    page.keyboard.press("Enter")
    press_tab_until(page, "#check-summary .rows a")
    page.keyboard.press("Enter")
    page.wait_for_url("**/checks/**")
    press_tab_until(page, ".clause a.says")
    press_tab_until(page, "#tab-cleanup")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
    page.keyboard.press("Enter")
    expect(page.locator("#panel-cleanup")).to_be_visible()
    expect(page.locator("#tab-cleanup")).to_be_focused()


def press_tab_until(page: Page, selector: str) -> None:
    for _ in range(150):
        page.keyboard.press("Tab")
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"no way to {selector} with Tab")


def test_an_open_page_keeps_up_and_says_what_changed(open_page: Open) -> None:
    page = open_page(f"{LIVING}lifecycle/")
    page.evaluate("window.same = true")
    before = page.locator("#verdict").get_attribute("data-state")
    page.locator("#tab-lifecycle").focus()
    page.wait_for_function(
        "before => document.querySelector('#verdict').dataset.state !== before", arg=before, timeout=110_000
    )
    after = page.locator("#verdict").get_attribute("data-state")
    expect(page.locator("#announcer")).to_contain_text(f"is now {after}, was {before}.")
    expect(page.locator("#tab-lifecycle")).to_be_focused()
    assert page.evaluate("window.same") is True
    assert page.title().endswith(f"{after} · TauGrid Portal")


def test_a_page_that_did_not_change_is_not_sent_again_and_a_hidden_one_does_not_ask(open_page: Open) -> None:
    page = open_page("/", person="Nils")  # the sample does not move for somebody who sees nothing of it
    statuses: list[int] = []
    page.on("response", lambda answer: None if "/static/" in answer.url else statuses.append(answer.status))
    page.wait_for_timeout(16_500)
    assert 304 in statuses and statuses.count(200) <= 1
    page.evaluate("Object.defineProperty(document, 'hidden', {get: () => true})")
    page.wait_for_timeout(1000)
    statuses.clear()
    page.wait_for_timeout(7000)
    assert statuses == []


def test_without_javascript_every_page_and_panel_is_whole(open_page: Open) -> None:
    page = open_page("/", script=False)
    page.locator("#check-summary .name").first.click()
    for panel in ("Evidence", "Cleanup", "Lifecycle", "Details", "Raw", "Targets"):
        page.locator(".tabs a", has_text=panel).click()
        expect(page.locator(f"#panel-{panel.lower()}")).to_be_visible()
        expect(page.locator("#proof")).to_be_visible()


def test_people_see_what_they_may_and_nobody_a_word_more(open_page: Open) -> None:
    olu = open_page("/checks/", person="Olu")
    places = set(olu.locator("tbody .c-place .ell").all_inner_texts())
    assert places == {"team-vision"}
    assert olu.get_by_role("link", name="Registrations").count() == 0
    olu.goto("/checks/west-1/team-speech/ib-pair/")
    expect(olu.get_by_role("heading", name="Nothing here")).to_be_visible()
    nils = open_page("/", person="Nils")
    expect(nils.get_by_text("There is nothing here that you may see")).to_be_visible()
