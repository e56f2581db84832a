"""The five scenarios as a person meets them in the demo: the answer is on the first screen, wide or narrow."""

import os
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Locator

from checks.sample import STORIES, Scenario

from .conftest import Open

TOLD = [
    pytest.param(story, scenario, id=f"{story}: {scenario.name}")
    for story, scenarios in STORIES.items()
    for scenario in scenarios
]


def whole_on_screen(part: Locator, height: int = 900) -> bool:
    """Whether all of an element is on the first screen."""
    box = part.bounding_box()
    return box is not None and box["height"] > 0 and box["y"] >= 0 and box["y"] + box["height"] <= height


@pytest.mark.parametrize("width", [1280, 360])
def test_the_tour_leads_from_every_page_to_each_scenario(width: int, open_page: Open) -> None:
    page = open_page("/checks/", width=width)
    page.get_by_role("link", name="Tour", exact=True).click()
    page.wait_for_url("**/tour/")
    assert [page.locator(f"#{story}").count() for story in STORIES] == [1] * len(STORIES)
    for story, scenarios in STORIES.items():
        stop = page.locator(f"#{story}")
        assert len(stop.locator(".note").first.inner_text()) > 40
        links = [link.get_attribute("href") for link in stop.get_by_role("link").all()]
        assert links == [f"/checks/{each.cluster}/{each.namespace}/{each.name}/" for each in scenarios]
        states = [item.get_attribute("data-state") for item in stop.locator(".rows li").all()]
        assert states == [str(each.state) for each in scenarios]
    page.locator("#socket-fallback").get_by_role("link").click()
    page.wait_for_url("**/checks/west-1/team-vision/ib-pair-site-b/")
    assert page.locator("#verdict .reason").inner_text() == "socket_fallback_observed"


def test_a_viewer_who_may_not_see_a_check_is_told_who_may(open_page: Open) -> None:
    page = open_page("/tour/", person="Olu")
    assert page.locator("#socket-fallback").get_by_role("link").count() == 1
    other = page.locator("#cleanup-failure")
    assert other.get_by_role("link").count() == 0
    assert "Ada" in other.inner_text()


@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize(("story", "scenario"), TOLD)
def test_the_first_screen_says_state_reason_and_sentence(
    story: str, scenario: Scenario, width: int, open_page: Open, tmp_path: Path
) -> None:
    parts = (scenario.cluster, scenario.namespace, scenario.name)
    page = open_page("/checks/" + "".join(quote(part, safe="") + "/" for part in parts), width=width)
    # SCENARIO_PICTURES=folder keeps what was seen.
    folder = Path(os.environ.get("SCENARIO_PICTURES") or tmp_path)
    picture = page.screenshot(path=folder / f"{story}-{scenario.name}-{width}.png")
    assert picture.startswith(b"\x89PNG")
    banner = page.locator("#verdict")
    for part, text in ((banner.locator("h2"), str(scenario.state)), (banner.locator(".reason"), scenario.reason)):
        assert part.inner_text() == text
        assert whole_on_screen(part)
    sentence = banner.locator(".banner-says > p").first
    assert len(sentence.inner_text()) > 20 and whole_on_screen(sentence)
    assert banner.locator("svg").first.is_visible()
    assert page.locator(".next").first.inner_text().strip()
