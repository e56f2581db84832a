"""Who may see what, from a file of groups, and what happens when that cannot be decided."""

from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from checks.scope import Scope, Viewer
from taugrid_portal.access import AccessError, file
from tests.site.people import sign_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def browser() -> Client:
    return Client(headers={"host": "localhost:8000"})


class Unanswered:
    def scope(self, viewer: Viewer) -> Scope:
        raise AccessError("The API server does not answer, so nothing is shown.")


class Broken:
    def scope(self, viewer: Viewer) -> Scope:
        raise RuntimeError("never mind")


class Counting:
    calls = 0

    def scope(self, viewer: Viewer) -> Scope:
        Counting.calls += 1
        return Scope(viewer=viewer)


def seen(browser: Client) -> Any:
    return browser.get("/whoami/").json()


def test_a_platform_admin_sees_the_clusters_and_reviews(browser: Client) -> None:
    sign_in(browser, "ada", ["platform-admins"])
    assert seen(browser) == {
        "username": "ada",
        "groups": ["platform-admins"],
        "clusters": ["east-1", "west-1"],
        "namespaces": [],
        "reviews": True,
        "problem": "",
        "viewer": "ada",
    }


def test_an_operator_sees_one_workspace(browser: Client) -> None:
    sign_in(browser, "olu", ["team-vision-operators"])
    who = seen(browser)
    assert (who["clusters"], who["namespaces"], who["reviews"]) == ([], [["west-1", "team-vision"]], False)


def test_somebody_in_no_group_sees_nothing(browser: Client) -> None:
    sign_in(browser, "nils", ["Platform-Admins", "platform-admins-2"])
    who = seen(browser)
    assert (who["clusters"], who["namespaces"], who["reviews"]) == ([], [], False)


def test_rules_add_up(browser: Client) -> None:
    sign_in(browser, "ada", ["platform-admins", "team-vision-operators"])
    assert seen(browser)["namespaces"] == [["west-1", "team-vision"]]
    assert seen(browser)["reviews"] is True


def test_a_question_without_an_answer_shows_nothing_and_says_why(browser: Client, settings: Settings) -> None:
    settings.ACCESS_BACKENDS = {"file": f"{__name__}.Unanswered"}
    sign_in(browser, "ada", ["platform-admins"])
    who = seen(browser)
    assert (who["clusters"], who["reviews"]) == ([], False)
    assert who["problem"] == "The API server does not answer, so nothing is shown."


def test_a_mistake_in_the_answer_shows_nothing_at_all(settings: Settings) -> None:
    settings.ACCESS_BACKENDS = {"file": f"{__name__}.Broken"}
    browser = Client(headers={"host": "localhost:8000"}, raise_request_exception=False)
    sign_in(browser, "ada", ["platform-admins"])
    assert browser.get("/whoami/").status_code == 500


def test_the_question_is_asked_once_per_request_and_only_if_somebody_looks(browser: Client, settings: Settings) -> None:
    settings.ACCESS_BACKENDS = {"file": f"{__name__}.Counting"}
    sign_in(browser, "ada")
    Counting.calls = 0
    browser.get("/")
    assert Counting.calls == 0
    browser.get("/whoami/")
    assert Counting.calls == 1


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("rules: [", "is not YAML, line 1"),
        ("", "the file: Input should be"),
        ("rules: [{groups: platform-admins}]", "rules.0.groups"),
        ("rules: [{groups: [a], reviews: 'yes'}]", "rules.0.reviews"),
        ("rules: [{namespaces: [{cluster: a}]}]", "rules.0.namespaces.0.namespace"),
        ("rules: [{cluster: [a]}]", "rules.0.cluster"),
        ("!!python/object/apply:os.system [id]", "is not YAML"),
    ],
)
def test_a_file_that_cannot_be_read_grants_nothing_and_names_the_field(
    tmp_path: Path, text: str, sentence: str
) -> None:
    path = tmp_path / "rules.yaml"
    path.write_text(text)
    with pytest.raises(AccessError) as caught:
        file.read(str(path))
    assert sentence in str(caught.value)
