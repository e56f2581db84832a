"""The controller dies at every step, and at random; runs are sealed exactly once all the same, and nothing leaks."""

import json
import random
import threading
import time
import urllib.request

import pytest

from checks.cluster.client import Api
from checks.cluster.errors import ClusterError
from tests.cluster.bed.control import ControlPlane
from tests.cluster.bed.processes import free_port
from tests.cluster_runs.conftest import Start, end
from tests.cluster_runs.proxy import faulty_proxy
from tests.cluster_runs.scene import PASS, Scene

pytestmark = [pytest.mark.cluster, pytest.mark.deep]
QUICK = ("--lease-seconds=0.5",)


class Births:
    """Every Job and every result that is ever created in a namespace, by UID, seen by a watch of its own."""

    def __init__(self, control: ControlPlane, namespace: str) -> None:
        self.seen: dict[str, set[str]] = {"jobs": set(), "validationresults": set()}
        paths = {
            "jobs": f"/apis/batch/v1/namespaces/{namespace}/jobs",
            "validationresults": f"/apis/tau.azure.com/v1alpha1/namespaces/{namespace}/validationresults",
        }
        self._api = Api(str(control.kubeconfig))
        for kind, path in paths.items():
            threading.Thread(target=self._watch, args=(kind, path), daemon=True).start()

    def _watch(self, kind: str, path: str) -> None:
        while True:
            try:
                version = next(iter(self._api.list(path))).resource_version
                for event in self._api.watch(path, version, 600):
                    if event.type == "ADDED":
                        self.seen[kind].add(event.object["metadata"]["uid"])
            except ClusterError:
                time.sleep(0.2)


def prepared(scene: Scene, start: Start, script: str, nodes: int) -> None:
    """Registered and approved, by a controller that has ended since."""
    server = start(*QUICK)
    scene.ready(scene.template(script, nodes, run=120, queue=600), nodes=nodes)
    assert end(scene.control, server) == 0


@pytest.mark.parametrize("before", [False, True], ids=["after each write", "before each third write"])
def test_it_dies(before: bool, start: Start, quiet: Scene) -> None:
    prepared(quiet, start, PASS, nodes=2)
    births = Births(quiet.control, quiet.namespace)
    run = quiet.run()
    env = {"TAU_TEST_WRITES": "3" if before else "1", "TAU_TEST_BEFORE": "1" if before else "0"}
    deaths = 0
    deadline = time.monotonic() + 400
    while quiet.status(run).get("phase") != "Sealed":
        assert time.monotonic() < deadline, quiet.status(run)
        server = start(*QUICK, module="tests.cluster_runs.crashing", env=env)
        while server.process.poll() is None and quiet.status(run).get("phase") != "Sealed":
            time.sleep(0.2)
        deaths += server.process.poll() == -9
        quiet.control.servers.kill(server)
    assert deaths >= (8 if before else 15)
    print(f"{deaths} deaths")
    assert quiet.explain() == ("Passed", "proved")
    assert len(births.seen["jobs"]) == 1
    assert len(births.seen["validationresults"]) == 1
    assert quiet.left() == []


def at_random(scene: Scene, start: Start, count: int, seed: int, at_once: int, longest: float) -> None:
    """So many runs, while controllers live for a short time each: a second to `longest`."""
    prepared(scene, start, PASS, nodes=1)
    births = Births(scene.control, scene.namespace)
    chance = random.Random(seed)
    waiting = [scene.run() for _ in range(min(count, at_once))]
    asked, sealed, deaths = len(waiting), [], 0
    deadline = time.monotonic() + 60 + 20 * count
    while waiting:
        assert time.monotonic() < deadline, {run: scene.status(run).get("phase") for run in waiting}
        server = start(*QUICK)
        time.sleep(chance.uniform(1.0, longest))
        assert server.process.poll() is None, server.tail()
        scene.control.servers.kill(server)
        deaths += 1
        phases = {item["metadata"]["name"]: item.get("status", {}) for item in scene.get("validationruns")["items"]}
        sealed += [run for run in waiting if phases[run].get("phase") == "Sealed"]
        waiting = [run for run in waiting if phases[run].get("phase") != "Sealed"]
        while asked < count and len(waiting) < at_once:
            waiting.append(scene.run())
            asked += 1
    print(f"{count} runs, {deaths} deaths")
    results = scene.get("validationresults")["items"]
    assert len(births.seen["jobs"]) == len(births.seen["validationresults"]) == count
    assert {result["spec"]["envelope"]["outcome"] for result in results} == {"passed"}
    assert len({result["spec"]["envelope"]["run"]["uid"] for result in results}) == len(results)
    assert scene.left() == []


