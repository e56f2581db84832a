"""The live sync against only listing and watching: the same API server, the same client, one run.

    python benchmarks/live_sync.py [RESULTS] [EVENTS]      (default 5,000 results of 100 checks, then 1,000 more)

Starts an API server of the test bed; the first results go straight into etcd, in the form that is stored. Prints the
first sync against a paged list, the ingest of waiting events against a watch that is only drained, peak memory, and how
long after the watch an object is a row. Ratios are of processor seconds, which other work on the machine changes least;
elapsed seconds stand beside them. The events must be written within the minute for which the API server keeps them for
a watch: on a slow machine take fewer.
"""

import atexit
import base64
import json
import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
CHECKS, PROBES, PATH = 100, 200, "/apis/tau.azure.com/v1alpha1/validationresults"
SPACE = "benchmark"


class Meter:
    """Elapsed seconds and this process's processor seconds since it was made."""

    def __init__(self) -> None:
        self.at, self.cpu = time.perf_counter(), time.process_time()

    def read(self) -> dict[str, float]:
        """Both, and the peak of resident memory in MiB."""
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        return {"seconds": time.perf_counter() - self.at, "cpu": time.process_time() - self.cpu, "mib": peak}


def say(**figures: Any) -> None:
    """One line to the process that measures."""
    print(json.dumps(figures), flush=True)


def raw(kubeconfig: str, events: int) -> None:
    """Lists, says what that took, waits for a word, and drains a watch of so many events."""
    from checks.cluster.client import Api

    api, meter, version, objects = Api(kubeconfig), Meter(), "", 0
    for page in api.list(PATH):
        version, objects = page.resource_version, objects + len(page.items)
    say(objects=objects, **meter.read())
    floor(api)
    sys.stdin.readline()
    meter, seen = Meter(), 0
    for event in api.watch(PATH, version, 120):
        seen += event.type == "ADDED"
        if seen == events:
            break
    say(objects=seen, **meter.read())


def floor(api: Any) -> None:
    """The same list once more, with what proving an envelope needs at least: its canonical bytes and their digest."""
    from checks.contract.document import digest

    meter = Meter()
    for page in api.list(PATH):
        for item in page.items:
            digest(item["spec"]["envelope"])
    say(**meter.read())


def synced(kubeconfig: str, events: int, results: int) -> None:
    """The same through the sync: the first list into rows, then events that wait until a word lets them in."""
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0, skip_checks=True)
    from checks.cluster.client import Api
    from checks.models import Cluster, Result
    from checks.sync.live import LiveSync

    gate, stop = threading.Event(), threading.Event()

    class Gated(Api):
        def watch(self, path: str, resource_version: str, seconds: int) -> Any:
            if path == PATH:
                gate.wait()
            return super().watch(path, resource_version, seconds)

    def until(count: int) -> None:
        while Result.objects.count() < count or not Cluster.objects.filter(complete=True).exists():
            time.sleep(0.05)

    sync, meter = LiveSync("west-1", Gated(kubeconfig), stop), Meter()
    thread = threading.Thread(target=sync.run)
    thread.start()
    until(results)
    say(objects=Result.objects.count(), **meter.read())
    sys.stdin.readline()
    meter = Meter()
    gate.set()
    until(results + events)
    say(objects=events, **meter.read())
    sys.stdin.readline()
    say(**meter.read())
    stop.set()
    thread.join()


