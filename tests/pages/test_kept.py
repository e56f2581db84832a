"""Answers that are given again: never to somebody else, never longer than they hold, and always what would be made."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st
from pytest_django.fixtures import Settings

from checks.models import Check, Cluster, Evidence, Node, Step
from checks.queries import keeping
from checks.sample import write_dumps
from checks.sync.dump_load import load
from checks.sync.revision import revise
from checks.vocabulary import ago, steady_until
from taugrid_portal.access.file import read
from tests.site.people import sign_in

from .conftest import ADMINS, NOW, RULES, Browser

ADDRESSES = (
    "/",
    "/checks/",
    "/checks/?state=Passed",
    "/checks/?sort=age&workspace=team-vision",
    "/api/portal/fleet",
    "/api/portal/checks/summary",
    "/api/portal/checks?limit=100",
)


@pytest.fixture(autouse=True)
def keeping_is_on(settings: Settings) -> Iterator[None]:
    settings.ANSWERS_KEPT_SECONDS = 30
    keeping.KEPT = keeping.Kept()
    yield
    keeping.KEPT = keeping.Kept()


def queries(browser: Browser, address: str) -> int:
    with CaptureQueriesContext(connection) as counted:
        assert browser.get(address).status_code == 200
    return len(counted)


def written(**changes: object) -> None:
    """A write as the sync makes them: with another revision."""
    row = Cluster.objects.get(name="west-1")
    for name, value in changes.items():
        setattr(row, name, value)
    revise(row)
    row.save()


@pytest.mark.parametrize("address", ADDRESSES)
def test_the_same_question_is_answered_again_without_being_asked_again(address: str, admin: Browser) -> None:
    first = admin.get(address)
    assert queries(admin, address) <= 3
    assert admin.get(address).content == first.content


@pytest.mark.parametrize("address", ADDRESSES)
def test_keeping_can_be_switched_off(address: str, admin: Browser, settings: Settings) -> None:
    settings.ANSWERS_KEPT_SECONDS = 0
    admin.get(address)
    assert queries(admin, address) > 5
    assert not keeping.KEPT.answers


@pytest.mark.parametrize("address", ADDRESSES)
def test_viewers_who_alternate_see_what_each_of_them_may(
    address: str, admin: Browser, operator: Browser, settings: Settings
) -> None:
    if "workspace=" in address:
        address = address.replace("team-vision", "team-speech")
    asked = [(person, person.get(address)) for _ in range(3) for person in (admin, operator)]
    settings.ANSWERS_KEPT_SECONDS = 0
    for person, answer in asked:
        fresh = person.get(address)
        assert answer.status_code == fresh.status_code
        if address.startswith("/api/"):
            assert answer.json() | {"generatedAt": ""} == fresh.json() | {"generatedAt": ""}
        else:
            assert answer.content == fresh.content
    assert asked[0][1].content != asked[1][1].content


def test_people_with_the_same_rights_are_not_each_other(sample: Path, browser: Callable[..., Browser]) -> None:
    ada, bob = browser(ADMINS), browser(ADMINS)
    sign_in(bob, "bob@example.org", [ADMINS])
    assert "ada@example.org" in ada.open("/").text
    seen = bob.open("/").text
    assert "bob@example.org" in seen and "ada@example.org" not in seen


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_right_that_is_taken_away_is_gone_at_once(
    address: str, admin: Browser, settings: Settings, tmp_path: Path
) -> None:
    before = admin.get(address)
    rules = tmp_path / "less.yaml"
    rules.write_text(RULES.replace("platform-admins", "somebody-else"))
    read.cache_clear()
    settings.ACCESS_FILE = str(rules)
    after = admin.get(address)
    assert after.status_code != 200 or after.content != before.content
    assert b"west-1" not in after.content


@pytest.mark.parametrize(
    "address", ["/checks/?state=Passed&cluster=west-1", "/api/portal/checks?state=Passed&limit=100"]
)
def test_a_verdict_that_expires_between_two_requests_is_never_shown_late(
    address: str, admin: Browser, live: Callable[..., None]
) -> None:
    step = Step.objects.filter(state="Passed", subject__cluster="west-1", until__gt=NOW).earliest("until")
    check, until = step.subject, step.until
    assert until is not None
    address += "" if "api" in address else f"&q={check.name}+{check.namespace}"

    def is_shown() -> bool:
        answer = admin.get(address)
        if "api" in address:
            places = [(each["cluster"], each["namespace"], each["name"]) for each in answer.json()["items"]]
            return ("west-1", check.namespace, check.name) in places
        return f'href="/checks/west-1/{check.namespace}/{check.name}/"' in answer.content.decode()

    left = until - NOW
    live(left - timedelta(seconds=1))
    assert is_shown()
    live(left - timedelta(microseconds=1), silent=timedelta(seconds=1, microseconds=-1))
    assert queries(admin, address) <= 3
    assert is_shown()
    live(left)
    assert not is_shown()


@pytest.mark.parametrize("address", ADDRESSES)
def test_what_is_kept_is_what_would_be_made(
    address: str, admin: Browser, live: Callable[..., None], settings: Settings
) -> None:
    """From one end to the next: at its last moment an answer still reads as if it was made then."""
    at = timedelta(0)
    Cluster.objects.filter(name="east-1").update(captured_at=None, heartbeat_at=NOW)
    ends, given_again = set(), 0
    for _ in range(8):
        live(at, silent=at % timedelta(seconds=40))
        kept = admin.get(address)
        ((_, horizon),) = keeping.KEPT.answers.values()
        last = horizon.until - timedelta(microseconds=1)
        ends.add(horizon.until - horizon.now)
        with time_machine.travel(last, tick=False):
            sign_in(admin, "ada@example.org", [ADMINS])
            again = admin.get(address)
            settings.ANSWERS_KEPT_SECONDS = 0
            fresh = admin.get(address)
            settings.ANSWERS_KEPT_SECONDS = 30
        assert again.headers["ETag"] == fresh.headers["ETag"]
        if not address.startswith("/api/"):
            assert again.content == fresh.content
        given_again += again.content == kept.content
        at = horizon.until - NOW
        keeping.KEPT = keeping.Kept()
    assert given_again > 4
    if not address.startswith("/api/"):
        assert min(ends) < timedelta(seconds=30), "nothing on it depended on the clock"


def test_a_cluster_that_falls_silent_is_unknown_at_once(admin: Browser, live: Callable[..., None]) -> None:
    address = "/checks/?cluster=west-1&state=Passed"
    live(silent=timedelta(seconds=119))
    assert admin.open(address).every("tr[data-key]")
    live(timedelta(seconds=2), silent=timedelta(seconds=121))
    assert not admin.open(address).every("tr[data-key]")


def test_a_heartbeat_alone_makes_no_page_anew(admin: Browser, live: Callable[..., None]) -> None:
    live()
    admin.get("/checks/?cluster=west-1&state=Passed&sort=name")
    Cluster.objects.filter(name="west-1").update(heartbeat_at=NOW + timedelta(milliseconds=200))
    assert queries(admin, "/checks/?cluster=west-1&state=Passed&sort=name") <= 3


def test_a_write_shows_at_once(admin: Browser) -> None:
    address = "/checks/?cluster=west-1&workspace=team-vision&q=ib-pair"
    admin.get(address)
    Check.objects.filter(cluster="west-1", namespace="team-vision", name="ib-pair").update(title="Renamed just now")
    assert "Renamed just now" not in admin.open(address).text
    written()
    assert "Renamed just now" in admin.open(address).text


def test_a_write_to_the_fleet_makes_the_fleet_anew_and_leaves_the_checks(admin: Browser) -> None:
    admin.get("/")
    admin.get("/checks/")
    before = admin.open("/").words("#facts .figure")[0]
    Node.objects.filter(cluster="west-1", ready=True).update(ready=False)
    row = Cluster.objects.get(name="west-1")
    revise(row, {"Node"})
    row.save()
    assert admin.open("/").words("#facts .figure")[0] != before
    assert queries(admin, "/checks/") <= 3


def test_every_write_of_a_dump_gives_another_revision(sample: Path, tmp_path: Path) -> None:
    def revisions() -> dict[str, int]:
        return dict(Cluster.objects.values_list("name", "revision"))

    before = revisions()
    assert all(before.values())
    load(write_dumps(tmp_path, NOW + timedelta(minutes=1)), evidence=tmp_path / "evidence")
    after = revisions()
    assert all(after[name] != before[name] for name in before)


def test_an_unchanged_answer_is_304_and_a_changed_one_is_not(admin: Browser) -> None:
    for address in ADDRESSES:
        etag = admin.get(address).headers["ETag"]
        assert admin.get(address, headers={"if-none-match": etag}).status_code == 304
        written()
        assert admin.get(address, headers={"if-none-match": etag}).status_code == 304, "the data is the same"
    etag = admin.get("/checks/").headers["ETag"]
    Evidence.objects.all().delete()
    Check.objects.filter(cluster="west-1").update(title="Another")
    written()
    assert admin.get("/checks/", headers={"if-none-match": etag}).status_code == 200


def test_a_refusal_is_not_kept(admin: Browser) -> None:
    for _ in range(2):
        assert admin.get("/checks/?state=Green").status_code == 400
        assert admin.get("/api/portal/checks?limit=0").status_code == 400
    assert not keeping.KEPT.answers


def test_what_is_kept_is_bounded_and_the_oldest_goes_first() -> None:
    kept = keeping.Kept(most=1000)
    made = keeping.Horizon(NOW, NOW + timedelta(seconds=30))
    for number in range(50):
        kept.put(bytes([number]), keeping.Answer(b"x" * 100), made)
        kept.get(bytes([0]), NOW)
    assert kept.size == sum(len(answer.body) for answer, _ in kept.answers.values()) <= 1000
    assert kept.get(bytes([0]), NOW) and kept.get(bytes([49]), NOW)
    assert kept.get(bytes([1]), NOW) is None
    kept.put(b"large", keeping.Answer(b"x" * (keeping.LARGEST + 1)), made)
    assert kept.get(b"large", NOW) is None


def test_an_answer_counts_from_when_it_was_made_until_its_end() -> None:
    kept = keeping.Kept()
    kept.put(b"", keeping.Answer(b"x"), keeping.Horizon(NOW, NOW + timedelta(seconds=30)))
    assert kept.get(b"", NOW)
    assert kept.get(b"", NOW - timedelta(microseconds=1)) is None, "the clock went back"
    assert kept.get(b"", NOW + timedelta(seconds=30)) is None


MOMENTS = st.integers(0, 150 * 86400 * 10**6)
INSTANTS = MOMENTS.map(lambda passed: datetime(2026, 1, 1, tzinfo=UTC) + timedelta(microseconds=passed))


@given(at=INSTANTS, as_of=INSTANTS, share=st.floats(0, 1, exclude_max=True))
def test_ages_say_the_same_until_their_words_change(at: datetime, as_of: datetime, share: float) -> None:
    until = steady_until(at, as_of)
    assert until >= as_of
    between = as_of + (until - as_of) * share
    if between < until:
        assert ago(at, between) == ago(at, as_of)
