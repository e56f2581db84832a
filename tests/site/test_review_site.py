"""The admin, behind the door of the portal."""

import pytest
from django.test import Client

from tests.site.people import sign_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def browser() -> Client:
    return Client(headers={"host": "localhost:8000"})


@pytest.mark.parametrize("path", ["/admin/", "/admin/login/", "/admin/nothing/", "/admin/jsi18n/"])
def test_the_admin_does_not_exist_for_those_who_do_not_review(browser: Client, path: str) -> None:
    sign_in(browser, "olu", ["team-vision-operators"])
    response = browser.get(path)
    assert response.status_code == 404
    assert response.content == browser.get("/no-such-page/").content


def test_the_admin_is_open_to_reviewers_and_has_no_password_page(browser: Client) -> None:
    sign_in(browser, "ada", ["platform-admins"])
    assert browser.get("/admin/").status_code == 200
    assert browser.get("/admin/password_change/").status_code == 404


def test_the_admin_is_behind_the_wall(browser: Client) -> None:
    assert browser.get("/admin/")["Location"] == "/signin/?next=%2Fadmin%2F"
