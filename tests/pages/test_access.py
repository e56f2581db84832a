"""Every address of the site, for everybody: what one may not see is what does not exist, byte for byte.

The addresses are taken from the URL configuration. One that is not in ENTRIES fails here until somebody has decided
who may see it.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from django.urls import URLResolver, get_resolver

from checks.models import Check, Namespace, Node, Queue, Run

from .conftest import ADMINS, NOBODY, OPERATORS, Browser

PANELS = ("targets", "evidence", "cleanup", "lifecycle", "details", "raw")
# One check that the operator may read, one beside it in the same cluster, and none.
SEEN, HIDDEN, ABSENT = ("west-1", "team-vision", "ib-pair"), ("west-1", "team-speech", "ib-pair"), ("x", "y", "z")


@dataclass(frozen=True)
class Entry:
    """How an address behaves.

    kind: "open" for everybody; "scoped" answers everybody who is signed in with what they may see; "object" is of one
    check or run; "file" belongs to a run and is read from a store; "review" is for platform admins; "none" exists for
    nobody. tails: what stands for its last parts.
    """

    kind: str
    tails: tuple[str, ...] = ("",)


ENTRIES = {
    "livez": Entry("open"),
    "readyz": Entry("open"),
    "metrics": Entry("open"),
    "signin/": Entry("open"),
    "signin/callback/": Entry("open"),
    "signout/": Entry("open"),
    "signed-out/": Entry("open"),
    "": Entry("scoped"),
    "nodes/": Entry("scoped", ("", "?cluster=west-1")),
    "checks/": Entry("scoped", ("", "?state=Passed", "?sort=name", "?q=infiniband")),
    "checks/<str:cluster>/<str:namespace>/<str:name>/": Entry("object"),
    "checks/<str:cluster>/<str:namespace>/<str:name>/runs/": Entry("object"),
    "checks/<str:cluster>/<str:namespace>/<str:name>/<str:panel>/": Entry("object", PANELS),
    "runs/<str:uid>/": Entry("object"),
    "runs/<str:uid>/<str:panel>/": Entry("object", PANELS),
    "runs/<str:uid>/bundle.tar": Entry("file"),
    "runs/<str:uid>/evidence/<str:name>/": Entry("file"),
    "runs/<str:uid>/evidence/<str:name>/content": Entry("file"),
    "api/portal/fleet": Entry("scoped"),
    "api/portal/checks/summary": Entry("scoped"),
    "api/portal/checks": Entry("scoped", ("", "?state=Passed", "?limit=100")),
    "api/portal/checks/<str:cluster>/<str:namespace>/<str:name>": Entry("object"),
    "api/portal/checks/<str:cluster>/<str:namespace>/<str:name>/runs": Entry("object"),
    "api/portal/runs/<str:uid>": Entry("object"),
    "api/portal/runs/<str:uid>/evidence": Entry("object"),
    "api/portal/runs/<str:uid>/evidence/<str:name>": Entry("file"),
    "api/portal/registrations": Entry("review"),
    "admin/": Entry("review"),
    "admin/login/": Entry("review"),
    "admin/logout/": Entry("open"),
    "admin/checks/check/": Entry("review"),
    "admin/checks/check/<str:cluster>/<str:namespace>/<str:name>/": Entry("review"),
    "admin/autocomplete/": Entry("none"),
    "admin/jsi18n/": Entry("review"),
    "admin/r/<path:content_type_id>/<path:object_id>/": Entry("none"),
    "admin/^(?P<app_label>checks)/$": Entry("review"),
    "admin/(?P<url>.*)$": Entry("none"),
}


def routes(patterns: Any = None, prefix: str = "") -> Iterator[str]:
    for pattern in patterns if patterns is not None else get_resolver().url_patterns:
        if isinstance(pattern, URLResolver):
            yield from routes(pattern.url_patterns, prefix + str(pattern.pattern))
        else:
            yield prefix + str(pattern.pattern)


ROUTES = sorted(set(routes()))
PLAIN = [route for route in ROUTES if route in ENTRIES]


def of_kind(*kinds: str) -> list[str]:
    return [route for route in PLAIN if ENTRIES[route].kind in kinds]


def addresses(route: str, place: tuple[str, str, str] = ABSENT) -> list[str]:
    """The paths of a route, for the check (or the newest run of the check) at a place."""
    cluster, namespace, name = place
    found = Check.objects.filter(cluster=cluster, namespace=namespace, name=name).select_related("run").first()
    uid = found.run.uid if found and found.run else "no-such-run"
    path = "/" + route.replace("^", "").replace("$", "")
    path = path.replace("(?P<app_label>checks)", "checks").replace("(?P<url>.*)", "anything")
    if "runs/<str:uid>/" in route:
        name = "logs"  # of a piece of evidence
    for part, value in {"cluster": cluster, "namespace": namespace, "name": name, "uid": uid}.items():
        path = path.replace(f"<str:{part}>", value)
    path = path.replace("<path:content_type_id>", "1").replace("<path:object_id>", "1")
    tails = ENTRIES[route].tails
    return [path.replace("<str:panel>", tail) if "<str:panel>" in path else path + tail for tail in tails]


def ask(browser: Browser, path: str) -> tuple[int, bytes]:
    response = browser.get(path)
    return response.status_code, response.content


def test_every_address_has_an_entry() -> None:
    assert [route for route in ROUTES if route not in ENTRIES] == []


@pytest.mark.parametrize("route", [r for r in PLAIN if ENTRIES[r].kind != "open"])
def test_nobody_gets_anything_without_signing_in(route: str, browser: Callable[..., Browser]) -> None:
    nobody = browser()
    for place in (SEEN, ABSENT):
        for path in addresses(route, place):
            status, body = ask(nobody, path)
            if route.startswith("api/"):
                assert status == 401, path
                assert b"unauthenticated" in body
            else:
                assert status == 302, path
                assert not body
            status = nobody.get(path, headers={"hx-request": "true"}).status_code
            assert status == 401, path


@pytest.mark.parametrize("route", of_kind("object"))
def test_what_one_may_not_see_is_what_does_not_exist(route: str, browser: Callable[..., Browser]) -> None:
    operator, nothing = browser(OPERATORS), browser(NOBODY)
    for seen, hidden, absent in zip(*(addresses(route, place) for place in (SEEN, HIDDEN, ABSENT)), strict=True):
        assert ask(operator, seen)[0] == 200, seen
        not_there = ask(operator, absent)
        assert not_there[0] == 404
        assert ask(operator, hidden) == not_there, hidden
        assert ask(nothing, hidden) == ask(nothing, seen) == ask(nothing, absent)
        assert ask(nothing, seen)[0] == 404


@pytest.mark.parametrize("route", of_kind("file"))
def test_a_file_that_one_may_not_read_is_one_that_does_not_exist(route: str, browser: Callable[..., Browser]) -> None:
    admin, operator, nothing = browser(ADMINS), browser(OPERATORS), browser(NOBODY)
    for seen, hidden, absent in zip(*(addresses(route, place) for place in (SEEN, HIDDEN, ABSENT)), strict=True):
        assert ask(operator, hidden) == ask(operator, absent)
        assert ask(nothing, seen) == ask(nothing, hidden) == ask(nothing, absent)
        assert ask(nothing, seen)[0] == ask(operator, hidden)[0] == 404
        for viewer, path in ((operator, seen), (admin, seen), (admin, hidden)):
            assert viewer.get(path).status_code != 404, path


@pytest.mark.parametrize("route", of_kind("object"))
def test_a_platform_admin_sees_it_all(route: str, browser: Callable[..., Browser]) -> None:
    admin = browser(ADMINS)
    for place, status in ((SEEN, 200), (HIDDEN, 200), (ABSENT, 404)):
        for path in addresses(route, place):
            assert ask(admin, path)[0] == status, path


@pytest.mark.parametrize("route", of_kind("object"))
def test_a_condition_on_what_one_may_not_see_tells_nothing(route: str, browser: Callable[..., Browser]) -> None:
    admin, operator = browser(ADMINS), browser(OPERATORS)
    for path in addresses(route, HIDDEN):
        etag = admin.get(path).headers["ETag"]
        for sent in (etag, "*"):
            assert operator.get(path, headers={"if-none-match": sent}).status_code == 404


@pytest.mark.parametrize("route", of_kind("scoped"))
def test_a_list_holds_nothing_from_outside_the_scope(route: str, browser: Callable[..., Browser]) -> None:
    operator, nothing = browser(OPERATORS), browser(NOBODY)
    outside = {name for name in Namespace.objects.values_list("name", flat=True) if name != "team-vision"}
    outside |= {"east-1", "north-1", "south-1"} | set(Node.objects.values_list("name", flat=True))
    outside |= set(Queue.objects.exclude(name="team-vision").values_list("name", flat=True))
    titles = set(Check.objects.filter(cluster="west-1", namespace="team-vision").values_list("title", flat=True))
    elsewhere = set(Check.objects.exclude(cluster="west-1", namespace="team-vision").values_list("title", flat=True))
    own = set(Check.objects.filter(cluster="west-1", namespace="team-vision").values_list("name", flat=True))
    for path in addresses(route):
        if "cluster=" in path:
            assert ask(operator, path)[0] == ask(nothing, path)[0] == 400
            continue
        for viewer, words in ((operator, outside | (elsewhere - titles)), (nothing, outside | elsewhere | titles)):
            status, body = ask(viewer, path)
            assert status == 200, path
            text = body.decode()
            found = {word for word in words - own if f">{word}<" in text or f'"{word}"' in text}
            assert not found, (path, found)


@pytest.mark.parametrize("route", of_kind("scoped"))
def test_a_list_of_nothing_is_the_same_whatever_there_is(route: str, browser: Callable[..., Browser]) -> None:
    nothing = browser(NOBODY)
    paths = addresses(route)
    before = [stable(ask(nothing, path)) for path in paths]
    Check.objects.all().delete()
    Node.objects.all().delete()
    assert [stable(ask(nothing, path)) for path in paths] == before


def stable(answer: tuple[int, bytes]) -> tuple[int, str]:
    """An answer without the moment it was made at."""
    return answer[0], re.sub(r'"generatedAt":\s*"[^"]+"', "", answer[1].decode())


@pytest.mark.parametrize("route", of_kind("review"))
def test_the_review_exists_for_platform_admins_alone(route: str, browser: Callable[..., Browser]) -> None:
    admin = browser(ADMINS)
    missing = "/api/portal/no-such-thing" if route.startswith("api/") else "/no-such-page/"
    for path in addresses(route, SEEN):
        assert ask(admin, path)[0] in (200, 302), path
        for groups in (OPERATORS, NOBODY):
            viewer = browser(groups)
            assert ask(viewer, path) == ask(viewer, missing), path
            assert ask(viewer, path)[0] == 404


@pytest.mark.parametrize("route", of_kind("none"))
def test_what_nobody_needs_does_not_exist_for_anybody(route: str, browser: Callable[..., Browser]) -> None:
    for groups in (ADMINS, OPERATORS, NOBODY):
        viewer = browser(groups)
        for path in addresses(route, SEEN):
            assert ask(viewer, path)[0] in (404, 403, 301, 302), path


@pytest.mark.parametrize("route", [r for r in PLAIN if ENTRIES[r].kind in ("scoped", "object", "file", "review")])
@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
def test_nothing_can_be_changed_through_any_address(route: str, method: str, browser: Callable[..., Browser]) -> None:
    admin = browser(ADMINS)
    rows = Check.objects.count(), Run.objects.count()
    for path in addresses(route, SEEN)[:1]:
        answer = getattr(admin, method)(path)
        # The admin's start page does not look at the method, and only ever shows itself.
        is_page = answer.status_code == 200 and answer.content == admin.get(path).content
        assert answer.status_code in (302, 403, 404, 405) or is_page, path
    assert (Check.objects.count(), Run.objects.count()) == rows


@pytest.mark.parametrize("groups", [OPERATORS, NOBODY, "ghosts"])
def test_a_filter_that_leads_outside_the_scope_is_refused_alike(groups: str, browser: Callable[..., Browser]) -> None:
    viewer = browser(groups)
    there = ask(viewer, "/checks/?workspace=team-speech&cluster=west-1")
    assert there == ask(viewer, "/checks/?workspace=no-such&cluster=west-1")
    assert there[0] == 400


def test_a_scope_of_a_cluster_that_is_not_there_shows_nothing(browser: Callable[..., Browser]) -> None:
    page = browser("ghosts").open("/")
    assert "Nothing has been read yet" in page.text
    assert not page.every("#facts, #check-summary, #sources li")
