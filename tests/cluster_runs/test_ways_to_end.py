"""Every way in which a run ends that is not a healthy one: sealed, with the state and reason of the verdict table."""

import json
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.bed.cluster import GPUS_PER_NODE, NODES, Cluster
from tests.cluster.bed.processes import Server
from tests.cluster.bed.waiting import eventually
from tests.cluster_runs.conftest import make_scene, make_workspace
from tests.cluster_runs.scene import PASS, Scene

pytestmark = [pytest.mark.cluster, pytest.mark.usefixtures("controller"), pytest.mark.deep]

REPORT = "/dev/termination-log"
ONE_FAILS = PASS + (
    '[ "$JOB_COMPLETION_INDEX" = 1 ] && printf \'{"schema":"tau.validation-report.v1","rank":1,"outcome":"failed",'
    '"reason":"correctness_error","message":"12 values arrived wrong"}\' >/dev/termination-log; exit 0\n'
)
WORKLOADS = {
    "failing": (ONE_FAILS, ("Failed", "correctness_error"), "12 values arrived wrong"),
    "silent": ("true", ("Unknown", "report_missing"), "without a report"),
    "crashing": ("exit 3", ("Failed", "workload_failed"), "exit code 3"),
    "passing and crashing": (PASS + "exit 4", ("Failed", "nonzero_exit"), "exit code 4"),
    "lying about its rank": (
        PASS.replace('"$JOB_COMPLETION_INDEX"', "0"),
        ("Unknown", "report_rank_mismatch"),
        "Rank 1 reports as rank 0",
    ),
    "of another run": (
        PASS.replace('"$TAU_RUN_ID"', "0123456789abcdef01234567"),
        ("Unknown", "report_of_another_run"),
        "reports for run 0123456789abcdef01234567",
    ),
    "oversized": (
        PASS + f"head -c 5000 /dev/zero | tr '\\0' x >{REPORT}",
        ("Unknown", "report_truncated"),
        "cut at 4096 bytes",
    ),
    "talking": (f"echo all is well >{REPORT}", ("Unknown", "report_not_json"), "no JSON"),
    "of another schema": (
        PASS.replace("report.v1", "report.v9"),
        ("Unknown", "report_malformed"),
        "/schema",
    ),
}


@pytest.mark.parametrize("kind", WORKLOADS)
def test_a_workload_that_is(kind: str, scene: Scene) -> None:
    script, verdict, words = WORKLOADS[kind]
    scene.ready(scene.template(script))
    envelope = scene.sealed(scene.run())
    assert scene.explain() == verdict
    assert words in envelope["message"]
    assert envelope["cleanup"]["state"] == "complete"
    assert {target["name"] for target in envelope["targets"]["observed"]} == set(NODES)
    assert scene.left() == []


def test_an_endless_workload_meets_its_deadline(scene: Scene) -> None:
    scene.ready(scene.template("echo begun; sleep 1000", run=4))
    envelope = scene.sealed(scene.run())
    assert scene.explain() == ("Unknown", "deadline_exceeded")
    assert len(envelope["targets"]["observed"]) == 2
    logs = next(item for item in envelope["evidence"] if item["name"] == "logs")
    assert (scene.artifacts / logs["sha256"]).read_text().count("begun") == 2
    assert scene.left() == []


def test_a_flood_of_logs_is_cut(scene: Scene) -> None:
    flood = "yes 'a line that says nothing, again and again' | head -n 100000\n" + PASS
    scene.ready(scene.template(flood))
    envelope = scene.sealed(scene.run())
    assert scene.explain() == ("Passed", "proved")
    logs = next(item for item in envelope["evidence"] if item["name"] == "logs")
    assert logs["sizeBytes"] < 2 * 256 * 1024 + 1000
    assert (scene.artifacts / logs["sha256"]).read_text().count("[cut here: the log goes on]") == 2


def test_what_looks_like_a_secret_in_a_log_is_withheld(scene: Scene) -> None:
    scene.ready(scene.template("echo password=correct-horse-battery\necho ordinary words\n" + PASS))
    envelope = scene.sealed(scene.run())
    logs = next(item for item in envelope["evidence"] if item["name"] == "logs")
    kept = (scene.artifacts / logs["sha256"]).read_text()
    assert "ordinary words" in kept
    assert "correct-horse" not in kept


def test_an_init_container_that_fails(scene: Scene) -> None:
    scene.ready(scene.template(PASS, before="exit 7"))
    status = scene.untested(scene.run())
    assert scene.explain() == ("Failed", "workload_failed")
    assert "failed before its container began" in status["message"]
    assert scene.left() == []


def test_an_image_that_cannot_be_had(scene: Scene) -> None:
    scene.ready(scene.template(PASS, image=f"bed.invalid/nothing@sha256:{'0' * 64}"))
    status = scene.untested(scene.run())
    assert scene.explain() == ("Unknown", "launch_failed")
    assert "ErrImageNeverPull" in status["message"]
    assert scene.left() == []


