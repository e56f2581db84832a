"""The panels of a check and of its runs: each has an address, and tells what the verdict was read from."""

import json
from typing import Any

import pytest

from checks.models import Check, Result, Run
from checks.sample import SCENARIOS

from .conftest import Browser, Page
from .test_verdicts import address

PANELS = ("targets", "evidence", "cleanup", "lifecycle", "details", "raw")
PASSED = "/checks/west-1/team-vision/ib-pair/"
HTMX: Any = {"hx-request": "true", "hx-target": "panels"}


def by_reason(reason: str) -> str:
    return address(next(s for s in SCENARIOS if s.reason == reason))


@pytest.mark.parametrize("panel", PANELS)
def test_each_panel_is_a_whole_page_at_its_own_address_and_a_part_for_htmx(panel: str, admin: Browser) -> None:
    whole, part = admin.open(f"{PASSED}{panel}/"), admin.open(f"{PASSED}{panel}/", **HTMX)
    assert whole.every("#verdict, #proof") and not part.every("#verdict, #proof, html")
    assert str(whole.one("#panels")) == str(part.one("#panels"))
    assert whole.one(f"#panel-{panel}")
    assert whole.words(".tabs [aria-current]")[0].lower().startswith(panel)


def test_every_htmx_link_has_an_address_that_works_without_javascript(admin: Browser) -> None:
    links = admin.open(PASSED).every("[hx-get]")
    assert len(links) == len(PANELS)
    for link in links:
        assert link["href"].partition("#")[0] == link["hx-get"] == link["hx-push-url"]


@pytest.mark.parametrize("reason", sorted({s.reason for s in SCENARIOS})[::2])
def test_no_panel_breaks_whatever_the_verdict(reason: str, admin: Browser) -> None:
    for panel in PANELS:
        assert admin.open(f"{by_reason(reason)}{panel}/", **HTMX).one(f"#panel-{panel}").get_text(strip=True)


def test_targets_say_what_became_of_each_node(admin: Browser) -> None:
    assert admin.open(PASSED).words("#panel-targets tbody td .state")[0] == "same machine"
    replaced = admin.open(by_reason("target_replaced"))
    assert any("replaced" in row for row in replaced.words("#panel-targets tbody tr"))
    assert "Stale" in replaced.words("#panel-targets .state")
    left = admin.open(by_reason("targets_incomplete"))
    assert "3 of 4 requested. Left out: gpu-19." in left.words("#panel-targets .note")[0]


def test_targets_have_the_matrix_and_the_series_that_the_registration_points_at(admin: Browser) -> None:
    page = admin.open(PASSED)
    assert len(page.every(".matrix tbody tr")) == 2
    values = [cell for cell in page.words(".matrix td.num") if cell != "—"]
    assert values and all(float(value) for value in values)
    assert page.one(".series svg")["aria-label"].startswith("Bus bandwidth")
    assert len(page.every(".numbers tbody tr")) > 10


def test_evidence_is_verified_not_verified_missing_or_different(admin: Browser) -> None:
    words = {
        PASSED: "Verified",
        by_reason("evidence_missing"): "Missing",
        by_reason("evidence_unverified"): "Not verified",
        by_reason("evidence_mismatch"): "Differs",
    }
    for path, word in words.items():
        assert word in admin.open(f"{path}evidence/").words("#panel-evidence .state"), path
    row = admin.open(f"{PASSED}evidence/").words("#panel-evidence tbody tr")[0]
    assert "required" in row and " B" in row


def test_cleanup_lists_what_remains(admin: Browser) -> None:
    assert "gone" in admin.open(f"{PASSED}cleanup/").words("#panel-cleanup tbody .state")
    left = admin.open(f"{by_reason('cleanup_incomplete')}cleanup/")
    assert "remains" in left.words("#panel-cleanup tbody .state")
    assert "not seen" in admin.open(f"{by_reason('cleanup_unknown')}cleanup/").words("#panel-cleanup .state")


def test_lifecycle_tells_each_step_with_how_long_it_took(admin: Browser) -> None:
    page = admin.open(f"{PASSED}lifecycle/")
    names = page.words(".timeline .step-name")
    assert names == ["Created", "Queued", "Admitted", "Running", "Completed", "Cleaned", "Sealed"]
    assert len(page.every(".timeline [data-reached]")) == 7
    assert len(page.words(".timeline .took")) == 6
    widths = [float(part["width"].rstrip("%")) for part in page.every(".phases .phase")]
    assert sum(widths) == pytest.approx(100, abs=0.1)
    queued = admin.open(f"{by_reason('queued')}lifecycle/")
    assert queued.words(".timeline [data-now] .step-name") == ["Queued"]
    assert "Must end by" in queued.text


