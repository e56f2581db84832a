"""One real node: a containerd and a kubelet with folders, sockets, ports and a bridge of their own."""

import json
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.cluster.bed.control import ControlPlane, Refused
from tests.cluster.bed.dns import DOMAIN
from tests.cluster.bed.images import Image
from tests.cluster.bed.network import Bridge
from tests.cluster.bed.processes import Server, free_port
from tests.cluster.tools import tool

CNI_PLUGINS = Path("/usr/lib/cni")
GPU = "nvidia.com/gpu"


@dataclass
class Node:
    """A node by name; `start` runs it, `replace` gives the same name a new identity."""

    name: str
    control: ControlPlane
    bridge: Bridge
    sandbox: Image

    def __post_init__(self) -> None:
        self.folder = self.control.folder / self.name
        self.socket = self.folder / "containerd" / "containerd.sock"
        self.gpus = 0
        self.containerd: Server | None = None
        self.kubelet: Server | None = None

    def start_containerd(self) -> None:
        """Start the container runtime; `import_images` waits for it."""
        self._write_cni()
        configuration = self.folder / "containerd" / "config.toml"
        configuration.parent.mkdir(parents=True, exist_ok=True)
        configuration.write_text(self._containerd_configuration())
        programs = f"{tool('containerd').parent}:/usr/sbin:/usr/bin:/sbin:/bin"
        self.containerd = self.control.servers.start(
            f"{self.name}-containerd",
            [tool("containerd"), "--config", configuration],
            env={"PATH": programs},
        )

    def import_images(self, *images: Image) -> None:
        """Make images known to this node under their names, by tag and by digest."""
        assert self.containerd is not None
        self.containerd.wait_until(self.socket.is_socket)
        for image in images:
            self.ctr("images", "import", "--local", str(image.archive))
            self.ctr("images", "tag", "--force", image.tag, image.by_digest)

    def ctr(self, *words: str) -> str:
        """Run containerd's own client in the namespace that Kubernetes uses."""
        done = subprocess.run(
            [tool("ctr"), "--address", self.socket, "--namespace", "k8s.io", *words],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        if done.returncode:
            raise Refused(f"ctr {' '.join(words)}: {done.stderr.strip()}")
        return done.stdout

    def start_kubelet(self) -> None:
        """Start the kubelet, which registers the node under its name."""
        folder = self.folder / "kubelet"
        folder.mkdir(exist_ok=True)
        (folder / "config.json").write_text(json.dumps(self._kubelet_configuration(folder)))
        kubeconfig = self.control.kubeconfig_for(f"system:node:{self.name}", ["system:nodes"])
        self.kubelet = self.control.servers.start(
            f"{self.name}-kubelet",
            [
                tool("kubelet"),
                f"--config={folder / 'config.json'}",
                f"--kubeconfig={kubeconfig}",
                f"--root-dir={folder}",
                f"--cert-dir={folder / 'pki'}",
                f"--hostname-override={self.name}",
                f"--node-ip={self.bridge.address}",
            ],
        )

    def stop_kubelet(self) -> None:
        """Take the kubelet away at once: its containers go on, the node stops reporting."""
        if self.kubelet is not None:
            self.control.servers.kill(self.kubelet)
            self.kubelet = None

    def replace(self) -> None:
        """Another machine under the same name, for all Kubernetes can tell: a new Node with a new UID."""
        self.stop_kubelet()
        self.control.kubectl("delete", "node", self.name)
        self.start_kubelet()
        self.wait_until_ready()
        self.offer_gpus(self.gpus)

    def describe(self) -> Any:
        """The Node object, or None while it does not exist."""
        try:
            return self.control.get("node", self.name)
        except Refused:
            return None

    def wait_until_ready(self, seconds: float = 60) -> None:
        """Return when the node says it is Ready."""
        assert self.kubelet is not None
        self.kubelet.wait_until(self._ready, seconds)

    def offer_gpus(self, count: int) -> None:
        """Let the node offer GPUs, as a device plugin would; returns when they can be used."""
        self.gpus = count
        patch = json.dumps({"status": {"capacity": {GPU: str(count)}, "allocatable": {GPU: str(count)}}})
        deadline = time.monotonic() + 30
        while self.describe()["status"]["allocatable"].get(GPU) != str(count):
            self.control.kubectl("patch", "node", self.name, "--subresource=status", "--patch", patch)
            if time.monotonic() > deadline:
                raise Refused(f"Node {self.name} does not keep its {GPU}.")

    def _ready(self) -> bool:
        node = self.describe()
        conditions = node["status"].get("conditions", []) if node else []
        return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)

    def _write_cni(self) -> None:
        folder = self.folder / "cni"
        folder.mkdir(parents=True, exist_ok=True)
        bridge = {
            "type": "bridge",
            "bridge": self.bridge.name,
            "ipam": {
                "type": "host-local",
                "ranges": [[{"subnet": self.bridge.subnet, "gateway": self.bridge.address}]],
                "routes": [{"dst": "0.0.0.0/0"}],
                "dataDir": str(self.folder / "addresses"),
            },
        }
        (folder / "bed.conflist").write_text(
            json.dumps({"cniVersion": "1.0.0", "name": self.name, "plugins": [bridge]})
        )

    def _containerd_configuration(self) -> str:
        folder = self.folder / "containerd"
        runtime = "plugins.'io.containerd.cri.v1.runtime'"
        return f"""
version = 3
root = '{folder}/root'
state = '{folder}/state'
[grpc]
address = '{self.socket}'
[plugins.'io.containerd.cri.v1.images'.pinned_images]
sandbox = '{self.sandbox.tag}'
[{runtime}]
restrict_oom_score_adj = true
netns_mounts_under_state_dir = true
[{runtime}.cni]
bin_dirs = ['{CNI_PLUGINS}']
conf_dir = '{self.folder}/cni'
[{runtime}.containerd.runtimes.runc]
runtime_type = 'io.containerd.runc.v2'
[{runtime}.containerd.runtimes.runc.options]
Root = '{folder}/runc'
[plugins.'io.containerd.internal.v1.opt']
path = '{folder}/opt'
[plugins.'io.containerd.nri.v1.nri']
disable = true
"""

    def _kubelet_configuration(self, folder: Path) -> dict[str, Any]:
        serving = self.control.authority.server(f"kubelet-{self.name}", (self.bridge.address,))
        return {
            "apiVersion": "kubelet.config.k8s.io/v1beta1",
            "kind": "KubeletConfiguration",
            "address": self.bridge.address,
            "port": free_port(self.bridge.address),
            "healthzPort": 0,
            "clusterDNS": [self.bridge.address],
            "clusterDomain": DOMAIN,
            "tlsCertFile": str(serving.certificate),
            "tlsPrivateKeyFile": str(serving.key),
            "authentication": {
                "anonymous": {"enabled": False},
                "webhook": {"enabled": True},
                "x509": {"clientCAFile": str(self.control.authority.file)},
            },
            "authorization": {"mode": "Webhook"},
            "containerRuntimeEndpoint": f"unix://{self.socket}",
            "podLogsDir": str(self.folder / "pod-logs"),
            "volumePluginDir": str(folder / "volume-plugins"),
            # The machine is shared, perhaps a container itself: no cgroup tree, no kernel settings.
            "failCgroupV1": False,
            "cgroupDriver": "cgroupfs",
            "cgroupsPerQOS": False,
            "enforceNodeAllocatable": [],
            "oomScoreAdj": 0,
            "failSwapOn": False,
            "makeIPTablesUtilChains": False,
            "localStorageCapacityIsolation": False,
            "evictionHard": {"memory.available": "1Mi"},
            "imageGCHighThresholdPercent": 100,
            "enableSystemLogHandler": False,
            "nodeStatusUpdateFrequency": "2s",
        }