def test_a_quota_that_is_never_free(installed: Cluster, artifacts: Path) -> None:
    for workspace in make_workspace(installed.control, gpus=1):
        scene = make_scene(installed, workspace, artifacts)
        scene.ready(scene.template(PASS, queue=6))
        run = scene.run()
        assert scene.until(run, "Queued")["queuedAt"]
        status = scene.untested(run)
        assert scene.explain() == ("Unknown", "deadline_exceeded")
        assert "insufficient quota for nvidia.com/gpu" in status["message"]
        assert scene.left() == []


SLEEPER = "sleep 30\n" + PASS


def running(scene: Scene, script: str = SLEEPER, **limits: int) -> str:
    """A run whose two pods are at work."""
    scene.ready(scene.template(script, **limits))  # type: ignore[arg-type]
    run = scene.run()
    eventually(lambda: len(scene.status(run).get("targets", [])) == 2, "both pods are at work", 60, pause=0.3)
    return run


def test_a_run_that_kueue_evicts(scene: Scene) -> None:
    run = running(scene)
    patch = json.dumps({"spec": {"stopPolicy": "HoldAndDrain"}})
    scene.control.kubectl("patch", "clusterqueue", scene.namespace, "--type=merge", "--patch", patch)
    envelope = scene.sealed(run)
    assert scene.explain() == ("Unknown", "evicted")
    assert "ClusterQueue" in envelope["message"]
    assert len(envelope["targets"]["observed"]) == 2
    assert scene.left() == []


def test_a_pod_that_somebody_deletes(scene: Scene) -> None:
    run = running(scene)
    scene.control.kubectl("delete", "pod", "-l", "batch.kubernetes.io/job-completion-index=1", "-n", scene.namespace)
    envelope = scene.sealed(run)
    assert scene.explain() == ("Unknown", "workload_deleted")
    assert len(envelope["targets"]["observed"]) == 2


def test_a_job_that_somebody_deletes(scene: Scene) -> None:
    run = running(scene)
    scene.control.kubectl("delete", "job", run, "-n", scene.namespace)
    envelope = scene.sealed(run)
    assert scene.explain() == ("Unknown", "workload_deleted")
    assert "Somebody deleted the Job" in envelope["message"]
    assert scene.left() == []


def test_a_run_that_its_requester_cancels(scene: Scene) -> None:
    run = running(scene)
    scene.operator.kubectl("annotate", "-n", scene.namespace, "validationrun", run, "tau.azure.com/cancel=not needed")
    scene.sealed(run)
    assert scene.explain() == ("Unknown", "cancelled")
    assert scene.left() == []


def test_an_approval_that_is_withdrawn_while_a_run_is_at_work(scene: Scene) -> None:
    run = running(scene)
    mark = ["tau.azure.com/rejected=not any more", f"tau.azure.com/reviewed-by={scene.admin.name}"]
    scene.admin.kubectl("annotate", "-n", scene.namespace, "validationcheck", "paths", "--overwrite", *mark)
    envelope = scene.sealed(run)
    assert (envelope["outcome"], envelope["reason"]) == ("unknown", "cancelled")
    assert "Rejected by petra" in envelope["message"]
    assert scene.explain() == ("Unknown", "rejected")
    assert scene.left() == []


def test_a_template_that_is_deleted_while_a_run_is_at_work(scene: Scene) -> None:
    run = running(scene)
    template = scene.get("validationcheck", "paths")["spec"]["launch"]["template"]["name"]
    scene.admin.kubectl("delete", "validationtemplate", template)
    envelope = scene.sealed(run, 120)
    assert (envelope["outcome"], envelope["reason"]) == ("unknown", "cancelled")
    assert scene.explain() == ("Unknown", "template_changed")


def test_a_cleanup_that_a_finalizer_blocks(scene: Scene) -> None:
    run = running(scene, "sleep 3\n" + PASS, cleanup=3)
    pin = json.dumps({"metadata": {"finalizers": ["tests.example/pinned"]}})
    scene.control.kubectl("patch", "service", run, "-n", scene.namespace, "--type=merge", "--patch", pin)
    envelope = scene.sealed(run)
    assert scene.explain() == ("Failed", "cleanup_incomplete")
    assert [(left["kind"], left["name"]) for left in envelope["cleanup"]["remaining"]] == [("Service", run)]
    free = json.dumps({"metadata": {"finalizers": None}})
    scene.control.kubectl("patch", "service", run, "-n", scene.namespace, "--type=merge", "--patch", free)


def test_objects_of_strangers_with_the_runs_label_are_listed_and_left_alone(scene: Scene) -> None:
    run = running(scene, "sleep 3\n" + PASS)
    label = f"tau.azure.com/run-uid={scene.get('validationrun', run)['metadata']['uid']}"
    managed = "tau.azure.com/managed-by=tau-validation-controller"
    scene.control.kubectl("create", "service", "clusterip", "a-strangers", "--clusterip=None", "-n", scene.namespace)
    scene.control.kubectl("label", "service", "a-strangers", label, managed, "-n", scene.namespace, "--overwrite")
    envelope = scene.sealed(run)
    assert scene.explain() == ("Passed", "proved")
    cleanup = next(item for item in envelope["evidence"] if item["name"] == "cleanup")
    assert "Service a-strangers" in (scene.artifacts / cleanup["sha256"]).read_text()
    assert scene.left() == ["service/a-strangers"]


