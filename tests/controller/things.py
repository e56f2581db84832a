"""Pods, nodes and the published example as the controller sees them; every call answers fresh values."""

from datetime import timedelta
from typing import Any

from checks.contract.clock import format_time
from checks.contract.kinds import RUN, RunSpec
from checks.contract.parsing import parse
from checks.controller.names import INDEX
from checks.controller.world import World
from checks.objects import labels_of, registration_from, template_from
from tests.contract.example import CLUSTER, Example, at

Object = dict[str, Any]
CONTROLLER = "system:serviceaccount:tau-system:tau-validation-controller"
CREATED = at("2026-11-30T05:08:00Z")
STARTED, FINISHED = (format_time(CREATED + timedelta(seconds=seconds)) for seconds in (49, 200))


def pod(rank: int, node: str, message: str | None = None, code: int = 0, **metadata: Any) -> Object:
    """A pod that has ended, or still runs where there is no message."""
    ended = {"exitCode": code, "startedAt": STARTED, "finishedAt": FINISHED, "message": message}
    state = {"running": {"startedAt": STARTED}} if message is None else {"terminated": ended}
    image = "registry.example/check@sha256:" + "4e0a" * 16
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"pod-{rank}", "uid": f"pod-uid-{rank}", "annotations": {INDEX: str(rank)}} | metadata,
        "spec": {"nodeName": node, "containers": [{"name": "rank", "image": image}]},
        "status": {"containerStatuses": [{"name": "rank", "imageID": image, "state": state}]},
    }


def world(phase: str = "Pending", **parts: Any) -> World:
    """The example's run in a phase; `status` replaces the whole status."""
    example = Example()
    run = example.run
    assert run["kind"] == RUN
    status = parts.pop("status", {})
    run["status"] = {"phase": phase} | status if phase != "Pending" or status else {}
    run["metadata"] |= {"namespace": "team-vision", "resourceVersion": "7"} | parts.pop("metadata", {})
    template, namespace = template_from(example.template), example.namespace
    return World(
        run,
        parse(RunSpec, run["spec"]).value,
        example.check,
        example.template,
        registration_from(example.check, CLUSTER, template, labels_of(namespace)),
        parts.pop("namespace", namespace),
        **parts,
    )


def job(suspend: bool = False, **condition: str) -> Object:
    """The run's Job; a condition such as Complete="True"."""
    conditions = [{"type": kind, "status": status} for kind, status in condition.items()]
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": Example().run["metadata"]["name"], "uid": "job-uid", "creationTimestamp": STARTED},
        "spec": {"suspend": suspend},
        "status": {"conditions": conditions},
    }


def nodes() -> dict[str, Object | None]:
    """The example's nodes by name."""
    return {node["metadata"]["name"]: node for node in Example().all("Node")}
