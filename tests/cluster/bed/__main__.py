"""Keep a whole cluster running for a person: `python -m tests.cluster.bed`, until Ctrl-C."""

import json
import signal
import sys
import time
from pathlib import Path
from types import FrameType

from tests.cluster.bed import chart
from tests.cluster.bed.cluster import Cluster, check_machine
from tests.cluster.bed.control import ControlPlane
from tests.cluster.bed.controllers import start_controllers
from tests.cluster.bed.jobs import indexed_job, queue
from tests.cluster.bed.processes import Servers, bed
from tests.cluster.tools import ToolMissing, tool

NAME, WORKSPACE = "bed", "demo"


def main() -> int:
    """Start, say what to try, wait, stop; 1 where something is missing on this machine."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _stop)
    try:
        check_machine()
        with bed() as servers:
            started = time.monotonic()
            cluster = _start(servers)
            print(f"Ready after {time.monotonic() - started:.0f} s.\n{_what_to_try(cluster)}", flush=True)
            while True:
                signal.pause()
    except ToolMissing as missing:
        print(missing, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped; nothing is left behind.")
        return 0


def _stop(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _start(servers: Servers) -> Cluster:
    control = ControlPlane(servers)
    print("Starting etcd, the API server, controllers, Kueue and two nodes …", flush=True)
    control.start()
    start_controllers(control)
    cluster = Cluster(control)
    cluster.start()
    labels = {"pod-security.kubernetes.io/enforce": "restricted", "tau.azure.com/workspace": WORKSPACE}
    control.apply([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": WORKSPACE, "labels": labels}}])
    control.apply(queue(WORKSPACE))
    control.apply(chart.crds())
    chart.install(control, (*chart.POLICIES, *chart.ROLES), {"cluster": {"name": NAME}})
    _start_controller(servers, control)
    return cluster


def _start_controller(servers: Servers, control: ControlPlane) -> None:
    """The product's own, under the account that the chart gives it."""
    account = control.kubeconfig_for_account("tau-system", "tau-validation-controller")
    words = [f"--cluster={NAME}", f"--kubeconfig={account}", f"--artifacts=file://{control.folder / 'evidence'}"]
    words.append(f"--telemetry-spool={control.folder / 'telemetry'}")
    environment = {"PYTHONPATH": str(Path(__file__).parents[3]), "PATH": "/usr/bin:/bin"}
    servers.start("controller", [sys.executable, "-m", "checks.controller", *words], env=environment)


def _what_to_try(cluster: Cluster) -> str:
    script = 'echo "{\\"index\\": $JOB_COMPLETION_INDEX}" | tee /dev/termination-log'
    job = cluster.control.folder / "two-nodes.json"
    job.write_text(json.dumps(indexed_job(WORKSPACE, "two-nodes", cluster.busybox, script), indent=1))
    return f"""
  export KUBECONFIG={cluster.control.kubeconfig}
  export PATH={tool("kubectl").parent}:{Path(sys.executable).parent}:$PATH
  export IMAGE={cluster.busybox.by_digest}
  export EVIDENCE={cluster.control.folder / "evidence"}

  kubectl get nodes -o wide
  kubectl api-resources --api-group=tau.azure.com
  kubectl create -f {job}      # two pods, one GPU each, on two nodes
  kubectl -n {WORKSPACE} get workloads,jobs,pods -o wide
  kubectl -n {WORKSPACE} logs job/two-nodes --all-pods
  kubectl --as=ada --as-group=tau-platform-admins auth can-i --list

Write a check of your own for the workspace {WORKSPACE}: docs/writing-a-check.md.

Servers write to {cluster.control.folder / "logs"}. Ctrl-C stops everything."""


if __name__ == "__main__":
    sys.exit(main())
