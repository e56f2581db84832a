"""One workspace as its people see it: templates of a shell script, registrations, runs, and what tau-check says."""

import json
import subprocess
import sys
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from checks.contract.clock import format_time
from checks.contract.document import digest
from tests.cluster.bed.cluster import Cluster
from tests.cluster.bed.control import ControlPlane, Refused
from tests.cluster.bed.node import GPU
from tests.cluster.bed.people import Person
from tests.cluster.bed.waiting import eventually

Object = dict[str, Any]
CLUSTER = "bed"
PUBLISHER = {"namespace": "tau-system", "serviceAccount": "tau-validation-controller"}
EVIDENCE = ["manifest", "logs", "placement", "image-receipt", "cleanup"]
PASS = """
echo "rank $JOB_COMPLETION_INDEX of run $TAU_RUN_ID on $NODE_NAME"
printf '{"schema":"tau.validation-report.v1","rank":%s,"runID":"%s","outcome":"passed","reason":"validation_passed",\
"message":"it was all there","data":{"node":"%s","words":"%s"}}' \
  "$JOB_COMPLETION_INDEX" "$TAU_RUN_ID" "$NODE_NAME" "$TAU_PARAM_words" >/dev/termination-log
"""


def refusal(control: ControlPlane, item: Object) -> str:
    """What the API server says against creating an object, "" where nothing."""
    try:
        control.kubectl("create", "--dry-run=server", "-f", "-", stdin=json.dumps(item))
    except Refused as refused:
        return str(refused)
    return ""


