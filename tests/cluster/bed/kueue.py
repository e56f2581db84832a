"""Kueue as a process beside the API server, its own manifests applied, its webhooks reached by URL.

The manifests are those of the pinned module (`config/default`). What only makes sense inside a cluster
(Deployment, Services, the aggregated API) is left out, and a webhook's Service becomes an address on
loopback.
"""

import base64
import json
import subprocess
from typing import Any

import yaml

from tests.cluster.bed.control import ControlPlane
from tests.cluster.bed.processes import Server, answers, free_port
from tests.cluster.tools import copied, tool

NAMESPACE = "kueue-system"
ACCOUNT = f"system:serviceaccount:{NAMESPACE}:kueue-controller-manager"
LEFT_OUT = {"Deployment", "Service", "APIService", "Secret"}


def manifests(webhook_url: str, ca: bytes) -> list[dict[str, Any]]:
    """Kueue's own objects, their webhooks at `webhook_url`, trusted by `ca` (PEM)."""
    rendered = subprocess.run(
        [tool("kubectl"), "kustomize", copied("kueue") / "default"], check=True, capture_output=True
    )
    objects = [o for o in yaml.load_all(rendered.stdout, yaml.CSafeLoader) if o and o["kind"] not in LEFT_OUT]
    for item in objects:
        for client in _client_configs(item):
            service = client.pop("service")
            client["url"] = webhook_url + service["path"]
            client["caBundle"] = base64.b64encode(ca).decode()
    return objects


def start_kueue(control: ControlPlane) -> Server:
    """Apply the manifests and start the manager; returns when its webhooks answer."""
    webhook, health, metrics = free_port(), free_port(), free_port()
    applied = manifests(f"https://127.0.0.1:{webhook}", control.authority.file.read_bytes())
    control.apply(sorted(applied, key=lambda o: o["kind"] != "Namespace"))
    server = control.servers.start("kueue", _command(control, webhook, health, metrics))
    server.wait_until(answers(f"http://127.0.0.1:{health}/readyz"))
    return server


def _client_configs(item: dict[str, Any]) -> list[dict[str, Any]]:
    if item["kind"].endswith("WebhookConfiguration"):
        return [hook["clientConfig"] for hook in item["webhooks"]]
    conversion = item.get("spec", {}).get("conversion", {}) if item["kind"] == "CustomResourceDefinition" else {}
    return [conversion["webhook"]["clientConfig"]] if conversion.get("webhook") else []


def _command(control: ControlPlane, webhook: int, health: int, metrics: int) -> list[str]:
    folder = control.folder / "kueue"
    serving = control.authority.server("kueue-webhook")
    certificates = folder / "certificates"
    fixed = folder / "etc" / "kueue" / "metrics" / "certs"  # Kueue reads this one from /etc, whatever it is told
    for place in (certificates, fixed):
        place.mkdir(parents=True)
        (place / "tls.crt").write_bytes(serving.certificate.read_bytes())
        (place / "tls.key").write_bytes(serving.key.read_bytes())
    configuration = {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "namespace": NAMESPACE,
        "health": {"healthProbeBindAddress": f"127.0.0.1:{health}"},
        "metrics": {"bindAddress": f"127.0.0.1:{metrics}"},
        "webhook": {"host": "127.0.0.1", "port": webhook, "certDir": str(certificates)},
        "leaderElection": {"leaderElect": False},
        "internalCertManagement": {"enable": False},
        "integrations": {"frameworks": ["batch/job"]},
        "clientConnection": {"qps": 100, "burst": 200},
    }
    (folder / "configuration.json").write_text(json.dumps(configuration))
    layers = f"{folder / 'etc'}:/etc"
    return [
        "unshare",
        "--mount",
        "sh",
        "-ec",
        f'mount -t overlay -o "lowerdir={layers}" kueue-etc /etc; exec "$@"',
        "kueue",
        str(tool("kueue")),
        f"--config={folder / 'configuration.json'}",
        f"--kubeconfig={control.kubeconfig_for(ACCOUNT)}",
        "--feature-gates=VisibilityOnDemand=false",
        "--zap-log-level=2",
    ]
