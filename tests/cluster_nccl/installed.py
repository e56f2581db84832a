"""The check as an operator installs it: what render.py prints, its image, and a volume for evidence."""

import copy
import json
import subprocess
import sys
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from checks.contract.document import digest
from tests.cluster.bed.cluster import Cluster
from tests.cluster.bed.control import Refused
from tests.cluster.bed.images import Image, python_image
from tests.cluster.bed.waiting import eventually
from tests.cluster_runs.scene import Scene

Object = dict[str, Any]
Change = Callable[[Object], None]
ROOT = Path(__file__).parents[2]
EXAMPLE, RECORDED = ROOT / "examples" / "nccl-ib", ROOT / "tests" / "nccl" / "corpus"
CLAIM = "tau-artifacts"
PASSES = "003-ib-gdr-lazy-2.27-many-nics.log"
FALLS_BACK = "027-socket-healthy-table-ib-disabled.log"


def replay_image(cluster: Cluster) -> Image:
    """What the Dockerfile's target `replay` holds, on the Python of this machine, known to both nodes."""
    files = {f"opt/check/{name}": EXAMPLE / name for name in ("nccl_transport.py", "runner.py")}
    files |= {f"opt/recorded/{path.name}": path for path in RECORDED.iterdir()}
    entrypoint = ["/usr/bin/python3", "-B", "/opt/check/runner.py"]
    image = python_image(cluster.control.folder, "bed.invalid/nccl-ib-replay", files, entrypoint)
    cluster.import_image(image)
    return image


def rendered(namespace: str, image: str, *options: str) -> tuple[Object, Object]:
    """Template and registration as render.py prints them."""
    words = ["--image", image, "--namespace", namespace, "--artifact-claim", CLAIM, *options]
    done = subprocess.run(
        [sys.executable, EXAMPLE / "render.py", *words], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    template, check = yaml.safe_load_all(done.stdout)
    return template, check


def pod_of(template: Object) -> Object:
    """The pod spec of a template."""
    pod: Object = template["spec"]["job"]["spec"]["template"]["spec"]
    return pod


def give_volume(scene: Scene) -> None:
    """A claim in the workspace for the folder in which the controller keeps evidence, writable from every node."""
    scene.artifacts.mkdir(parents=True, exist_ok=True)
    scene.artifacts.chmod(0o777)
    name = {"name": f"evidence-{scene.namespace}"}
    shared: Object = {"accessModes": ["ReadWriteMany"], "storageClassName": ""}
    size = {"storage": "1Gi"}
    scene.control.apply(
        [
            {
                "apiVersion": "v1",
                "kind": "PersistentVolume",
                "metadata": name,
                "spec": shared
                | {
                    "capacity": size,
                    "persistentVolumeReclaimPolicy": "Retain",
                    "hostPath": {"path": str(scene.artifacts), "type": "Directory"},
                    "claimRef": {"namespace": scene.namespace, "name": CLAIM},
                },
            },
            {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "metadata": {"name": CLAIM, "namespace": scene.namespace},
                "spec": shared | {"volumeName": name["name"], "resources": {"requests": size}},
            },
        ]
    )


def take_volume(scene: Scene) -> None:
    """The volume is not in a namespace, so it does not go with one."""
    scene.control.kubectl("delete", "pv", f"evidence-{scene.namespace}", "--ignore-not-found", "--wait=false")


def install(
    scene: Scene, template: Object, check: Object, template_change: Change | None = None, change: Change | None = None
) -> str:
    """Creates and approves both, and waits until runs can start; the name of the check.

    A changed template gets a name of its own, since templates are of the whole cluster and never change.
    """
    template, check = copy.deepcopy(template), copy.deepcopy(check)
    if template_change is not None:
        template_change(template)
        template["metadata"]["name"] += "-" + uuid.uuid4().hex[:8]
        launch = check["spec"]["launch"]["template"]
        launch |= {"name": template["metadata"]["name"], "digest": digest(template["spec"])}
    if change is not None:
        change(check)
    try:
        scene.admin.kubectl("create", "-f", "-", stdin=json.dumps(template))
    except Refused as refused:
        if "already exists" not in str(refused):
            raise
    scene.operator.kubectl("create", "-f", "-", stdin=json.dumps(check))
    name = str(check["metadata"]["name"])
    scene.approve(name)
    eventually(lambda: scene.condition(name, "Ready").get("status") == "True", f"{name} is ready")
    return name


def hold(scene: Scene) -> None:
    """Kueue admits nothing in this workspace until `release`: what is queued stays as it is."""
    _stop_policy(scene, "Hold")


def release(scene: Scene) -> None:
    """Kueue admits again."""
    _stop_policy(scene, "None")


def _stop_policy(scene: Scene, word: str) -> None:
    patch = json.dumps({"spec": {"stopPolicy": word}})
    scene.control.kubectl("patch", "clusterqueue", scene.namespace, "--type=merge", "--patch", patch)