@dataclass
class Scene:
    """operator: registers and runs checks here. admin: approves. artifacts: where evidence is."""

    cluster: Cluster
    namespace: str
    artifacts: Path
    operator: Person
    admin: Person

    @property
    def control(self) -> ControlPlane:
        """kubectl of the bed's own admin."""
        return self.cluster.control

    def get(self, *words: str) -> Any:
        """Objects of this workspace as values."""
        return self.control.get(*words, "--namespace", self.namespace)

    def template(
        self,
        script: str,
        nodes: int = 2,
        *,
        image: str = "",
        queue: int = 60,
        run: int = 60,
        cleanup: int = 30,
        support: bool = True,
        before: str = "",
    ) -> Object:
        """A template whose pods run a shell script, one GPU each; written by the platform admin."""
        container = {
            "name": "check",
            "image": image or self.cluster.busybox.by_digest,
            "imagePullPolicy": "Never",
            "command": ["sh", "-c", script],
            "env": [{"name": "FROM_THE_TEMPLATE", "value": "hunter2-not-for-others"}],
            "resources": {"limits": {GPU: "1", "cpu": "50m", "memory": "64Mi"}},
            "securityContext": {
                "runAsNonRoot": True,
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
                "seccompProfile": {"type": "RuntimeDefault"},
            },
        }
        pod: Object = {
            "restartPolicy": "Never",
            "automountServiceAccountToken": False,
            "terminationGracePeriodSeconds": 1,
            "subdomain": "peers",
            "containers": [container],
        }
        if before:
            pod["initContainers"] = [container | {"name": "before", "command": ["sh", "-c", before]}]
        service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "peers"}}
        policy = {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": {"name": "peers"}}
        item = {
            "apiVersion": "tau.azure.com/v1alpha1",
            "kind": "TauValidationTemplate",
            "metadata": {"name": f"shell-{uuid.uuid4().hex[:10]}"},
            "spec": {
                "description": "Pods that run a shell script",
                "parameters": [{"name": "words", "type": "string", "default": "none", "maxLength": 64}],
                "allowedWorkspaces": {"matchLabels": {"tau.azure.com/gpu": "true"}},
                "deadlines": {"queueSeconds": queue, "runSeconds": run, "cleanupSeconds": cleanup},
                "job": {
                    "spec": {
                        "completions": nodes,
                        "parallelism": nodes,
                        "completionMode": "Indexed",
                        "backoffLimit": 0,
                        "template": {"spec": pod},
                    }
                },
                "support": [
                    service | {"spec": {"clusterIP": "None", "ports": [{"port": 29500}]}},
                    policy | {"spec": {"policyTypes": ["Ingress"]}},
                ]
                if support
                else [],
            },
        }
        self.admin.kubectl("create", "-f", "-", stdin=json.dumps(item))
        return item

    def register(self, template: Object, name: str = "paths", nodes: int = 2, **fields: Any) -> Object:
        """A registration, written by the operator; not yet approved."""
        spec = {
            "type": "tests.tau.azure.com/shell",
            "version": "1.0",
            "title": "A shell script",
            "launch": {
                "template": {
                    "name": template["metadata"]["name"],
                    "digest": digest(template["spec"]),
                }
            },
            "targets": {"count": nodes, "resource": GPU, "perTarget": 1, "bindTo": ["uid", "bootID"]},
            "results": {
                "versions": ["1.0"],
                "detailsSchemas": ["shell.v1"],
                "freshForSeconds": 3600,
                "publisher": PUBLISHER,
                "requiredEvidence": EVIDENCE,
                "historyLimit": 1000,
            },
        }
        item = {
            "apiVersion": "tau.azure.com/v1alpha1",
            "kind": "TauValidationCheck",
            "metadata": {"name": name, "namespace": self.namespace},
            "spec": spec | fields,
        }
        self.operator.kubectl("create", "-f", "-", stdin=json.dumps(item))
        return item

    def condition(self, name: str, kind: str) -> Object:
        """One condition of a registration; empty before the controller has written it."""
        status = self.get("validationcheck", name).get("status", {})
        return next((each for each in status.get("conditions", []) if each["type"] == kind), {})

    def approve(self, name: str = "paths", by: Person | None = None) -> str:
        """Approves what the controller says the digest is, once it says so. Raises Refused."""
        found = eventually(
            lambda: self.get("validationcheck", name).get("status", {}).get("specDigest"), "the digest is written"
        )
        by = by or self.admin
        marks = [f"tau.azure.com/approved={found}", f"tau.azure.com/reviewed-by={by.name}"]
        by.kubectl("annotate", "--namespace", self.namespace, "validationcheck", name, "--overwrite", *marks)
        return str(found)

    def ready(self, template: Object, name: str = "paths", nodes: int = 2, **fields: Any) -> None:
        """Registered, approved, and the controller says that runs can start."""
        self.register(template, name, nodes, **fields)
        self.approve(name)
        eventually(lambda: self.condition(name, "Ready").get("status") == "True", f"{name} is ready")

    def run(self, name: str = "paths", by: Person | None = None, **fields: Any) -> str:
        """Asks for a run; its name."""
        check = self.get("validationcheck", name)
        run_id = fields.get("runID") or uuid.uuid4().hex[:24]
        by = by or self.operator
        spec = {
            "checkRef": {"name": name, "uid": check["metadata"]["uid"], "specDigest": digest(check["spec"])},
            "runID": run_id,
            "attempt": 1,
            "trigger": "Manual",
            "requestedBy": by.name,
        }
        item = {
            "apiVersion": "tau.azure.com/v1alpha1",
            "kind": "TauValidationRun",
            "metadata": {"name": f"{name}-{run_id}", "namespace": self.namespace},
            "spec": spec | fields,
        }
        by.kubectl("create", "-f", "-", stdin=json.dumps(item))
        return f"{name}-{run_id}"

    def status(self, run: str) -> Object:
        """The status of a run."""
        return dict(self.get("validationrun", run).get("status", {}))

    def until(self, run: str, phase: str, seconds: float = 60) -> Object:
        """The status of a run once it has reached a phase."""
        return eventually(
            lambda: found if (found := self.status(run)).get("phase") == phase else None,  # type: ignore[arg-type, return-value]
            f"{run} is {phase}",
            seconds,
            pause=0.3,
        )

    def sealed(self, run: str, seconds: float = 90) -> Object:
        """The envelope of a run, once it is sealed."""
        status = self.until(run, "Sealed", seconds)
        assert "resultRef" in status, status
        return dict(self.get("validationresult", status["resultRef"]["name"])["spec"]["envelope"])

    def untested(self, run: str, seconds: float = 90) -> Object:
        """The status of a run that ended before anything was tested: there is no result, and the status says why."""
        status = self.until(run, "Sealed", seconds)
        assert "resultRef" not in status, status
        return status

    def dump(self) -> str:
        """What kubectl prints of everything that a verdict is made from."""
        own = "validationchecks,validationruns,validationresults"
        around = "validationtemplates,nodes,namespaces,validatingadmissionpolicies,validatingadmissionpolicybindings"
        return (
            self.control.kubectl("get", own, "--namespace", self.namespace, "-o", "yaml")
            + "---\n"
            + self.control.kubectl("get", around, "-o", "yaml")
        )

    def explain(self) -> tuple[str, str]:
        """State and reason of the only check here, from `tau-check explain` over what kubectl prints."""
        (check,) = self.explained()
        return check["state"], check["reason"]

    def explained(self) -> list[Object]:
        """Every check of this workspace, as `tau-check explain` says it."""
        words = ["-f", "-", "--cluster", CLUSTER, "--captured-at", format_time(datetime.now(UTC))]
        said = subprocess.run(
            [
                Path(sys.executable).with_name("tau-check"),
                "explain",
                *words,
                "--evidence",
                self.artifacts,
                "-o",
                "json",
            ],
            input=self.dump(),
            capture_output=True,
            text=True,
            check=False,
        )
        assert said.returncode in (0, 1, 2), said.stderr
        return [each for each in json.loads(said.stdout)["checks"] if each["namespace"] == self.namespace]

    def left(self) -> list[str]:
        """What there still is of the kinds that runs create."""
        found = self.control.kubectl(
            "get", "jobs,pods,services,networkpolicies", "-o", "name", "--namespace", self.namespace
        )
        return [name for name in found.split() if name]
