"""Writes the examples of this folder: a check that keeps every rule, and for each rule the same check breaking only it.

    python examples/conformance/make.py

`tau-check conformance -f examples/conformance/bad/RULE.yaml` names RULE, and no other rule, as broken.
"""

import copy
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER.parents[1]))
from checks.contract.document import digest  # noqa: E402

Object = dict[str, Any]
RUN_ID = "7d0f3c9a51b2e84466aa91c0"
SCRIPT = """\
printf '{"schema":"tau.validation-report.v1","rank":%s,"runID":"%s","outcome":"passed","reason":"validation_passed",' \\
  "$JOB_COMPLETION_INDEX" "$TAU_RUN_ID" > /dev/termination-log
printf '"data":{"path":"%s"}}' "$TAU_PARAM_path" >> /dev/termination-log
"""


class Check:
    """A template, a registration and what two pods left behind, to be changed by one thing."""

    def __init__(self) -> None:
        security = {
            "runAsNonRoot": True,
            "runAsUser": 65532,
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
            "seccompProfile": {"type": "RuntimeDefault"},
        }
        self.container: Object = {
            "name": "look",
            "image": "registry.example/busybox@sha256:" + "0" * 64,
            "command": ["/bin/sh", "-c", SCRIPT],
            "securityContext": security,
        }
        self.pod: Object = {
            "restartPolicy": "Never",
            "automountServiceAccountToken": False,
            "containers": [self.container],
        }
        self.job: Object = {"completions": 2, "parallelism": 2, "completionMode": "Indexed"}
        self.template: Object = {
            "description": "Looks for a path on two nodes",
            "parameters": [{"name": "path", "type": "string", "pattern": "^/[A-Za-z0-9/]*$", "default": "/proc"}],
            "allowedWorkspaces": {},
            "deadlines": {"queueSeconds": 600, "runSeconds": 300, "cleanupSeconds": 120},
            "job": {"spec": self.job | {"template": {"spec": self.pod}}},
        }
        self.name = "path-there"
        self.launch: Object = {"name": "path-there", "digest": "", "parameters": {"path": "/proc/meminfo"}}
        self.results: Object = {
            "versions": ["1.0"],
            "detailsSchemas": ["path-there.v1"],
            "freshForSeconds": 86400,
            "publisher": {"namespace": "tau-system", "serviceAccount": "tau-validation-controller"},
            "requiredEvidence": ["manifest", "logs", "placement", "image-receipt", "cleanup"],
        }
        self.check: Object = {
            "type": "checks.example.org/path-there",
            "version": "1.0",
            "title": "A path is there",
            "launch": {"template": self.launch},
            "schedule": {"cron": "0 */6 * * *", "timeZone": "Etc/UTC"},
            "targets": {"count": 2, "bindTo": ["uid"]},
            "results": self.results,
            "display": {"summary": [{"label": "Path", "pointer": "/path"}]},
        }
        self.reports: list[Object] = [
            {
                "schema": "tau.validation-report.v1",
                "rank": rank,
                "runID": RUN_ID,
                "outcome": "passed",
                "reason": "validation_passed",
                "data": {"path": "/proc/meminfo"},
            }
            for rank in (0, 1)
        ]
        self.messages: dict[int, str | None] = {}
        self.codes = {0: 0, 1: 0}

    def documents(self) -> list[Object]:
        """As kubectl prints them; the registration pins the template as it is now."""
        self.launch["digest"] = self.launch["digest"] or digest(self.template)
        made = [
            _object("TauValidationTemplate", {"name": "path-there"}, self.template),
            _object("TauValidationCheck", {"name": self.name, "namespace": "team-vision"}, self.check),
        ]
        return [copy.deepcopy(each) for each in (*made, self._pod(0), self._pod(1))]

    def _pod(self, rank: int) -> Object:
        message = self.messages.get(rank, json.dumps(self.reports[rank], separators=(",", ":")))
        ended = {"exitCode": self.codes[rank], "reason": "Completed"} | ({"message": message} if message else {})
        return {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": f"{self.name}-{RUN_ID}-{rank}",
                "labels": {"tau.azure.com/run-id": RUN_ID},
                "annotations": {"batch.kubernetes.io/job-completion-index": str(rank)},
            },
            "status": {"containerStatuses": [{"name": "look", "state": {"terminated": ended}}]},
        }


