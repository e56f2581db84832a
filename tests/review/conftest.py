"""Registrations as dumps leave them: the published example, changed and loaded again as time goes by."""

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from checks.contract.document import digest
from checks.dump import Item
from checks.sync.dump_load import load_items
from tests.site.people import sign_in
from tests.sync.conftest import example_objects, named

Object = dict[str, Any]
REVIEWER, OPERATOR = "ada@example.org", "olu@example.org"


class Cluster:
    """The objects of west-1; each `seen()` is a newer capture of what is there then."""

    def __init__(self, name: str = "west-1") -> None:
        self.objects: list[Object] = json.loads(json.dumps(example_objects(), default=str))
        self.objects[0]["metadata"]["name"] = name
        self.captures = 0

    @property
    def check(self) -> Object:
        return named(self.objects, "TauValidationCheck")

    @property
    def template(self) -> Object:
        return named(self.objects, "TauValidationTemplate")

    def pin(self) -> None:
        """The registration pins the template that is there, and the controller has looked at it."""
        self.check["spec"]["launch"]["template"]["digest"] = digest(self.template["spec"])
        self.look()

    def look(self) -> None:
        """What the controller writes when it has seen the present spec."""
        generation = self.check["metadata"]["generation"]
        self.check["status"] = {"observedGeneration": generation, "specDigest": digest(self.check["spec"])}

    def marks(self, **annotations: str) -> None:
        """The review annotations, and no others."""
        self.check["metadata"]["annotations"] = {
            f"tau.azure.com/{k.replace('_', '-')}": v for k, v in annotations.items()
        }

    def seen(self) -> "Cluster":
        """Loads a capture of it, a minute after the one before."""
        self.captures += 1
        self.objects[0]["capturedAt"] = f"2026-11-30T08:{self.captures:02}:00Z"
        items = [Item(f"dump, document {at}", item, "") for at, item in enumerate(copy.deepcopy(self.objects))]
        load_items(items)
        return self


@pytest.fixture
def west(db: None) -> Cluster:
    return Cluster()


@pytest.fixture(autouse=True)
def access(settings: Settings, tmp_path: Any) -> None:
    rules = tmp_path / "access.yaml"
    rules.write_text(
        "rules:\n"
        "- {groups: [platform-admins], clusters: [west-1], fleet: [west-1], reviews: true}\n"
        "- {groups: [team-vision-operators], namespaces: [{cluster: west-1, namespace: team-vision}]}\n"
    )
    settings.ACCESS_FILE = str(rules)


@pytest.fixture
def browser() -> Callable[..., Client]:
    """A browser signed in as somebody in these groups."""

    def _browser(*groups: str, username: str = REVIEWER) -> Client:
        client = Client(headers={"host": "localhost:8000"})
        sign_in(client, username, groups)
        return client

    return _browser