def test_a_few_runs_while_it_is_killed_at_random(start: Start, quiet: Scene) -> None:
    at_random(quiet, start, 4, seed=1, at_once=4, longest=5)


@pytest.mark.deep
def test_two_hundred_runs_while_it_is_killed_at_random(start: Start, quiet: Scene) -> None:
    at_random(quiet, start, 200, seed=2, at_once=16, longest=12)


def test_the_api_server_goes_away_for_a_while(start: Start, quiet: Scene) -> None:
    server = start("--lease-seconds=60")
    quiet.ready(quiet.template("sleep 6\n" + PASS, run=90))
    births = Births(quiet.control, quiet.namespace)
    run = quiet.run()
    quiet.until(run, "Running")
    quiet.control.stop_apiserver()
    time.sleep(3)
    quiet.control.start_apiserver()
    envelope = quiet.sealed(run, 120)
    assert envelope["outcome"] == "passed"
    assert len(births.seen["jobs"]) == 1
    assert server.process.poll() is None
    assert quiet.explain() == ("Passed", "proved")


def test_two_controllers_do_not_get_in_each_others_way(start: Start, quiet: Scene) -> None:
    first = start(*QUICK)
    quiet.ready(quiet.template(PASS))
    second = start(*QUICK)
    births = Births(quiet.control, quiet.namespace)
    run = quiet.run()
    quiet.until(run, "Queued")
    quiet.control.servers.kill(first)
    assert quiet.sealed(run)["outcome"] == "passed"
    assert '"step"' in second.log.read_text()
    assert len(births.seen["jobs"]) == 1


def test_it_ends_gracefully_and_lets_the_next_one_start_at_once(start: Start, quiet: Scene) -> None:
    first = start("--lease-seconds=30")
    quiet.ready(quiet.template(PASS))
    assert end(quiet.control, first) == 0
    start("--lease-seconds=30")
    began = time.monotonic()
    quiet.sealed(quiet.run())
    assert time.monotonic() - began < 29


def test_an_api_server_that_refuses_fails_and_loses_answers(start: Start, quiet: Scene) -> None:
    prepared(quiet, start, PASS, nodes=2)
    births = Births(quiet.control, quiet.namespace)
    with faulty_proxy(quiet.control, rate=0.15, seed=5) as (url, counts):
        account = quiet.control.kubeconfig_for_account("tau-system", "tau-validation-controller")
        through = account.with_name("through-a-proxy.yaml")
        through.write_text(account.read_text().replace(quiet.control.url, url))
        start(*QUICK, f"--kubeconfig={through}")
        runs = [quiet.run() for _ in range(4)]
        outcomes = [quiet.sealed(run, 240)["outcome"] for run in runs]
    print(counts)
    assert outcomes == ["passed"] * 4
    assert {"409", "429", "500", "cut", "lost"} <= counts.keys()
    assert len(births.seen["jobs"]) == len(births.seen["validationresults"]) == 4
    assert quiet.left() == []


def test_it_tells_prometheus_what_it_does(start: Start, quiet: Scene) -> None:
    port = free_port()
    server = start(f"--metrics-port={port}", "--metrics-address=127.0.0.1")
    quiet.ready(quiet.template(PASS))
    quiet.sealed(quiet.run())
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
        said = answer.read().decode()
    assert "tau_controller_leading 1.0" in said
    assert 'tau_controller_runs_sealed_total{ended="with_result"} 1.0' in said
    assert 'tau_controller_steps_total{step="seal"} 1.0' in said
    assert end(quiet.control, server) == 0
    lines = map(json.loads, server.log.read_text().splitlines())
    events = [line["event"] for line in lines if "event" in line]  # telemetry goes there, too
    assert (events[0], events[-1]) == ("started", "stopping")


def test_it_says_why_it_cannot_start(start: Start, quiet: Scene) -> None:
    server = start("--kubeconfig=/nowhere")
    assert server.process.wait(30) == 78
    assert json.loads(server.log.read_text())["why"].startswith("no usable credentials in ")