def _object(kind: str, metadata: Object, spec: Object) -> Object:
    return {"apiVersion": "tau.azure.com/v1alpha1", "kind": kind, "metadata": metadata, "spec": spec}


def _asks_for_more(check: Check) -> None:
    check.results["requiredEvidence"].append("ib-counters")


BAD: dict[str, Callable[[Check], object]] = {
    "fields": lambda c: c.check.pop("title"),
    "name-fits": lambda c: setattr(c, "name", "a-path-that-is-there-on-every-node"),
    "own-version": lambda c: c.check.update(version="1.1"),
    "schedule": lambda c: c.check["schedule"].update(cron="61 */6 * * *"),
    "publisher": lambda c: c.results["publisher"].update(serviceAccount="default"),
    "template-pinned": lambda c: c.launch.update(digest="sha256:" + "0" * 64),
    "parameters": lambda c: c.launch["parameters"].update(path="proc/meminfo"),
    "one-report-per-target": lambda c: c.check["targets"].update(count=3),
    "evidence-somebody-writes": _asks_for_more,
    "shown-data-is-kept": lambda c: c.results.pop("detailsSchemas"),
    "no-secrets": lambda c: c.check.update(title="Path, password=correct-horse-battery"),
    "has-a-container": lambda c: c.pod.update(containers=[]),
    "images-by-digest": lambda c: c.container.update(image="registry.example/busybox:1.36"),
    "no-api-token": lambda c: c.pod.pop("automountServiceAccountToken"),
    "restricted-pods": lambda c: c.container["securityContext"].update(privileged=True),
    "probes-ask-the-pod": lambda c: c.container.update(livenessProbe={"tcpSocket": {"host": "10.0.0.1", "port": 22}}),
    "support-objects": lambda c: c.template.update(
        support=[{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "hosts"}}]
    ),
    "report-there": lambda c: c.messages.update({1: None}),
    "report-fits": lambda c: c.reports[1].update(data={"log": "x" * 4000}),
    "report-is-json": lambda c: c.messages.update({1: "all is well"}),
    "report-fields": lambda c: c.reports[1].update(outcome="ok"),
    "report-of-its-rank": lambda c: c.reports[1].update(rank=0),
    "report-of-its-run": lambda c: c.reports[1].update(runID="0" * 24),
    "report-data-schema": lambda c: c.reports[1].update(detailsSchema="replay.v1"),
    "report-no-secrets": lambda c: c.reports[1].update(message="token=0123456789abcdef0123"),
    "passed-ends-with-0": lambda c: c.codes.update({1: 3}),
}


def own_controller() -> list[Object]:
    """A check that brings its own controller: no template, and nothing of its pods is looked at."""
    check = Check()
    check.check["launch"] = {"controller": {"name": "storage.example.org/path"}}
    check.results["publisher"] = {"namespace": "storage", "serviceAccount": "path-checker"}
    check.results["requiredEvidence"] = ["read-back"]
    return check.documents()[1:2]


def files() -> dict[str, str]:
    """Every file of this folder by its name."""
    made = {"good/path-there.yaml": Check().documents(), "good/own-controller.yaml": own_controller()}
    for rule, spoil in BAD.items():
        check = Check()
        spoil(check)
        made[f"bad/{rule}.yaml"] = check.documents()
    return {name: yaml.safe_dump_all(documents, sort_keys=False, width=110) for name, documents in made.items()}


if __name__ == "__main__":
    for name, content in files().items():
        (FOLDER / name).parent.mkdir(exist_ok=True)
        (FOLDER / name).write_text(content, encoding="utf-8")
