"""From `tau-check init` to a proof and a dump, as its people type it."""

import json
import tarfile
import uuid
from pathlib import Path

import pytest
import yaml

from checks.contract.document import digest
from tests.cluster.bed.processes import Server
from tests.cluster_cli.conftest import Cli
from tests.cluster_runs.scene import CLUSTER, Object, Scene

pytestmark = pytest.mark.cluster
PHASES = ["Pending", "Queued", "Admitted", "Running", "Collecting", "Cleaning", "Sealed"]


@pytest.fixture
def folder(tmp_path: Path, scene: Scene, olga: Cli) -> Path:
    """What `init` writes, under a name of this test's own, since templates are seen in every workspace."""
    name = f"path-{uuid.uuid4().hex[:8]}"
    image = f"--image={scene.cluster.busybox.by_digest}"
    made = tmp_path / name
    words = ("init", name, image, "--directory", made, "--title", "Path on a node")
    olga(*words, code=0)
    return made


def spec_digest(path: Path) -> str:
    item: Object = yaml.safe_load(path.read_text())
    return digest(item["spec"])


def test_from_a_skeleton_to_a_proof(
    controller: Server, scene: Scene, folder: Path, olga: Cli, petra: Cli, vera: Cli, tmp_path: Path
) -> None:
    name, check = folder.name, spec_digest(folder / "check.yaml")
    said = olga("register", folder, code=77)
    assert f"refused    TauValidationTemplate {name}" in said.out
    assert "olga may not create validationtemplates.tau.azure.com in the whole cluster." in said.out
    assert f"created    TauValidationCheck {scene.namespace}/{name}" in said.out
    assert f"tau-check approve {name} --digest {check} --namespace {scene.namespace}" in said.out
    assert f"created    TauValidationTemplate {name}" in petra("register", folder / "template.yaml", code=0).out
    assert olga("register", folder, code=0).out.count("unchanged") == 2

    said = olga("run", name, code=2)
    assert f"{name} is not ready: A platform admin has to review and approve it." in said.err
    said = olga("approve", name, "--digest", check, "--yes", code=77)
    assert "may change the annotations" in said.err and "tau-validation-approval-guard" in said.err
    said = petra("approve", name, "--digest", "sha256:" + "0" * 64, "--yes", code=65)
    assert f"its digest is {check}" in said.err
    assert "say --yes where nobody can be asked" in petra("approve", name, "--digest", check, code=64).err
    said = petra("approve", name, "--digest", check, "--yes", code=0)
    assert "Container look runs" in said.out and f"Approved {scene.namespace}/{name} as petra." in said.out
    assert "approved already, by petra" in petra("approve", name, "--digest", check, "--yes", code=0).out

    assert "path must be text that matches" in olga("run", name, "-p", "path=../etc", "-p", "a=b", code=64).err
    store = f"volume=file://{scene.artifacts}"
    said = olga("run", name, "-p", "path=/proc/cpuinfo", "--wait", "--timeout", "5m", "--store", store, code=0)
    phases = [line.split()[1] for line in said.err.splitlines() if line.startswith("  0")]
    assert phases == [phase for phase in PHASES if phase in phases] and phases[-1] == "Sealed"
    assert f"Passed  {scene.namespace}/{name}  (proved)\n  /proc/cpuinfo is there and can be read\n" in said.out
    assert said.out.rstrip().endswith(f"tau-check explain {name} --namespace {scene.namespace}")
    (run,) = scene.get("validationruns", f"--field-selector=spec.checkRef.name={name}")["items"][-1:]
    assert run["spec"]["requestedBy"] == "olga"

    assert "1 Passed" in vera("status", "--store", store, code=0).out
    assert vera("watch", name, "--store", store, "-o", "name", code=0).out.strip().endswith(run["metadata"]["name"])
    assert "has ended; there is nothing to cancel" in olga("cancel", name, code=65).err
    assert "vera may not create validationruns.tau.azure.com in the namespace" in vera("run", name, code=77).err
    unread = vera("explain", name, "-o", "json", code=2)
    assert json.loads(unread.out)["checks"][0]["reason"] == "evidence_unverified"
    assert "--evidence DIRECTORY" in unread.err
    live_equals_dump(vera, name, store, tmp_path)


def live_equals_dump(vera: Cli, name: str, store: str, tmp_path: Path) -> None:
    """The same proof from the cluster and from a dump with its evidence; and an archive for each result."""
    dump, evidence = tmp_path / "dump.yaml", tmp_path / "evidence"
    vera("dump", "--to", dump, "--with-evidence", evidence, "--store", store, code=0)
    from_dump = ("-f", dump, "--evidence", evidence)
    live = json.loads(vera("explain", name, "--evidence", evidence, "-o", "json", code=0).out)["checks"]
    offline = json.loads(Cli(Path("/nonexistent"), "")("explain", *from_dump, "-o", "json", code=0).out)["checks"]
    assert [check["cluster"] for check in live] == [CLUSTER]
    assert timeless(live) == timeless(offline)
    said = vera("evidence", "get", name, "--all", "--store", store, "--to", tmp_path / "archives", code=0)
    assert said.out.count("  same ") == 5
    (archive,) = (tmp_path / "archives").iterdir()
    with tarfile.open(archive) as opened:
        assert f"{archive.stem}/verify.py" in opened.getnames()


def timeless(checks: list[Object]) -> list[Object]:
    """Without what depends on when and how the evidence was read."""
    return [
        check | {"proof": [c for c in check["proof"] if c["clause"] not in ("source", "evidence")]} for check in checks
    ]
