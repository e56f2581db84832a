"""The five scenarios as they come about on a cluster, each with the verdict of the dump that tells the same story."""

import copy
import json
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from checks.contract.clock import format_time, parse_time
from checks.contract.document import digest
from checks.sample import STORIES
from tests.cluster.bed.cluster import NODES
from tests.cluster.bed.images import Image
from tests.cluster.bed.node import GPU
from tests.cluster.bed.waiting import eventually
from tests.cluster_nccl.conftest import Readers
from tests.cluster_nccl.installed import FALLS_BACK, PASSES, hold, install, release, rendered
from tests.cluster_runs.scene import PASS, Scene
from tests.cluster_runs.test_other_checks import may_publish, published
from tests.scenarios.readers import Said

pytestmark = [pytest.mark.cluster, pytest.mark.usefixtures("controller")]
Object = dict[str, Any]


def told(story: str, name: str) -> tuple[str, str]:
    """State and reason that the dump of a story has for one of its checks."""
    (found,) = (each for each in STORIES[story] if each.name == name)
    return str(found.state), found.reason


def verdict(said: Said) -> tuple[str, str]:
    return said.state, said.reason


def replay(scene: Scene, image: Image, log: str = PASSES, change: Callable[[Object], None] | None = None) -> str:
    """The replay as installed, with a registration that may be changed."""
    printed = rendered(scene.namespace, image.by_digest, "--replay", "--recorded-log", log)
    return install(scene, *printed, change=change)


def impatient(**seconds: int) -> Callable[[Object], None]:
    """A template whose deadlines are short."""

    def change(template: Object) -> None:
        template["spec"]["deadlines"] |= seconds

    return change


@contextmanager
def cordoned(scene: Scene, node: str) -> Iterator[None]:
    scene.control.kubectl("cordon", node)
    try:
        yield
    finally:
        scene.control.kubectl("uncordon", node)


def test_socket_fallback(scene: Scene, image: Image, readers: Readers) -> None:
    check = replay(scene, image, FALLS_BACK)
    envelope = scene.sealed(scene.run(check))
    assert envelope["details"]["data"]["socketFallback"] is True
    assert {target["outcome"] for target in envelope["targets"]["observed"]} == {"failed"}
    assert verdict(readers.say(check)) == told("socket-fallback", "ib-pair-site-b")


@pytest.mark.deep
def test_partial_targets_one_rank(scene: Scene, image: Image, readers: Readers) -> None:
    """Rank 1's node is closed after the run was queued: the other rank waits for it in vain."""
    printed = rendered(scene.namespace, image.by_digest, "--replay", "--recorded-log", PASSES)
    check = install(scene, *printed, template_change=impatient(runSeconds=15))
    hold(scene)
    run = scene.run(check)
    scene.until(run, "Queued")
    with cordoned(scene, NODES[1]):
        release(scene)
        envelope = scene.sealed(run, 120)
    assert [target["name"] for target in envelope["targets"]["observed"]] == [NODES[0]]
    assert verdict(readers.say(check)) == told("partial-targets", "ib-pair-half")


@pytest.fixture
def third_node(scene: Scene) -> Iterator[str]:
    """A node that is ready when the run is asked for. No machine is behind it."""
    name = f"gpu-node-{uuid.uuid4().hex[:8]}"
    amounts = {GPU: "1", "cpu": "2", "memory": "2Gi", "pods": "10"}
    ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": ""}
    now = format_time(datetime.now(UTC).replace(microsecond=0))
    ready |= {"lastHeartbeatTime": now, "lastTransitionTime": now}
    status = {"capacity": amounts, "allocatable": amounts, "conditions": [ready]}
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}
    scene.control.kubectl("create", "-f", "-", stdin=json.dumps(node))
    patch = json.dumps({"status": status})
    scene.control.kubectl("patch", "node", name, "--subresource=status", "--type=merge", "--patch", patch)
    yield name
    scene.control.kubectl("delete", "node", name, "--ignore-not-found")


def three(scene: Scene, script: str, third_node: str) -> list[str]:
    """A run for three nodes, the third of which is closed after the run was queued; the nodes that were seen."""
    scene.ready(scene.template(script, 3, run=20), "three", 3)
    hold(scene)
    run = scene.run("three")
    scene.until(run, "Queued")
    with cordoned(scene, third_node):
        release(scene)
        envelope = scene.sealed(run, 120)
    assert envelope["targets"]["requested"]["count"] == 3
    return sorted(target["name"] for target in envelope["targets"]["observed"])


@pytest.mark.deep
def test_partial_targets_a_third_node_that_was_not_tested(scene: Scene, readers: Readers, third_node: str) -> None:
    assert three(scene, PASS + "sleep 100", third_node) == sorted(NODES)
    assert verdict(readers.say("three")) == told("partial-targets", "rack-boundary")


@pytest.mark.deep
def test_a_third_rank_that_comes_to_a_node_which_another_has_left_is_no_third_node(
    scene: Scene, readers: Readers, third_node: str
) -> None:
    """The scheduler keeps pods apart only while they run."""
    assert len(three(scene, PASS, third_node)) == 3
    assert verdict(readers.say("three")) == ("Unknown", "targets_incomplete")


def wait_until_after(at: str) -> None:
    limit = parse_time(at)
    assert limit is not None
    left = (limit - datetime.now(UTC)).total_seconds()
    assert left < 120, "a test shortens the validity"
    time.sleep(max(0.0, left) + 0.1)


