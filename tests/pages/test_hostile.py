"""Text that workloads wrote is shown, never obeyed: on no page and in no attribute."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from checks import vocabulary
from checks.models import Check, Cluster, Namespace, Node, Queue, Result, Run, Step

from .conftest import NOW, Browser

SCRIPT = "<script>alert(1)</script>'\"><img src=x onerror=alert(1)>"
NAME = "a?b#c%2F .. " + SCRIPT.replace("/", "") + " gnorts \u202e\u200b"
TRICKS = "safe\u202egnorts\u2066\u200b\x1b[31m\u00ad\u2028end"
NASTY = f"{SCRIPT} {TRICKS}"
PANELS = ("", "targets/", "evidence/", "cleanup/", "lifecycle/", "details/", "raw/", "runs/")


@pytest.fixture
def nasty(admin: Browser) -> Check:
    """A check of which everything that somebody else writes is hostile, names included."""
    Cluster.objects.filter(name="west-1").update(problem=NASTY, guard_why=NASTY)
    Namespace.objects.create(cluster_id="west-1", name=NASTY[:200], uid="n", content="")
    Queue.objects.create(cluster_id="west-1", name=NASTY[:200], uid="q", content="", pending=99)
    Node.objects.create(
        cluster_id="west-1", name=NASTY[:200], uid="n", content="", site=NASTY[:200], pool=NASTY[:200], sku=NASTY[:200],
        signal="fault", signal_faults=NASTY, signal_until=NOW,
    )  # fmt: skip
    check = Check.objects.create(
        cluster_id="west-1", namespace="team-vision", name=NAME, title=NASTY[:200], search=NAME, type=NASTY[:200],
        owner=NASTY[:200], registered=True, uid="c", content="", body=body(NASTY),
    )  # fmt: skip
    run = Run.objects.create(
        cluster_id="west-1", namespace="team-vision", name=NASTY[:200], uid="x?y<b>\u202e", content="", subject=check,
        run_id=NASTY[:60], phase="Sealed", reason=NASTY[:200], created_at=NOW, body=body(NASTY),
    )  # fmt: skip
    result = Result.objects.create(
        cluster_id="west-1", namespace="team-vision", name=NASTY[:200], uid="r", content="", subject=check, run=run,
        run_uid=run.uid, publisher=NASTY, stated_digest=NASTY[:200], body=body(NASTY), state="Unknown",
        reason="malformed_result", created_at=NOW,
    )  # fmt: skip
    Check.objects.filter(pk=check.pk).update(run=run, result=result)
    Step.objects.create(
        subject=check, since="1970-01-01T00:00:00Z", state="Unknown", reason="registration_invalid", severity=2
    )
    return check


def body(text: str) -> str:

    return json.dumps(
        {"metadata": {"name": text, "namespace": text, "uid": text}, "spec": {text: text}, "status": text}
    )


def pages(admin: Browser, check: Check) -> Iterator[tuple[str, Any]]:
    listed = admin.open("/checks/?q=gnorts")
    yield "checks", listed
    yield "fleet", admin.open("/")
    yield "nodes", admin.open("/nodes/?condition=fault")
    base = listed.links("tbody a.name")[0]
    for panel in PANELS:
        yield panel, admin.open(base + panel)
    run = admin.open(base).links(".strip a")[0]
    for panel in PANELS[:-1]:
        yield f"run {panel}", admin.open(run + panel)


def test_no_page_obeys_hostile_text(admin: Browser, nasty: Check) -> None:
    seen = 0
    for name, page in pages(admin, nasty):
        scripts = {script.get("src") for script in page.every("script")}
        assert scripts == {"/static/django_htmx/htmx-2.min.js", "/static/live.js"}, name
        assert not page.every("img, iframe, object, embed, style, [style], [onerror], [onclick]"), name
        text = page.body.decode()
        assert not vocabulary._ODD.search(text), name
        seen += "⟨U+202E⟩" in text
    assert seen > 10


def test_a_name_that_no_address_can_hold_still_has_its_row(admin: Browser, nasty: Check) -> None:
    Check.objects.filter(pk=nasty.pk).update(name="../a/b")
    page = admin.open("/checks/?q=gnorts")
    assert page.links("tbody a.name") == ["/checks/west-1/team-vision/..%2Fa%2Fb/"]


@pytest.mark.parametrize(
    "odd", ["\u202e", "\u2066", "\u200b", "\ufeff", "\x00", "\x1b", "\x85", "\u2029", "\U000e0041", "\u00ad"]
)
def test_a_character_that_hides_or_reverses_is_shown_by_its_code(odd: str) -> None:
    assert vocabulary.visible(f"a{odd}b") == f"a⟨U+{ord(odd):04X}⟩b"


def test_ordinary_text_of_any_language_stays_as_it_is() -> None:
    for text in ("Größe, naïve, 日本語, עברית, العربية, हिन्दी", "a\n\tb", "№ 1 – ½ … 🚀"):
        assert vocabulary.visible(text) == text


def test_one_malformed_row_changes_nothing_about_the_others(admin: Browser, nasty: Check) -> None:
    from .test_lists import rows

    with_it = rows(admin)
    nasty.delete()
    assert [row for row in with_it if not row[1].startswith("a?b")] == rows(admin)
