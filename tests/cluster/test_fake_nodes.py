"""KWOK: many nodes that are only objects, beside real ones."""

import pytest

from tests.cluster.bed.control import ControlPlane
from tests.cluster.bed.kwok import fake_nodes
from tests.cluster.bed.waiting import eventually

pytestmark = pytest.mark.cluster

COUNT = 50


def test_fake_nodes_become_ready_and_keep_a_heartbeat(kwok: ControlPlane) -> None:
    kwok.apply(fake_nodes(COUNT))
    ready = '{range .items[*]}{.status.conditions[?(@.type=="Ready")].status}{"\\n"}{end}'
    query = ("get", "nodes", "--selector=kwok.x-k8s.io/node=fake", "-o", f"jsonpath={ready}")
    eventually(lambda: kwok.kubectl(*query).split().count("True") == COUNT, f"{COUNT} nodes are ready", seconds=120)
    leases = kwok.get("leases", "--namespace=kube-node-lease")["items"]
    assert sum(lease["metadata"]["name"].startswith("fake-node-") for lease in leases) == COUNT
    kwok.kubectl("delete", "nodes", "--selector=kwok.x-k8s.io/node=fake")
