"""The way from pods to what runs beside the cluster, which a kube-proxy and a network would give."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.cluster.bed.cluster import Cluster

SERVICES = (
    "10.96.0.1"  # the Service `kubernetes`, as pods find it in their environment; in the API server's certificate
)


def forward(cluster: Cluster, ports: Mapping[int, int]) -> None:
    """Let the pods of every node reach ports of loopback under the address SERVICES."""
    pairs = [f"{port}={target}" for port, target in ports.items()]
    for node in cluster.nodes:
        bridge = node.bridge.name
        # The address goes with the bridge, which the bed removes.
        subprocess.run(["ip", "address", "add", f"{SERVICES}/32", "dev", bridge], check=True, capture_output=True)
        program = Path(__file__).with_name("forward.py")
        cluster.control.servers.start(f"{node.name}-forward", [sys.executable, program, bridge, SERVICES, *pairs])
