"""Every page in both colour schemes and on a small screen: nothing to stumble over, nothing too small, nothing cut."""

from importlib.resources import files

import pytest
from playwright.sync_api import Page

from checks.contract.reasons import State
from checks.sample import SCENARIOS

from .conftest import Open

AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text()
PASSED = "/checks/west-1/team-vision/ib-pair/"
PANELS = ("targets", "evidence", "cleanup", "lifecycle", "details", "raw")


def of_state(state: State) -> str:
    found = next(s for s in SCENARIOS if s.state is state and s.cluster != "north-1")
    return f"/checks/{found.cluster}/{found.namespace}/{found.name}/"


PAGES = {
    "fleet": "/",
    "nodes": "/nodes/?cluster=west-1",
    "checks": "/checks/",
    "no checks": "/checks/?q=nothing-is-called-this",
    **{f"{state} check": of_state(state) for state in State},
    **{f"{panel} panel": f"{PASSED}{panel}/" for panel in PANELS},
    "what remains": next(
        f"/checks/{s.cluster}/{s.namespace}/{s.name}/cleanup/" for s in SCENARIOS if s.reason == "cleanup_incomplete"
    ),
    "runs": f"{PASSED}runs/",
    "tour": "/tour/",
    "registrations": "/admin/checks/check/",
    "review": "/admin/checks/check/west-1/team-vision/ib-pair/",
    "not found": "/checks/no/such/check/",
    "not readable": "/checks/?state=Green",
}


def violations(page: Page) -> list[str]:
    page.evaluate(AXE)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{each['id']}: {node['target']} {node['failureSummary']}"
        for each in found["violations"]
        for node in each["nodes"]
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing(name: str, scheme: str, open_page: Open) -> None:
    assert violations(open_page(PAGES[name], scheme=scheme)) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_a_run_or_without_rights(scheme: str, open_page: Open) -> None:
    page = open_page(PASSED, scheme=scheme)
    page.locator(".strip a").nth(20).click()
    page.wait_for_url("**/runs/**")
    assert violations(page) == []
    assert violations(open_page("/", person="Nils", scheme=scheme)) == []


@pytest.mark.parametrize("name", PAGES)
def test_a_screen_of_360_pixels_needs_no_sideways_scrolling_and_has_no_small_text(name: str, open_page: Open) -> None:
    page = open_page(PAGES[name], width=360)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    outside = page.evaluate(
        """[...document.querySelectorAll('main *')].filter(each => {
             const box = each.getBoundingClientRect();
             const hidden = each.closest('.scroll, .tabs, pre, .visually-hidden, svg');
             return !hidden && box.width && box.right > innerWidth + 1;
           }).map(each => each.outerHTML.slice(0, 120))"""
    )
    assert outside == []
    small = page.evaluate(
        """[...document.querySelectorAll('body *')].filter(each =>
             [...each.childNodes].some(node => node.nodeType === 3 && node.textContent.trim()) &&
             parseFloat(getComputedStyle(each).fontSize) < 12).map(each => each.outerHTML.slice(0, 120))"""
    )
    assert small == []
    assert violations(page) == []


def test_columns_of_rows_line_up(open_page: Open) -> None:
    page = open_page("/")
    for part in (".name", ".place", ".says", ".when"):
        lefts = page.evaluate(
            f"[...document.querySelectorAll('.rows {part}')].map(each => Math.round(each.getBoundingClientRect().x))"
        )
        assert len(lefts) > 2 and len(set(lefts)) == 1, part


def test_print_leaves_out_what_paper_cannot_do(open_page: Open) -> None:
    page = open_page(PASSED)
    page.emulate_media(media="print")
    assert not page.locator(".tabs").is_visible()
    assert page.locator("#proof").is_visible()