class Child:
    """One of the two above, in a process of its own."""

    def __init__(self, *words: str, **environment: str) -> None:
        known = {name: value for name, value in os.environ.items() if name != "PYTEST_VERSION"}
        command = [sys.executable, __file__, *words]
        self.process = subprocess.Popen(
            command, env=known | environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        atexit.register(self.process.kill)

    def hear(self) -> dict[str, float]:
        """What it measured next."""
        assert self.process.stdout is not None
        while not (line := self.process.stdout.readline()).startswith("{"):  # the sync logs lines of its own
            if not line:
                raise SystemExit("a measured process ended")
        said = json.loads(line)
        return self.hear() if "event" in said else dict(said)

    def tell(self) -> None:
        """Lets it go on."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()


class Cluster:
    """The API server, written to by many at once."""

    def __init__(self, kubeconfig: str) -> None:
        import yaml
        from kubernetes import client, config

        documents = list(yaml.safe_load_all((ROOT / "examples" / "dump" / "west-1.yaml").read_text()))
        self.named = {item["kind"]: item for item in documents}
        configuration: Any = client.Configuration()
        configuration.connection_pool_maxsize = 16
        config.load_kube_config(kubeconfig, client_configuration=configuration)  # type: ignore[no-untyped-call]
        self.api: Any = client.CustomObjectsApi(client.ApiClient(configuration))

    def write(self, numbers: range) -> float:
        """Creates results; how many a second."""
        began = time.perf_counter()
        with ThreadPoolExecutor(16) as pool:
            list(pool.map(self.result, numbers))
        return len(numbers) / (time.perf_counter() - began)

    def stored(self, numbers: range, etcd: str) -> float:
        """Puts results straight into etcd, a hundred in a transaction; how many a second."""
        began, at_once = time.perf_counter(), 100
        for first in range(numbers.start, numbers.stop, at_once):
            puts = [put(self.made(n), n) for n in range(first, min(first + at_once, numbers.stop))]
            body = json.dumps({"success": [{"requestPut": each} for each in puts]}).encode()
            urllib.request.urlopen(f"{etcd}/v3/kv/txn", body).close()
        return len(numbers) / (time.perf_counter() - began)

    def result(self, number: int) -> str:
        """Creates the result with this number; its name."""
        item = self.made(number)
        self.create("validationresults", item)
        return str(item["metadata"]["name"])

    def made(self, number: int) -> dict[str, Any]:
        """The result with this number."""
        from checks.contract.document import digest

        item = json.loads(json.dumps(self.named["TauValidationResult"]))
        check, run = f"check-{number % CHECKS}", f"{number:024x}"
        envelope = item["spec"]["envelope"]
        envelope["check"]["name"], envelope["run"]["id"] = check, run
        item["spec"]["digest"] = digest(envelope)
        item["metadata"] = {"name": f"{check}-{run}-1", "namespace": SPACE}
        return dict(item)

    def check(self, number: int) -> None:
        """Registers the check with this number."""
        item = json.loads(json.dumps(self.named["TauValidationCheck"]))
        item["metadata"] = {"name": f"check-{number}", "namespace": SPACE}
        item.pop("status", None)
        self.create("validationchecks", item)

    def create(self, plural: str, item: dict[str, Any]) -> None:
        """One write."""
        self.api.create_namespaced_custom_object("tau.azure.com", "v1alpha1", SPACE, plural, item)


def put(item: dict[str, Any], number: int) -> dict[str, str]:
    """One object as an API server stores it."""
    metadata = item["metadata"] | {
        "uid": str(uuid.UUID(int=number)),
        "generation": 1,
        "creationTimestamp": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    key = f"/registry/tau.azure.com/validationresults/{SPACE}/{metadata['name']}"
    value = json.dumps(item | {"metadata": metadata}, sort_keys=True, separators=(",", ":"))
    return {name: base64.b64encode(text.encode()).decode() for name, text in (("key", key), ("value", value))}


def latencies(cluster: Cluster, kubeconfig: str, database: Path, first: int) -> list[float]:
    """Seconds from an object in a raw watch to its row, for objects that come ten a second."""
    from checks.cluster.client import Api

    api, watched, stored = Api(kubeconfig), dict[str, float](), dict[str, float]()
    version = [page.resource_version for page in api.list(PATH)][-1]

    def watch() -> None:
        for event in api.watch(PATH, version, 300):
            if event.type == "ADDED":
                watched[event.object["metadata"]["name"]] = time.perf_counter()
            if len(watched) == PROBES:
                return

    def poll() -> None:
        with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=30)) as rows:
            (before,) = rows.execute("SELECT max(id) FROM checks_result").fetchone()
            while len(stored) < PROBES:
                for (name,) in rows.execute("SELECT name FROM checks_result WHERE id > ?", (before,)).fetchall():
                    stored.setdefault(name, time.perf_counter())
                time.sleep(0.01)

    threads = [threading.Thread(target=work) for work in (watch, poll)]
    for thread in threads:
        thread.start()
    time.sleep(1)
    for number in range(first, first + PROBES):
        cluster.result(number)
        time.sleep(0.1)
    for thread in threads:
        thread.join()
    return sorted(stored[name] - watched[name] for name in watched)


def main(results: int = 5000, events: int = 1000) -> None:
    """Everything, one after the other, on one API server."""
    from benchmarks.results import record
    from tests.cluster.bed import chart
    from tests.cluster.bed.control import ControlPlane
    from tests.cluster.bed.processes import bed

    with bed() as servers, tempfile.TemporaryDirectory() as folder:
        control = ControlPlane(servers)
        control.start()
        control.apply([*chart.crds(), {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SPACE}}])
        kubeconfig, database = str(control.kubeconfig), Path(folder) / "portal.sqlite3"
        cluster = Cluster(kubeconfig)
        for number in range(CHECKS):
            cluster.check(number)
        print(f"{results} put into etcd, {cluster.stored(range(results), control.etcd):.0f} a second", file=sys.stderr)
        reading = Child("raw", kubeconfig, str(events))
        listed = reading.hear()
        proved = reading.hear()
        settings = {"DJANGO_SETTINGS_MODULE": "taugrid_portal.settings", "PORTAL_MODE": "test"}
        syncing = Child("sync", kubeconfig, str(events), str(results), **settings, DATABASE_URL=f"sqlite:///{database}")
        first = syncing.hear()
        print(f"{events} more written, {cluster.write(range(results, results + events)):.0f} a second", file=sys.stderr)
        reading.tell()
        drained = reading.hear()
        if drained["objects"] != events:
            raise SystemExit("the API server had forgotten events before they were watched: take fewer of them")
        syncing.tell()
        ingested = syncing.hear()
        waited = latencies(cluster, kubeconfig, database, results + events)
        syncing.tell()
        after = syncing.hear()
        for child in (reading, syncing):
            child.process.wait()
    p50, p99 = waited[len(waited) // 2], waited[int(len(waited) * 0.99)]
    figures = {
        "results": results,
        "events": events,
        "load_average": round(os.getloadavg()[1], 1),
        "processors": os.cpu_count(),
        "first_sync_cpu_ratio": round(first["cpu"] / listed["cpu"], 2),
        "first_sync_elapsed_ratio": round(first["seconds"] / listed["seconds"], 2),
        "floor_cpu_ratio": round(proved["cpu"] / listed["cpu"], 2),
        "floor_elapsed_ratio": round(proved["seconds"] / listed["seconds"], 2),
        "raw_list_seconds": round(listed["seconds"], 2),
        "first_sync_seconds": round(first["seconds"], 2),
        "ingest_cpu_ratio": round(ingested["cpu"] / drained["cpu"], 2),
        "ingest_elapsed_ratio": round(ingested["seconds"] / drained["seconds"], 2),
        "ingest_events_per_second": round(events / ingested["seconds"]),
        "peak_mib_after_list": first["mib"],
        "peak_mib": after["mib"],
        "raw_client_mib": listed["mib"],
        "row_after_watch_p50_seconds": round(p50, 3),
        "row_after_watch_p99_seconds": round(p99, 3),
    }
    record("live_sync", figures)
    print(json.dumps(figures, indent=2))
    print(json.dumps({"list": listed, "first sync": first, "drained": drained, "ingested": ingested}), file=sys.stderr)


if __name__ == "__main__":
    if sys.argv[1:2] == ["raw"]:
        raw(sys.argv[2], int(sys.argv[3]))
    elif sys.argv[1:2] == ["sync"]:
        synced(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    else:
        main(*map(int, sys.argv[1:]))
