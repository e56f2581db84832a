"""The replay on two real nodes: registered, approved, run through Kueue, found by name, judged, sealed; and no way in
which it counts for the measurement."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.cluster.bed.cluster import NODES
from tests.cluster.bed.images import Image
from tests.cluster_nccl.conftest import Readers
from tests.cluster_nccl.installed import PASSES, RECORDED, install, pod_of, rendered
from tests.cluster_runs.scene import EVIDENCE, Scene

pytestmark = [pytest.mark.cluster, pytest.mark.usefixtures("controller")]
RDMA = "rdma/ib"
POOL = "kubernetes.azure.com/agentpool"


def test_a_recorded_passing_log_goes_the_whole_way(scene: Scene, image: Image, readers: Readers) -> None:
    check = install(scene, *rendered(scene.namespace, image.by_digest, "--replay", "--recorded-log", PASSES))
    run = scene.run(check)
    envelope = scene.sealed(run)
    assert (envelope["outcome"], envelope["reason"]) == ("passed", "validation_passed"), envelope["message"]
    assert readers.say(check).state == "Passed"

    details = envelope["details"]
    assert details["schema"] == "nccl-ib-replay.v1"
    assert (details["data"]["source"], details["data"]["transport"]) == ("replay", "NET/IB")
    observed = envelope["targets"]["observed"]
    assert [target["rank"] for target in observed] == [0, 1]
    assert {target["name"] for target in observed} == set(NODES)
    assert {target["image"] for target in observed} == {image.by_digest}
    # The pair is in the order of the ranks: each rank told the other on which node it is.
    (pair,) = details["data"]["pairs"]
    assert [pair["from"], pair["to"]] == [target["name"] for target in observed]

    stored = {item["name"]: scene.artifacts / item["sha256"] for item in envelope["evidence"]}
    assert set(stored) == {*EVIDENCE, "recorded-log", "verdict-0", "verdict-1"}
    assert stored["verdict-0"] == stored["verdict-1"], "both ranks judge the same bytes"
    assert stored["recorded-log"].read_bytes() == (RECORDED / PASSES).read_bytes()
    assert json.loads(stored["verdict-0"].read_bytes())["source"] == "replay"
    assert stored["logs"].read_bytes().count((RECORDED / PASSES).read_bytes()) == 2
    assert set(readers.evidence(check).values()) == {"verified"}
    assert scene.left() == []


@pytest.mark.deep
def test_a_lying_registration_that_pins_the_replay_under_the_name_of_the_measurement(
    scene: Scene, image: Image, readers: Readers
) -> None:
    measured = rendered(scene.namespace, image.by_digest)[1]["spec"]
    template, check = rendered(scene.namespace, image.by_digest, "--replay", "--recorded-log", PASSES)

    def lie(item: dict[str, Any]) -> None:
        item["spec"] |= {key: measured[key] for key in ("type", "version", "title", "display")}
        item["spec"]["results"]["detailsSchemas"] = measured["results"]["detailsSchemas"]

    name = install(scene, template, check, change=lie)
    envelope = scene.sealed(scene.run(name))
    assert envelope["check"]["type"] == "nccl.tau.azure.com/inter-node-ib"
    assert envelope["outcome"] == "passed"
    said = readers.say(name)
    assert (said.state, said.reason) == ("Unknown", "unsupported_schema")
    assert "nccl-ib-replay.v1, which the registration does not list" in said.message


@pytest.fixture
def gpu_nodes(scene: Scene) -> Iterator[None]:
    """Both nodes are of the pool that the registration names and offer an RDMA resource, of which the queue has a
    quota. The workspace admits IPC_LOCK."""
    label = ["pod-security.kubernetes.io/enforce=privileged"]
    scene.control.kubectl("label", "namespace", scene.namespace, "--overwrite", *label)
    place = "/spec/resourceGroups/0"
    quota = {"op": "add", "path": f"{place}/flavors/0/resources/-", "value": {"name": RDMA, "nominalQuota": "4"}}
    covered = {"op": "add", "path": f"{place}/coveredResources/-", "value": RDMA}
    patch = json.dumps([covered, quota])
    scene.control.kubectl("patch", "clusterqueue", scene.namespace, "--type=json", "--patch", patch)
    for node in NODES:
        scene.control.kubectl("label", "node", node, f"{POOL}=h200-ib")
        _offer(scene, node, "1")
    yield
    for node in NODES:
        scene.control.kubectl("label", "node", node, f"{POOL}-")
        _offer(scene, node, None)


def _offer(scene: Scene, node: str, count: str | None) -> None:
    patch = json.dumps({"status": {field: {RDMA: count} for field in ("capacity", "allocatable")}})
    scene.control.kubectl("patch", "node", node, "--subresource=status", "--type=merge", "--patch", patch)


def _small(template: dict[str, Any]) -> None:
    """The bed's nodes have less than four cores; everything else is as printed."""
    for kind in pod_of(template)["containers"][0]["resources"].values():
        kind |= {"cpu": "100m", "memory": "128Mi"}


@pytest.mark.deep
@pytest.mark.usefixtures("gpu_nodes")
def test_the_measurement_in_an_image_full_of_recorded_logs_does_not_pass(
    scene: Scene, image: Image, readers: Readers
) -> None:
    template, check = rendered(scene.namespace, image.by_digest)
    name = install(scene, template, check, template_change=_small)

    refused = scene.untested(scene.run(name, parameters={"recordedLog": PASSES}))
    assert refused["reason"] == "launch_failed"
    assert "parameter recordedLog is not one of" in refused["message"]

    envelope = scene.sealed(scene.run(name))
    assert (envelope["outcome"], envelope["reason"]) == ("unknown", "runtime_error")
    assert "MPICH" in envelope["message"]
    said = readers.say(name)
    assert (said.state, said.reason) == ("Unknown", "runtime_error")


@pytest.mark.deep
@pytest.mark.usefixtures("gpu_nodes")
def test_a_measurement_with_the_replays_environment_is_still_a_measurement(
    scene: Scene, image: Image, readers: Readers
) -> None:
    """An environment in the template is all that an author could add without changing what runs."""

    def smuggle(template: dict[str, Any]) -> None:
        _small(template)
        added = {"TAU_PARAM_recordedLog": PASSES, "TAU_RECORDED_DIR": "/opt/recorded"}
        pod_of(template)["containers"][0]["env"] += [{"name": key, "value": value} for key, value in added.items()]

    name = install(scene, *rendered(scene.namespace, image.by_digest), template_change=smuggle)
    envelope = scene.sealed(scene.run(name))
    assert (envelope["outcome"], envelope["reason"]) == ("unknown", "runtime_error")
    assert readers.say(name).state == "Unknown"
