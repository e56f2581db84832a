"""The bed with the product, a controller, the replay's image, and a workspace that can keep evidence."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.core.cache import cache
from django.test import Client
from pytest_django.fixtures import Settings

from checks.contract.clock import format_time
from checks.sync.dump_load import load
from tests.cluster.bed.cluster import Cluster
from tests.cluster.bed.images import Image
from tests.cluster_nccl import installed as nccl
from tests.cluster_runs.conftest import artifacts, controller, installed, make_scene, make_workspace, start
from tests.cluster_runs.scene import CLUSTER, Scene
from tests.scenarios.readers import Said, api_says, command, from_json, page_says, place_of
from tests.site.people import sign_in

__all__ = ["artifacts", "controller", "installed", "start"]


@pytest.fixture(scope="session")
def image(cluster: Cluster) -> Image:
    """The image of the replay."""
    return nccl.replay_image(cluster)


@pytest.fixture
def scene(installed: Cluster, artifacts: Path) -> Iterator[Scene]:
    """A workspace with a claim for evidence."""
    for workspace in make_workspace(installed.control):
        made = make_scene(installed, workspace, artifacts)
        nccl.give_volume(made)
        yield made
        nccl.take_volume(made)


class Readers:
    """Command line, API and page over one capture of the workspace."""

    def __init__(self, scene: Scene, folder: Path, client: Client) -> None:
        self.scene, self.folder, self.client = scene, folder, client
        self.captures = 0

    def say(self, name: str) -> Said:
        """What all of them say of a check at this moment; it is the same, or the test fails."""
        self.captures += 1
        dump, at = self.folder / f"{self.captures}.yaml", datetime.now(UTC)
        dump.write_text(self.scene.dump())
        captured = ["--cluster", CLUSTER, "--captured-at", format_time(at), "--evidence", str(self.scene.artifacts)]
        said = json.loads(command("explain", "-f", str(dump), *captured, "-o", "json"))["checks"]
        place = (CLUSTER, self.scene.namespace, name)
        spoken = from_json(next(each for each in said if place_of(each) == place))
        load([dump], evidence=self.scene.artifacts, cluster=CLUSTER, captured_at=at)
        assert api_says(self.client, place) == spoken
        assert page_says(self.client, place) == spoken
        return spoken

    def evidence(self, name: str) -> dict[str, str]:
        """Every piece of a check's result and what reading it gave, in the capture taken last."""
        dump = self.folder / f"{self.captures}.yaml"
        captured = ["--cluster", CLUSTER, "--captured-at", format_time(datetime.now(UTC))]
        found = command(
            *("evidence", "-f", str(dump), *captured, "--evidence", str(self.scene.artifacts)),
            *("--check", f"{self.scene.namespace}/{name}", "-o", "json"),
        )
        (check,) = json.loads(found)["checks"]
        return {piece["name"]: piece["state"] for piece in check["evidence"]}


@pytest.fixture
def readers(scene: Scene, db: None, tmp_path: Path, settings: Settings) -> Readers:
    """Readers of the workspace, for a viewer who may see the cluster."""
    cache.clear()
    (tmp_path / "access.yaml").write_text(f"rules:\n- {{groups: [platform-admins], clusters: [{CLUSTER}]}}\n")
    settings.ACCESS_FILE = str(tmp_path / "access.yaml")
    client = Client(headers={"host": "localhost:8000"})
    sign_in(client, "ada@example.org", ["platform-admins"])
    return Readers(scene, tmp_path, client)