@pytest.mark.deep
def test_stale_evidence_expired(scene: Scene, image: Image, readers: Readers) -> None:
    def brief(check: Object) -> None:
        check["spec"]["results"]["freshForSeconds"] = 30

    check = replay(scene, image, change=brief)
    envelope = scene.sealed(scene.run(check))
    assert verdict(readers.say(check)) == ("Passed", "proved")
    wait_until_after(envelope["validUntil"])
    assert verdict(readers.say(check)) == told("stale-evidence", "checkpoint-path")


@pytest.mark.deep
def test_stale_evidence_older_than_the_registration_allows(scene: Scene, readers: Readers) -> None:
    """A check with a controller of its own, which says that its result counts for a day."""
    scene.ready(scene.template(PASS), "by-template")
    base = scene.sealed(scene.run("by-template"))
    account = {"metadata": {"name": "prober", "namespace": scene.namespace}}
    scene.control.apply([{"apiVersion": "v1", "kind": "ServiceAccount"} | account, *may_publish(scene.namespace)])
    spec = copy.deepcopy(scene.get("validationcheck", "by-template")["spec"])
    spec["launch"] = {"controller": {"name": "probes.example.org/paths"}}
    publisher = {"namespace": scene.namespace, "serviceAccount": "prober"}
    spec["results"] |= {"publisher": publisher, "requiredEvidence": [], "freshForSeconds": 30}
    check = {"apiVersion": "tau.azure.com/v1alpha1", "kind": "TauValidationCheck", "spec": spec}
    check["metadata"] = {"name": "by-prober", "namespace": scene.namespace}
    scene.operator.kubectl("create", "-f", "-", stdin=json.dumps(check))
    approved = scene.approve("by-prober")
    uid = scene.get("validationcheck", "by-prober")["metadata"]["uid"]

    item = published(base, uid, approved, scene.namespace)
    envelope = item["spec"]["envelope"]
    observed = parse_time(envelope["times"]["observed"])
    assert observed is not None
    envelope |= {"freshForSeconds": 86400, "validUntil": format_time(observed + timedelta(days=1))}
    item["spec"]["digest"] = digest(envelope)
    prober = scene.control.kubeconfig_for_account(scene.namespace, "prober")
    scene.control.kubectl("create", "-f", "-", stdin=json.dumps(item), kubeconfig=prober)
    assert verdict(readers.say("by-prober")) == ("Passed", "proved")
    wait_until_after(format_time(observed + timedelta(seconds=30)))
    assert verdict(readers.say("by-prober")) == told("stale-evidence", "fabric-sweep-d")


@pytest.mark.deep
def test_cleanup_failure(scene: Scene, image: Image, readers: Readers) -> None:
    """Somebody's finalizer keeps the run's Service, although everything passed."""
    printed = rendered(scene.namespace, image.by_digest, "--replay", "--recorded-log", PASSES)
    check = install(scene, *printed, template_change=impatient(cleanupSeconds=3))
    hold(scene)
    run = scene.run(check)
    scene.until(run, "Queued")
    pin(scene, run, ["tests.example/pinned"])
    release(scene)
    try:
        envelope = scene.sealed(run)
        assert {target["outcome"] for target in envelope["targets"]["observed"]} == {"passed"}
        assert [(left["kind"], left["name"]) for left in envelope["cleanup"]["remaining"]] == [("Service", run)]
        assert verdict(readers.say(check)) == told("cleanup-failure", "ib-pair-a100")
    finally:
        pin(scene, run, None)


def pin(scene: Scene, run: str, finalizers: list[str] | None) -> None:
    patch = json.dumps({"metadata": {"finalizers": finalizers}})
    scene.control.kubectl("patch", "service", run, "-n", scene.namespace, "--type=merge", "--patch", patch)


@pytest.mark.deep
def test_node_identity_replaced(scene: Scene, image: Image, readers: Readers) -> None:
    check = replay(scene, image)
    scene.sealed(scene.run(check))
    assert verdict(readers.say(check)) == ("Passed", "proved")
    scene.cluster.node(NODES[1]).replace()
    assert verdict(readers.say(check)) == told("node-identity", "ib-pair")


@pytest.mark.deep
def test_node_identity_rebooted_where_the_registration_binds_to_the_boot(
    scene: Scene, image: Image, readers: Readers
) -> None:
    def bound(check: Object) -> None:
        check["metadata"]["name"] = "ib-bound"
        check["spec"]["targets"]["bindTo"] = ["uid", "bootID"]

    printed = rendered(scene.namespace, image.by_digest, "--replay", "--recorded-log", PASSES)
    names = [install(scene, *printed, change=bound), install(scene, *printed)]
    for name in names:
        scene.sealed(scene.run(name))
        assert verdict(readers.say(name)) == ("Passed", "proved")
    with rebooted(scene, NODES[1]):
        assert verdict(readers.say("ib-bound")) == told("node-identity", "ib-pair-reserved")
        assert verdict(readers.say("ib-replay")) == ("Passed", "proved"), "it is bound to the UID alone"


@contextmanager
def rebooted(scene: Scene, name: str) -> Iterator[None]:
    """The node reports another boot id. All kubelets of one machine read the same, so the kubelet is away meanwhile."""
    node = scene.cluster.node(name)
    node.stop_kubelet()
    patch = json.dumps({"status": {"nodeInfo": {"bootID": str(uuid.uuid4())}}})
    scene.control.kubectl("patch", "node", name, "--subresource=status", "--type=merge", "--patch", patch)
    try:
        yield
    finally:
        node.start_kubelet()
        node.wait_until_ready()
        node.offer_gpus(node.gpus)
        eventually(lambda: node.describe()["status"]["nodeInfo"]["bootID"] == boot_id(), "its own boot id is back")


def boot_id() -> str:
    with open("/proc/sys/kernel/random/boot_id") as file:
        return file.read().strip()
