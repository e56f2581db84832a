"""The controller manager and the scheduler, each under its own Kubernetes identity."""

from tests.cluster.bed.control import ControlPlane
from tests.cluster.bed.processes import Server, free_port
from tests.cluster.tools import tool


def start_controllers(control: ControlPlane) -> list[Server]:
    """Start both and answer at once: that they work is seen in the cluster, when a pod gets placed."""
    return [
        _start(
            control,
            "kube-controller-manager",
            "--use-service-account-credentials=true",
            f"--root-ca-file={control.authority.file}",
            f"--flex-volume-plugin-dir={control.folder / 'volume-plugins'}",
            "--kube-api-qps=200",
            "--kube-api-burst=400",
            "--profiling=false",
        ),
        _start(control, "kube-scheduler", "--profiling=false"),
    ]


def _start(control: ControlPlane, name: str, *options: str) -> Server:
    serving = control.authority.server(f"{name}-serving")
    return control.servers.start(
        name,
        [
            tool(name),
            f"--kubeconfig={control.kubeconfig_for(f'system:{name}')}",
            "--leader-elect=false",
            "--bind-address=127.0.0.1",
            f"--secure-port={free_port()}",
            f"--tls-cert-file={serving.certificate}",
            f"--tls-private-key-file={serving.key}",
            *options,
        ],
    )