def test_a_node_that_is_replaced_while_the_run_is_at_work(scene: Scene) -> None:
    run = running(scene, "sleep 25\n" + PASS, run=90)
    before = {target["name"]: target["uid"] for target in scene.status(run)["targets"]}
    scene.cluster.node(NODES[1]).replace()
    envelope = scene.sealed(run, 150)
    assert envelope["outcome"] != "passed"
    seen = {target["name"]: target["uid"] for target in envelope["targets"]["observed"]}
    assert seen[NODES[1]] == before[NODES[1]]
    assert scene.explain() == ("Stale", "target_replaced")
    scene.ready(scene.template(PASS), "after")
    scene.sealed(scene.run("after"))
    states = {check["name"]: (check["state"], check["reason"]) for check in scene.explained()}
    assert states["after"] == ("Passed", "proved")
    scene.cluster.node(NODES[1]).replace()
    states = {check["name"]: (check["state"], check["reason"]) for check in scene.explained()}
    assert states["after"] == ("Stale", "target_replaced")


def test_a_node_that_is_lost_leaves_its_pod_behind_and_that_is_said(scene: Scene) -> None:
    run = running(scene, "sleep 60\n" + PASS, run=15, cleanup=4)
    node = scene.cluster.node(NODES[1])
    node.stop_kubelet()
    try:
        envelope = scene.sealed(run, 120)
        assert scene.explain() == ("Failed", "cleanup_incomplete")
        assert [left["kind"] for left in envelope["cleanup"]["remaining"]] == ["Pod"]
        assert envelope["reason"] == "deadline_exceeded"
    finally:
        node.start_kubelet()
        node.wait_until_ready()
        node.offer_gpus(GPUS_PER_NODE)


def test_a_namespace_that_is_deleted_is_let_go(installed: Cluster, artifacts: Path) -> None:
    spaces: Iterator[str] = make_workspace(installed.control)
    scene = make_scene(installed, next(spaces), artifacts)
    running(scene)
    scene.control.kubectl("delete", "namespace", scene.namespace, "--timeout=60s")


REFUSALS = {
    "an unknown parameter": ({"speed": "high"}, "parameter speed is not one of words"),
    "a parameter of another type": ({"words": 7}, "parameter words must be a string of at most 64 characters"),
    "a parameter that is too long": ({"words": "x" * 65}, "parameter words must be a string of at most 64 characters"),
}


def test_a_run_that_does_not_keep_the_contract_ends_too(scene: Scene) -> None:
    scene.ready(scene.template(PASS))
    status = scene.untested(scene.run(parameters={"words": {"of": "no kind"}}))
    assert status["reason"] == "launch_failed"
    assert scene.explain() == ("Unknown", "result_missing")


@pytest.mark.parametrize("what", REFUSALS)
def test_a_run_is_refused_for(what: str, scene: Scene) -> None:
    parameters, words = REFUSALS[what]
    scene.ready(scene.template(PASS))
    status = scene.untested(scene.run(parameters=parameters))
    assert scene.explain() == ("Unknown", "launch_failed")
    assert words in status["message"]
    assert scene.left() == []


def test_a_run_needs_nodes_that_can_take_it(scene: Scene) -> None:
    targets = {"count": 2, "resource": "nvidia.com/gpu", "perTarget": 9, "bindTo": ["uid"]}
    scene.ready(scene.template(PASS), targets=targets)
    status = scene.untested(scene.run())
    assert scene.explain() == ("Unknown", "launch_failed")
    assert "2 nodes are needed; of 2 with any label, 0 are ready and schedulable" in status["message"]


def test_a_job_of_a_stranger_under_the_runs_name_is_left_alone(scene: Scene) -> None:
    scene.ready(scene.template(PASS, support=False))
    name = f"paths-{uuid.uuid4().hex[:24]}"
    stranger = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": scene.namespace},
        "spec": {
            "suspend": True,
            "template": {
                "spec": {"restartPolicy": "Never", "containers": [{"name": "x", "image": "bed.invalid/x"}]},
            },
        },
    }
    scene.control.kubectl("create", "-f", "-", stdin=json.dumps(stranger))
    scene.run(runID=name.removeprefix("paths-"))
    status = scene.untested(name)
    assert scene.explain() == ("Unknown", "launch_failed")
    assert "not of this run" in status["message"]
    assert scene.left() == [f"job.batch/{name}"]


def test_events_tell_the_story(scene: Scene, controller: Server) -> None:
    scene.ready(scene.template(PASS))
    run = scene.run()
    scene.sealed(run)
    events = scene.get("events", "--field-selector", f"involvedObject.name={run}")["items"]
    said = {event["reason"] for event in events if event["involvedObject"]["kind"] == "TauValidationRun"}
    assert said >= {"Queued", "Admitted", "Running", "Ended", "Collected", "Cleaned", "Sealed"}
