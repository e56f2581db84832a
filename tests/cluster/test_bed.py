"""The whole cluster: it starts in time, runs a real two-node Job through Kueue, and replaces a node."""

import json
import sys
import time

import pytest

from tests.cluster.bed.cluster import GPUS_PER_NODE, NODES, Cluster
from tests.cluster.bed.images import Image
from tests.cluster.bed.jobs import headless_service, indexed_job, queue
from tests.cluster.bed.node import GPU
from tests.cluster.bed.waiting import eventually

pytestmark = pytest.mark.cluster

REPORT = """
echo "started as $(id -u)"
touch /forbidden 2>/dev/null && echo "the root is writable"
ls /var/run/secrets 2>/dev/null
printf '{"index": %s, "host": "%s"}' "$JOB_COMPLETION_INDEX" "$(hostname -i)" >/dev/termination-log
"""


def test_everything_is_up_within_a_minute(cluster: Cluster) -> None:
    control, rest = cluster.control.seconds_to_start, cluster.seconds_to_start
    print(f"control plane after {control:.1f} s, Kueue and nodes after {rest:.1f} s more")
    assert control + rest < 60


def test_every_node_is_ready_and_offers_gpus(cluster: Cluster) -> None:
    nodes = {node["metadata"]["name"]: node["status"] for node in cluster.control.get("nodes")["items"]}
    assert set(NODES) <= set(nodes)
    for name in NODES:
        assert nodes[name]["allocatable"][GPU] == str(GPUS_PER_NODE)
        assert nodes[name]["nodeInfo"]["containerRuntimeVersion"].startswith("containerd://2.")


def test_a_gpu_job_is_admitted_by_kueue_and_reports_from_two_nodes(cluster: Cluster, namespace: str) -> None:
    control = cluster.control
    control.apply(queue(namespace))
    control.apply([indexed_job(namespace, "pair", cluster.busybox, REPORT)])
    here = ("--namespace", namespace)
    control.kubectl("wait", "--for=condition=Complete", "job/pair", "--timeout=60s", *here)

    pods = control.get("pods", *here)["items"]
    ended = [pod["status"]["containerStatuses"][0]["state"]["terminated"] for pod in pods]
    reports = [json.loads(state["message"]) for state in ended]
    assert sorted(report["index"] for report in reports) == [0, 1]
    assert sorted(report["host"] for report in reports) == sorted(pod["status"]["podIP"] for pod in pods)
    assert {pod["spec"]["nodeName"] for pod in pods} == set(NODES)
    assert {pod["status"]["containerStatuses"][0]["imageID"] for pod in pods} == {cluster.busybox.by_digest}

    (workload,) = control.get("workloads.kueue.x-k8s.io", *here)["items"]
    assert workload["status"]["admission"]["clusterQueue"] == namespace
    logs = control.kubectl("logs", "job/pair", "--all-pods", *here).splitlines()
    assert [line.partition("] ")[2] for line in logs] == ["started as 65532"] * 2


PYTHON_REPORT = """
exec python3 - <<'END'
import hashlib, json, os, ssl, sys
report = {"version": sys.version_info[:2], "user": os.getuid(), "digest": hashlib.sha256(b"").hexdigest()[:8]}
open("/dev/termination-log", "w").write(json.dumps(report))
END
"""


def test_a_runner_written_in_python_reports(cluster: Cluster, python: Image, namespace: str) -> None:
    control = cluster.control
    control.apply(queue(namespace))
    control.apply([indexed_job(namespace, "runner", python, PYTHON_REPORT, nodes=1)])
    here = ("--namespace", namespace)
    control.kubectl("wait", "--for=condition=Complete", "job/runner", "--timeout=60s", *here)
    (pod,) = control.get("pods", *here)["items"]
    report = json.loads(pod["status"]["containerStatuses"][0]["state"]["terminated"]["message"])
    assert report == {"version": list(sys.version_info[:2]), "user": 65532, "digest": "e3b0c442"}


def test_a_job_over_the_quota_waits(cluster: Cluster, namespace: str) -> None:
    control = cluster.control
    control.apply(queue(namespace, gpus=1))
    control.apply([indexed_job(namespace, "too-big", cluster.busybox, "true")])
    here = ("--namespace", namespace)
    reason = "{.items[*].status.conditions[?(@.type=='QuotaReserved')].message}"
    sentence = eventually(
        lambda: control.kubectl("get", "workloads.kueue.x-k8s.io", "-o", f"jsonpath={reason}", *here),
        "Kueue says why the Job waits",
    )
    assert "insufficient quota for nvidia.com/gpu" in sentence
    assert control.get("job", "too-big", *here)["spec"]["suspend"] is True
    assert control.get("pods", *here)["items"] == []


def test_pods_on_two_nodes_reach_each_other_by_name(cluster: Cluster, namespace: str) -> None:
    control = cluster.control
    control.apply(queue(namespace))
    serve = "mkdir -p /dev/shm/www && echo hello >/dev/shm/www/index.html && exec httpd -f -p 29500 -h /dev/shm/www"
    control.apply([headless_service(namespace, "talk"), indexed_job(namespace, "talk", cluster.busybox, serve)])
    here = ("--namespace", namespace)
    control.kubectl("wait", "--for=jsonpath={.status.ready}=2", "job/talk", "--timeout=60s", *here)
    one, other = sorted(control.get("pods", *here)["items"], key=lambda pod: str(pod["metadata"]["name"]))
    ask = (
        f"nslookup -type=a talk-1.talk.{namespace}.svc.cluster.local | grep '^Address: '; "
        f"printf 'GET / HTTP/1.0\\r\\n\\r\\n' | nc -w 5 {other['status']['podIP']} 29500"
    )
    heard = control.kubectl("exec", one["metadata"]["name"], *here, "--", "sh", "-c", ask)
    assert heard.startswith(f"Address: {other['status']['podIP']}\n")
    assert "200 OK" in heard
    assert heard.endswith("hello\n")
    control.kubectl("delete", "job", "talk", *here)


def test_a_replaced_node_keeps_its_name_and_nothing_else(cluster: Cluster) -> None:
    node = cluster.node(NODES[1])
    before = node.describe()["metadata"]["uid"]
    started = time.monotonic()
    node.replace()
    print(f"node replaced after {time.monotonic() - started:.1f} s")
    after = node.describe()
    assert after["metadata"]["uid"] != before
    assert after["status"]["allocatable"][GPU] == str(GPUS_PER_NODE)
