"""Schedules, history and strangers, step by step against the real API server with the controller's own token."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from checks.cluster.writing import WritingApi
from checks.contract.clock import format_time
from checks.contract.document import digest
from checks.controller.readiness import Guards
from checks.controller.registrations import Registrations
from tests.cluster.bed.control import Refused
from tests.cluster_runs.conftest import Start, end
from tests.cluster_runs.scene import CLUSTER, PASS, Scene
from tests.deploy.objects import CONTROLLER

pytestmark = [pytest.mark.cluster, pytest.mark.deep]
NOON = datetime(2031, 5, 4, 12, 0, tzinfo=UTC)
HOURLY = {"schedule": {"cron": "0 * * * *", "timeZone": "Etc/UTC"}}


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = NOON - timedelta(minutes=30)

    def __call__(self) -> datetime:
        return self.now


class Keeper:
    """Registrations with a clock of the test's own, and one check that a person looks at."""

    def __init__(self, scene: Scene) -> None:
        account = scene.control.kubeconfig_for_account("tau-system", "tau-validation-controller")
        self.clock, self.scene = Clock(), scene
        self.registrations = Registrations(WritingApi(str(account)), CLUSTER, CONTROLLER, self.clock)

    def look(self, minutes: float = 0) -> dict[str, Any]:
        """Lets time pass, looks at the check; its status."""
        self.clock.now += timedelta(minutes=minutes)
        self.registrations.reconcile(self.scene.namespace, "paths", Guards())
        return dict(self.scene.get("validationcheck", "paths")["status"])

    def runs(self) -> list[dict[str, Any]]:
        return list(self.scene.get("validationruns")["items"])

    def seal(self) -> None:
        """Every run that there is has ended."""
        api = self.registrations.api
        for run in self.runs():
            path = f"/apis/tau.azure.com/v1alpha1/namespaces/{self.scene.namespace}/validationruns"
            api.patch(f"{path}/{run['metadata']['name']}/status", {"status": {"phase": "Sealed"}})


@pytest.fixture
def keeper(quiet: Scene) -> Keeper:
    return Keeper(quiet)


def approved(keeper: Keeper, **fields: Any) -> None:
    keeper.scene.register(keeper.scene.template(PASS), **fields)
    keeper.look()
    keeper.scene.approve()
    keeper.look()


def test_a_schedule_starts_one_run_when_it_is_due(keeper: Keeper) -> None:
    approved(keeper, **HOURLY)
    assert keeper.look()["nextRunAt"] == format_time(NOON)
    assert keeper.runs() == []
    status = keeper.look(30)
    (run,) = keeper.runs()
    assert (run["spec"]["trigger"], run["spec"]["requestedBy"]) == ("Schedule", CONTROLLER)
    assert status["nextRunAt"] == format_time(NOON + timedelta(hours=1))
    assert status["lastRun"]["uid"] == run["metadata"]["uid"]
    keeper.look()
    assert len(keeper.runs()) == 1


def test_runs_do_not_pile_up_and_what_is_missed_shows_as_overdue_and_is_made_up_for_once(keeper: Keeper) -> None:
    approved(keeper, **HOURLY)
    keeper.look(30)
    for _ in range(5):
        assert keeper.look(60)["nextRunAt"] == format_time(NOON + timedelta(hours=1))
    assert len(keeper.runs()) == 1
    keeper.seal()
    assert keeper.look()["nextRunAt"] == format_time(NOON + timedelta(hours=6))
    assert len(keeper.runs()) == 2


def test_a_start_that_was_not_noted_is_not_made_twice(keeper: Keeper, quiet: Scene) -> None:
    approved(keeper, **HOURLY)
    keeper.look(30)
    keeper.seal()
    before = {"status": {"nextRunAt": format_time(NOON)}}
    path = f"/apis/tau.azure.com/v1alpha1/namespaces/{quiet.namespace}/validationchecks/paths/status"
    keeper.registrations.api.patch(path, before)
    assert keeper.look()["nextRunAt"] == format_time(NOON + timedelta(hours=1))
    assert len(keeper.runs()) == 1


def test_a_suspended_or_unapproved_check_starts_nothing(keeper: Keeper, quiet: Scene) -> None:
    approved(keeper, suspend=True, **HOURLY)
    keeper.look(600)
    assert keeper.runs() == []
    change = json.dumps({"spec": {"suspend": False}})
    quiet.operator.kubectl(
        "patch", "validationcheck", "paths", "-n", quiet.namespace, "--type=merge", "--patch", change
    )
    keeper.look()
    keeper.look(600)
    assert keeper.runs() == []
    assert quiet.condition("paths", "Ready")["reason"] == "ApprovalOutdated"


