"""From registration to Passed, as its people live it."""

import json
from typing import Any

import pytest

from tests.cluster.bed.cluster import NODES
from tests.cluster.bed.control import Refused
from tests.cluster.bed.processes import Server
from tests.cluster.bed.waiting import eventually
from tests.cluster_runs.scene import EVIDENCE, PASS, Scene

pytestmark = pytest.mark.cluster


def test_registered_approved_run_and_passed(controller: Server, scene: Scene) -> None:
    scene.register(scene.template(PASS))
    with pytest.raises(Refused, match="may change the annotations"):
        scene.approve(by=scene.operator)
    refused = scene.run()
    status = scene.untested(refused)
    assert status["reason"] == "launch_failed"
    assert "platform admin has to review" in status["message"]
    assert scene.explain() == ("Unknown", "not_approved")

    scene.approve()
    eventually(lambda: scene.condition("paths", "Ready").get("status") == "True", "the check is ready")
    run = scene.run(parameters={"words": "hello"})
    envelope = scene.sealed(run)
    assert (envelope["outcome"], envelope["reason"], envelope["message"]) == (
        "passed",
        "validation_passed",
        "it was all there",
    )
    assert scene.explain() == ("Passed", "proved"), json.dumps(scene.explained(), indent=1)

    observed = envelope["targets"]["observed"]
    nodes = {node["metadata"]["name"]: node for node in scene.control.get("nodes")["items"]}
    assert {target["name"] for target in observed} == set(NODES)
    assert [target["rank"] for target in observed] == [0, 1]
    for target in observed:
        node: Any = nodes[target["name"]]
        assert target["uid"] == node["metadata"]["uid"]
        assert target["bootID"] == node["status"]["nodeInfo"]["bootID"]
        assert target["image"] == scene.cluster.busybox.by_digest
    assert envelope["details"]["data"]["words"] == "hello"
    assert [item["name"] for item in envelope["evidence"]] == EVIDENCE
    assert {entry["kind"] for entry in envelope["cleanup"]["owned"]} == {"Job", "Service", "NetworkPolicy"}
    assert scene.left() == []

    evidence = {item["name"]: (scene.artifacts / item["sha256"]).read_text() for item in envelope["evidence"]}
    assert f"of run {run.removeprefix('paths-')} on gpu-node-1" in evidence["logs"]
    whole = json.dumps(envelope) + "".join(evidence.values()) + controller.log.read_text()
    assert "hunter2" not in whole
    assert "Bearer" not in whole
    status = scene.get("validationcheck", "paths")["status"]
    assert status["lastRun"]["name"] == run


def test_two_runs_at_once_share_nothing(controller: Server, scene: Scene) -> None:
    scene.ready(scene.template("sleep 2\n" + PASS))
    runs = [scene.run(), scene.run()]
    envelopes = [scene.sealed(run) for run in runs]
    assert [envelope["outcome"] for envelope in envelopes] == ["passed", "passed"]
    uids = [{entry["uid"] for entry in envelope["cleanup"]["owned"]} for envelope in envelopes]
    assert not uids[0] & uids[1]
    pods = [{target["podUID"] for target in envelope["targets"]["observed"]} for envelope in envelopes]
    assert not pods[0] & pods[1]
    assert scene.explain() == ("Passed", "proved")
