"""Nodes that exist only as objects, by the thousand: KWOK keeps their heartbeats and completes their pods."""

from typing import Any

from tests.cluster.bed.control import ControlPlane
from tests.cluster.bed.processes import Server, answers, free_port
from tests.cluster.tools import copied, tool

MARK = {"kwok.x-k8s.io/node": "fake"}
STAGES = ("node/fast", "node/heartbeat-with-lease", "pod/fast")


def start_kwok(control: ControlPlane) -> Server:
    """Start the controller of fake nodes; it leaves every node without its mark alone."""
    stages = [
        path
        for stage in STAGES
        for path in sorted((copied("kwok") / stage).glob("*.yaml"))
        if path.name != "kustomization.yaml"
    ]
    port = free_port()
    selector = ",".join(f"{key}={value}" for key, value in MARK.items())
    server = control.servers.start(
        "kwok",
        [
            tool("kwok"),
            f"--kubeconfig={control.kubeconfig_for('kwok', ['system:masters'])}",
            f"--manage-nodes-with-annotation-selector={selector}",
            "--node-lease-duration-seconds=40",
            f"--server-address=127.0.0.1:{port}",
            *(f"--config={path}" for path in stages),
        ],
    )
    server.wait_until(answers(f"http://127.0.0.1:{port}/healthz"))
    return server


def fake_nodes(count: int, prefix: str = "fake-node", gpus: int = 8) -> list[dict[str, Any]]:
    """Node objects for `ControlPlane.apply`; a taint keeps every pod away that does not ask for them."""
    offered = {"cpu": "96", "memory": "1Ti", "pods": "110", "nvidia.com/gpu": str(gpus)}
    return [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {
                "name": f"{prefix}-{number:05d}",
                "annotations": MARK,
                "labels": {**MARK, "kubernetes.io/hostname": f"{prefix}-{number:05d}"},
            },
            "spec": {"taints": [{"key": "kwok.x-k8s.io/node", "value": "fake", "effect": "NoSchedule"}]},
            "status": {"allocatable": offered, "capacity": offered},
        }
        for number in range(count)
    ]