def test_history_is_bounded_and_the_newest_run_stays(keeper: Keeper, quiet: Scene) -> None:
    results = {
        "versions": ["1.0"],
        "freshForSeconds": 60,
        "publisher": {"namespace": "tau-system", "serviceAccount": "tau-validation-controller"},
        "historyLimit": 2,
    }
    approved(keeper, results=results, **HOURLY)
    for _ in range(4):
        keeper.look(61)
        keeper.seal()
    keeper.look()
    names = [run["metadata"]["name"] for run in keeper.runs()]
    assert len(names) == 2
    assert quiet.get("validationcheck", "paths")["status"]["lastRun"]["name"] in names


def test_every_condition_says_what_to_do(keeper: Keeper, quiet: Scene) -> None:
    quiet.register(quiet.template(PASS))
    status = keeper.look()
    said = {each["type"]: (each["status"], each["reason"]) for each in status["conditions"]}
    assert said == {
        "Accepted": ("True", "Accepted"),
        "Approved": ("False", "NotApproved"),
        "TemplateResolved": ("True", "TemplateResolved"),
        "Ready": ("False", "NotApproved"),
    }
    assert status["specDigest"] == digest(quiet.get("validationcheck", "paths")["spec"])
    keeper.scene.approve()
    keeper.look()
    assert quiet.condition("paths", "Ready")["status"] == "True"
    again = quiet.get("validationcheck", "paths")["metadata"]["resourceVersion"]
    keeper.look(1)
    assert quiet.get("validationcheck", "paths")["metadata"]["resourceVersion"] == again


def test_a_forged_job_under_the_runs_name_is_not_taken_for_the_runs_own(start: Start, quiet: Scene) -> None:
    server = start("--lease-seconds=0.5")
    quiet.ready(quiet.template("exit 1", support=False))
    assert end(quiet.control, server) == 0
    run = quiet.run()
    dying = start("--lease-seconds=0.5", module="tests.cluster_runs.crashing", env={"TAU_TEST_WRITES": "1"})
    dying.process.wait(30)
    quiet.control.servers.kill(dying)
    uid = quiet.get("validationrun", run)["metadata"]["uid"]
    assert quiet.status(run)["cleanup"]["owned"] == [{"apiVersion": "batch/v1", "kind": "Job", "name": run}]
    forge(quiet, run, uid)
    start("--lease-seconds=0.5")
    status = quiet.until(run, "Sealed")
    assert "is not what this run would have created" in status["message"]
    assert quiet.explain() == ("Unknown", "launch_failed")
    assert quiet.left() == []


def forge(scene: Scene, run: str, uid: str) -> None:
    """A Job of a researcher's own making that says it is the run's, and passes."""
    labels = {
        "tau.azure.com/managed-by": "tau-validation-controller",
        "tau.azure.com/run-uid": uid,
        "tau.azure.com/run-id": run.removeprefix("paths-"),
        "kueue.x-k8s.io/queue-name": "jobqueue",
    }
    owner = {"apiVersion": "tau.azure.com/v1alpha1", "kind": "TauValidationRun", "name": run, "uid": uid}
    container = {
        "name": "check",
        "image": scene.cluster.busybox.by_digest,
        "imagePullPolicy": "Never",
        "command": ["sh", "-c", PASS],
        "resources": {"limits": {"nvidia.com/gpu": "1"}},
        "securityContext": {
            "runAsNonRoot": True,
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "seccompProfile": {"type": "RuntimeDefault"},
        },
    }
    pod = {"restartPolicy": "Never", "automountServiceAccountToken": False, "containers": [container]}
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": run,
            "namespace": scene.namespace,
            "labels": labels,
            "ownerReferences": [owner | {"controller": True}],
        },
        "spec": {
            "suspend": True,
            "completions": 2,
            "parallelism": 2,
            "completionMode": "Indexed",
            "backoffLimit": 0,
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    }
    scene.operator.kubectl("create", "-f", "-", stdin=json.dumps(job))


def test_the_controller_cannot_approve(keeper: Keeper, quiet: Scene) -> None:
    quiet.register(quiet.template(PASS))
    keeper.look()
    found = quiet.get("validationcheck", "paths")["status"]["specDigest"]
    account = quiet.control.kubeconfig_for_account("tau-system", "tau-validation-controller")
    marks = [f"tau.azure.com/approved={found}", f"tau.azure.com/reviewed-by={CONTROLLER}"]
    words = ("annotate", "--namespace", quiet.namespace, "validationcheck", "paths", *marks)
    with pytest.raises(Refused, match=r"cannot patch|may change the annotations"):
        quiet.control.kubectl(*words, kubeconfig=account)
