"""The whole sample fleet in the database, loaded once for these tests, and people who may see different parts of it."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import time_machine
from bs4 import BeautifulSoup
from django.core.cache import cache
from django.db import transaction
from django.http import HttpResponse
from django.test import Client
from pytest_django.fixtures import Settings
from pytest_django.plugin import DjangoDbBlocker

from checks.models import Cluster
from checks.sample import write_dumps
from checks.sync.dump_load import load
from tests.site.people import sign_in

NOW = datetime(2026, 11, 30, 8, 24, 11, tzinfo=UTC)
ADMINS, OPERATORS, NOBODY = "platform-admins", "team-vision-operators", "people-without-rights"
RULES = """
rules:
- groups: [platform-admins]
  clusters: [west-1, east-1, north-1, south-1]
  fleet: [west-1, east-1, north-1, south-1]
  reviews: true
- groups: [team-vision-operators]
  namespaces: [{cluster: west-1, namespace: team-vision}]
- groups: [ghosts]
  clusters: [nowhere-1]
  fleet: [nowhere-1]
"""


@pytest.fixture(scope="package")
def sample(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    """The sample fleet as of NOW, in a transaction that ends with these tests. The folder of its dumps."""
    folder = tmp_path_factory.mktemp("sample")
    with django_db_blocker.unblock(), transaction.atomic():
        load(write_dumps(folder, NOW), evidence=folder / "evidence")
        yield folder
        transaction.set_rollback(True)


@pytest.fixture(autouse=True)
def access(settings: Settings, tmp_path: Path) -> None:
    cache.clear()
    rules = tmp_path / "access.yaml"
    rules.write_text(RULES)
    settings.ACCESS_FILE = str(rules)


class Page:
    """One answer: its status, its bytes, and the page in it."""

    def __init__(self, response: Any) -> None:
        self.response: HttpResponse = response
        self.status = response.status_code
        self.body: bytes = response.content
        self.html = BeautifulSoup(self.body, "html.parser")

    @property
    def text(self) -> str:
        return " ".join(self.html.get_text(" ").split())

    def one(self, selector: str) -> Any:
        found = self.html.select(selector)
        assert len(found) == 1, f"{len(found)} of {selector}"
        return found[0]

    def every(self, selector: str) -> list[Any]:
        return list(self.html.select(selector))

    def words(self, selector: str) -> list[str]:
        return [" ".join(each.get_text(" ").split()) for each in self.html.select(selector)]

    def links(self, selector: str) -> list[str]:
        return [str(each["href"]) for each in self.html.select(selector)]


class Browser(Client):
    """Somebody's browser. `open` insists on the status that is expected."""

    def open(self, path: str, status: int = 200, **headers: str) -> Page:
        page = Page(self.get(path, headers=headers or None))
        assert page.status == status, (path, page.status, page.text[:300])
        return page


@pytest.fixture
def browser(sample: Path, db: None) -> Callable[..., Browser]:
    """A browser of somebody in these groups, with the sample fleet; without any group nobody is signed in."""

    def _browser(*groups: str) -> Browser:
        made = Browser(headers={"host": "localhost:8000"}, raise_request_exception=False)
        if groups:
            sign_in(made, "ada@example.org", groups)
        return made

    return _browser


@pytest.fixture
def admin(browser: Callable[..., Browser]) -> Browser:
    return browser(ADMINS)


@pytest.fixture
def operator(browser: Callable[..., Browser]) -> Browser:
    return browser(OPERATORS)


@pytest.fixture
def live(admin: Browser) -> Iterator[Callable[..., None]]:
    """Makes west-1 a live cluster, and sets the reader's clock and its last sign of life."""
    with time_machine.travel(NOW, tick=False) as clock:

        def _live(after: timedelta = timedelta(0), silent: timedelta = timedelta(0)) -> None:
            clock.move_to(NOW + after)
            sign_in(admin, "ada@example.org", [ADMINS])
            Cluster.objects.filter(name="west-1").update(captured_at=None, heartbeat_at=NOW + after - silent)

        _live()
        yield _live