def test_details_are_shown_by_the_hints_and_never_interpreted_for_an_unknown_schema(admin: Browser) -> None:
    page = admin.open(f"{PASSED}details/")
    assert "Bus bandwidth" in page.words(".figures dt")
    assert json.loads(page.one("#panel-details pre").get_text())
    unknown = next(s for s in SCENARIOS if s.reason == "unsupported_schema")
    page = admin.open(address(unknown, "details"))
    assert not page.every(".figures, .matrix, .series")
    assert "result" in page.words("#panel-details")[0]


def test_raw_shows_the_envelope_with_both_digests(admin: Browser) -> None:
    page = admin.open(f"{PASSED}raw/")
    stored = Check.objects.get(cluster="west-1", namespace="team-vision", name="ib-pair").result
    assert stored and json.loads(page.one("#panel-raw pre").get_text()) == json.loads(stored.envelope)
    assert "the same" in page.words("#panel-raw .state")
    broken = admin.open(f"{by_reason('digest_mismatch')}raw/")
    assert "not the same" in broken.words("#panel-raw .state")
    malformed = admin.open(f"{by_reason('malformed_result')}raw/")
    assert "nothing of it is interpreted" in malformed.text
    assert malformed.words("#panel-raw ul.plain li")


def history(page: Page) -> list[Any]:
    return page.every(".strip .run-bar")


def test_the_strip_has_the_last_thirty_runs_and_each_leads_to_its_page(admin: Browser) -> None:
    subject = Check.objects.get(cluster="west-1", namespace="team-vision", name="ib-pair")
    for number in range(3):
        Run.objects.create(
            cluster_id="west-1", subject=subject, namespace="team-vision", name=f"old-{number}", body="{}"
        )
    bars = history(admin.open(PASSED))
    assert len(bars) == 30 < subject.runs.count()
    newest = subject.runs.exclude(created_at=None).order_by("-created_at").first()
    assert newest and bars[-1]["href"] == f"/runs/{newest.uid}/"
    for bar in bars[::10]:
        run = admin.open(bar["href"])
        assert bar["data-state"] in run.words("#said .state")


def test_all_runs_are_listed_once_over_their_pages(admin: Browser) -> None:
    subject = Check.objects.get(cluster="west-1", namespace="team-vision", name="ib-pair")
    found: list[str] = []
    path = f"{PASSED}runs/"
    while path:
        page = admin.open(path)
        found += page.links("tbody a")
        following = page.links("a[rel=next]")
        path = f"{PASSED}runs/{following[0]}" if following else ""
    assert found == [f"/runs/{run.uid}/" for run in subject.runs.order_by("-created_at", "-pk")]
    admin.open(f"{PASSED}runs/?cursor=nonsense", status=400)


def test_an_old_run_does_not_stand_for_the_check_and_says_so(admin: Browser) -> None:
    subject = Check.objects.get(cluster="west-1", namespace="team-vision", name="ib-pair")
    older = subject.runs.order_by("-created_at")[5]
    page = admin.open(f"/runs/{older.uid}/")
    assert "not the newest run" in page.words("#superseded")[0]
    assert page.one("#verdict")["data-state"] == "Stale"
    assert "Passed" in page.words("#said .state")
    newest = admin.open(f"/runs/{subject.run.uid if subject.run else ''}/")
    assert not newest.every("#superseded")


def test_a_run_of_a_controller_without_run_objects_has_its_page(admin: Browser) -> None:
    alone = Result.objects.exclude(run_uid="").exclude(run_uid__in=Run.objects.values("uid")).first()
    assert alone is not None
    page = admin.open(f"/runs/{alone.run_uid}/")
    assert "its own controller published" in page.text
    assert f"/runs/{alone.run_uid}/" in admin.open(page.links(".crumb a")[1]).links(".strip a")


@pytest.mark.parametrize("panel", PANELS)
def test_a_run_has_the_same_panels(panel: str, admin: Browser) -> None:
    subject = Check.objects.get(cluster="west-1", namespace="team-vision", name="ib-pair")
    older = subject.runs.order_by("-created_at")[5]
    page = admin.open(f"/runs/{older.uid}/{panel}/")
    assert page.one(f"#panel-{panel}")
    assert set(page.links(".tabs a")) == {f"/runs/{older.uid}/{name}/#panels" for name in PANELS}


def test_a_panel_that_is_none_does_not_exist(admin: Browser) -> None:
    admin.open(f"{PASSED}secrets/", status=404)
