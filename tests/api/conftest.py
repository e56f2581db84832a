"""A small fleet behind the API, and people who may see different parts of it."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client
from pytest_django.fixtures import Settings

from tests.review.conftest import Cluster
from tests.site.people import sign_in

API = "/api/portal/"
RULES = """
rules:
- {groups: [platform-admins], clusters: [west-1, east-1], fleet: [west-1, east-1], reviews: true}
- {groups: [west-readers], clusters: [west-1], fleet: [west-1]}
- {groups: [team-vision-operators], namespaces: [{cluster: west-1, namespace: team-vision}]}
- {groups: [ghosts], clusters: [north-1], fleet: [north-1]}
"""
ADMINS, WEST, OPERATORS, GHOSTS = "platform-admins", "west-readers", "team-vision-operators", "ghosts"


class Program(Client):
    """A program with somebody's session. `ask` gives the answer's JSON and insists on 200."""

    def ask(self, path: str, **query: Any) -> Any:
        response = self.get(API + path, query)
        assert response.status_code == 200, (path, response.content)
        return json.loads(response.content)


@pytest.fixture(autouse=True)
def access(settings: Settings, tmp_path: Any) -> None:
    cache.clear()
    rules = tmp_path / "access.yaml"
    rules.write_text(RULES)
    settings.ACCESS_FILE = str(rules)


@pytest.fixture
def program() -> Callable[..., Program]:
    """A program signed in as somebody in these groups; without any as nobody."""

    def _program(*groups: str, username: str = "ada@example.org") -> Program:
        client = Program(headers={"host": "localhost:8000"}, raise_request_exception=False)
        if groups:
            sign_in(client, username, groups)
        return client

    return _program


@pytest.fixture
def west(db: None) -> Cluster:
    """west-1 as the published example has it, read with its evidence."""
    return Cluster().seen()


@pytest.fixture
def east(db: None) -> Cluster:
    """A second cluster with the same objects under another name and other UIDs."""
    cluster = Cluster("east-1")
    text = json.dumps(cluster.objects).replace(
        "00000000-0000-4000-8000-0000000000", "99999999-0000-4000-8000-0000000000"
    )
    cluster.objects = json.loads(text)
    return cluster.seen()
