"""etcd and the API server, and how tests speak to it: kubectl, kubeconfig files for people, service-account
tokens.

This needs no root, no containers and, with `KUBEBUILDER_ASSETS`, no Go. There are no controllers: a
namespace is not emptied when it is deleted, and nothing runs; `tests.cluster.bed.cluster` adds that.
"""

import json
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.cluster.bed.certificates import Authority
from tests.cluster.bed.processes import Server, Servers, answers, free_port
from tests.cluster.tools import tool

Object = Mapping[str, Any]
ADMIN = "taugrid-bed-admin"


class Refused(Exception):
    """kubectl ended with an error; the message is the API server's."""


class ControlPlane:
    """One API server with its etcd; `start` returns when it is ready."""

    def __init__(self, servers: Servers) -> None:
        self.servers = servers
        self.folder = servers.ledger.folder
        self.authority = Authority(self.folder / "pki")
        self.port = free_port()
        self.url = f"https://127.0.0.1:{self.port}"
        self._etcd_port = free_port()
        self.etcd = f"http://127.0.0.1:{self._etcd_port}"
        self._etcd_peer_port = free_port()
        self._apiserver: Server | None = None
        self.seconds_to_start = 0.0
        self._service_accounts = self.authority.signing_key("service-accounts")
        self._serving = self.authority.server("kube-apiserver", ("127.0.0.1", "localhost", "10.96.0.1"))
        self._kubelet_client = self.authority.client("kube-apiserver-kubelet-client", ["system:masters"])
        self.kubeconfig = self.kubeconfig_for(ADMIN, ["system:masters"])

    def start(self) -> None:
        """Start both and wait until the API server is ready."""
        began = time.monotonic()
        self._start_etcd()
        self.start_apiserver()
        self.seconds_to_start = time.monotonic() - began

    def start_apiserver(self) -> None:
        """Start the API server, again on the port it had before, and wait until it is ready."""
        self._apiserver = self.servers.start("kube-apiserver", self._apiserver_command())
        self._apiserver.wait_until(answers(f"{self.url}/readyz", self.authority.file))

    def stop_apiserver(self) -> None:
        """Take the API server away, at once: what a client sees is a refused connection."""
        if self._apiserver is not None:
            self.servers.kill(self._apiserver)
            self._apiserver = None

    @property
    def apiserver(self) -> Server:
        """The running API server."""
        if self._apiserver is None:
            raise RuntimeError("The API server is stopped.")
        return self._apiserver

    def kubectl(
        self, *arguments: str, stdin: str | None = None, kubeconfig: Path | None = None, seconds: float = 120
    ) -> str:
        """Run kubectl, as the admin where no kubeconfig is given; answers its output, raises Refused."""
        cache = self.folder / "kubectl-cache"
        done = subprocess.run(
            [tool("kubectl"), f"--kubeconfig={kubeconfig or self.kubeconfig}", f"--cache-dir={cache}", *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
        if done.returncode:
            raise Refused(done.stderr.strip() or done.stdout.strip())
        return done.stdout

    def apply(self, objects: Iterable[Object], kubeconfig: Path | None = None) -> None:
        """Server-side apply of any number of objects; definitions among them come first and are served then."""
        items = list(objects)
        definitions = [item for item in items if item["kind"] == "CustomResourceDefinition"]
        if definitions:
            self._apply(definitions, kubeconfig)
            names = [f"crd/{item['metadata']['name']}" for item in definitions]
            self._wait_until_served(names, kubeconfig)
        self._apply([item for item in items if item not in definitions], kubeconfig)

    def _wait_until_served(self, names: list[str], kubeconfig: Path | None) -> None:
        """Until the definitions are established. `kubectl wait` trips over one that has no conditions yet."""
        deadline = time.monotonic() + 60
        while True:
            try:
                self.kubectl("wait", "--for=condition=Established", "--timeout=30s", *names, kubeconfig=kubeconfig)
                return
            except Refused as refused:
                if "accessor error" not in str(refused) or time.monotonic() > deadline:
                    raise
                time.sleep(0.1)

    def get(self, *arguments: str, kubeconfig: Path | None = None) -> Any:
        """`kubectl get … -o json` as Python values."""
        return json.loads(self.kubectl("get", *arguments, "-o", "json", kubeconfig=kubeconfig))

    def kubeconfig_for(self, user: str, groups: Sequence[str] = ()) -> Path:
        """A kubeconfig with a client certificate for a person or a component."""
        pair = self.authority.client(user, groups)
        return self._write_kubeconfig(user, {"client-certificate": str(pair.certificate), "client-key": str(pair.key)})

    def kubeconfig_for_account(self, namespace: str, account: str, seconds: int = 3600) -> Path:
        """A kubeconfig with a service account's own token."""
        token = self.token(namespace, account, seconds)
        return self._write_kubeconfig(f"{namespace}-{account}", {"token": token})

    def token(self, namespace: str, account: str, seconds: int = 3600) -> str:
        """A service account's token from the TokenRequest API; at least 600 seconds."""
        return self.kubectl("--namespace", namespace, "create", "token", account, f"--duration={seconds}s").strip()

    def _apply(self, items: list[Object], kubeconfig: Path | None) -> None:
        if items:
            words = ("apply", "--server-side", "--force-conflicts", "-f", "-")
            stdin = json.dumps({"apiVersion": "v1", "kind": "List", "items": items})
            self.kubectl(*words, stdin=stdin, kubeconfig=kubeconfig)

    def _write_kubeconfig(self, user: str, credentials: dict[str, str]) -> Path:
        cluster = {"server": self.url, "certificate-authority": str(self.authority.file)}
        content = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "taugrid-bed", "cluster": cluster}],
            "users": [{"name": user, "user": credentials}],
            "contexts": [{"name": user, "context": {"cluster": "taugrid-bed", "user": user}}],
            "current-context": user,
        }
        path = self.folder / "kubeconfig" / f"{user.replace(':', '-')}.yaml"
        path.parent.mkdir(exist_ok=True)
        path.touch(mode=0o600)
        path.write_text(json.dumps(content, indent=1))
        return path

    def _start_etcd(self) -> None:
        url = f"http://127.0.0.1:{self._etcd_port}"
        peer = f"http://127.0.0.1:{self._etcd_peer_port}"
        etcd = self.servers.start(
            "etcd",
            [
                tool("etcd"),
                f"--data-dir={self.folder / 'etcd'}",
                f"--listen-client-urls={url}",
                f"--advertise-client-urls={url}",
                f"--listen-peer-urls={peer}",
                f"--initial-advertise-peer-urls={peer}",
                f"--initial-cluster=default={peer}",
                "--unsafe-no-fsync",
                "--log-level=warn",
            ],
        )
        etcd.wait_until(answers(f"{url}/health"))

    def _apiserver_command(self) -> list[str | Path]:
        return [
            tool("kube-apiserver"),
            "--bind-address=127.0.0.1",
            f"--secure-port={self.port}",
            f"--etcd-servers=http://127.0.0.1:{self._etcd_port}",
            f"--cert-dir={self.folder / 'pki'}",
            f"--tls-cert-file={self._serving.certificate}",
            f"--tls-private-key-file={self._serving.key}",
            f"--client-ca-file={self.authority.file}",
            "--authorization-mode=Node,RBAC",
            "--enable-admission-plugins=NodeRestriction",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={self._service_accounts.certificate}",
            f"--service-account-signing-key-file={self._service_accounts.key}",
            "--service-cluster-ip-range=10.96.0.0/16",
            "--allow-privileged=true",
            "--endpoint-reconciler-type=none",
            f"--kubelet-certificate-authority={self.authority.file}",
            f"--kubelet-client-certificate={self._kubelet_client.certificate}",
            f"--kubelet-client-key={self._kubelet_client.key}",
            "--kubelet-preferred-address-types=InternalIP",
            "--profiling=false",
        ]
