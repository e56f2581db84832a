"""The whole cluster: control plane, controllers, Kueue and two real nodes that offer GPUs."""

import os
import shutil
import time

from tests.cluster.bed.control import ControlPlane
from tests.cluster.bed.dns import start_dns
from tests.cluster.bed.images import BUSYBOX, Image, busybox_image
from tests.cluster.bed.kueue import start_kueue
from tests.cluster.bed.network import create_bridge
from tests.cluster.bed.node import CNI_PLUGINS, Node
from tests.cluster.tools import ToolMissing, copied, tool

NODES = ("gpu-node-1", "gpu-node-2")
GPUS_PER_NODE = 8
PROGRAMS = ("kube-controller-manager", "kube-scheduler", "kubelet", "kueue", "containerd", "ctr", "coredns")


def check_machine() -> None:
    """Raise ToolMissing with the one thing that is missing for real nodes on this machine."""
    if os.geteuid() != 0:
        raise ToolMissing("Real nodes need root on this machine.")
    for program, package in (("runc", "runc"), ("ip", "iproute2"), ("setpriv", "util-linux")):
        if not shutil.which(program, path="/usr/sbin:/usr/bin:/sbin:/bin"):
            raise ToolMissing(f"{program} is missing: run tests/cluster/install-debian.sh ({package}).")
    if not (CNI_PLUGINS / "bridge").exists():
        raise ToolMissing(
            "The CNI plugins are missing: run tests/cluster/install-debian.sh (containernetworking-plugins)."
        )
    if not BUSYBOX.exists():
        raise ToolMissing("busybox-static is missing: run tests/cluster/install-debian.sh.")
    for name in PROGRAMS:
        tool(name)
    copied("kueue")


class Cluster:
    """Kueue and nodes for a control plane whose controllers run; `start` ends when Jobs can run on both."""

    def __init__(self, control: ControlPlane) -> None:
        self.control = control
        self.seconds_to_start = 0.0
        self.busybox = busybox_image(control.folder)
        self.nodes = [
            Node(name, control, create_bridge(control.servers.ledger), sandbox=self.busybox) for name in NODES
        ]

    def start(self) -> None:
        """Start what is independent together, then wait for each."""
        began = time.monotonic()
        for node in self.nodes:
            node.start_containerd()
        self.import_image(self.busybox)
        for node in self.nodes:
            node.start_kubelet()
        start_dns(self.control, [node.bridge.address for node in self.nodes])
        start_kueue(self.control)
        for node in self.nodes:
            node.wait_until_ready()
            node.offer_gpus(GPUS_PER_NODE)
        self.seconds_to_start = time.monotonic() - began

    def import_image(self, image: Image) -> None:
        """Make an image known to every node."""
        for node in self.nodes:
            node.import_images(image)

    def node(self, name: str) -> Node:
        """A node by its name."""
        return next(node for node in self.nodes if node.name == name)
