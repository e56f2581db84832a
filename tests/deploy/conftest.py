"""The API server with everything that the chart installs, put there by helm itself."""

import subprocess
import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.cluster.bed.chart import CHART
from tests.cluster.bed.control import ADMIN, ControlPlane
from tests.cluster.fixtures import missing
from tests.cluster.tools import ToolMissing, tool
from tests.deploy import objects
from tests.deploy.attempts import PLURALS, create_refusal, refusal, register, request

Store = Callable[[dict[str, Any]], dict[str, Any]]


def helm(control: ControlPlane, *arguments: str) -> str:
    """Run helm against the API server; what it printed."""
    words = [str(tool("helm")), "--kubeconfig", str(control.kubeconfig), "--namespace", "tau-system", *arguments]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def namespace(apiserver: ControlPlane) -> Iterator[str]:
    """A namespace of this test's own, under restricted pod security; made without kubectl, for hundreds of tests."""
    name = f"test-{uuid.uuid4().hex[:12]}"
    metadata = {"name": name, "labels": {"pod-security.kubernetes.io/enforce": "restricted"}}
    account = {"metadata": {"name": "default", "namespace": name}}
    request(apiserver, "POST", "/api/v1/namespaces", {"metadata": metadata})
    request(apiserver, "POST", f"/api/v1/namespaces/{name}/serviceaccounts", account)
    yield name
    request(apiserver, "DELETE", f"/api/v1/namespaces/{name}")


@pytest.fixture(scope="session")
def guarded(apiserver: ControlPlane) -> ControlPlane:
    """Returns when every policy is in force: the API server takes one up some time after it was created."""
    try:
        tool("helm")
    except ToolMissing as sentence:
        missing(str(sentence))
    own = ("--create-namespace", "--take-ownership", "--force-conflicts")
    helm(apiserver, "install", "portal", str(CHART), *own)
    apiserver.apply([objects.check("default", "probe")])
    probes = {
        "tau-validation-result-publisher": objects.result("default", "somebody-else"),
        "tau-validation-result-guard": objects.result("default", ADMIN, envelope=objects.envelope("elsewhere")),
        "tau-validation-run-guard": objects.run("default", "somebody-else"),
        "tau-validation-approval-guard": objects.annotated(objects.check("default", "new"), approved=objects.DIGEST),
        "tau-validation-template-guard": objects.template(objects.pod(hostNetwork=True)),
    }
    deadline = time.monotonic() + 30
    for policy, item in probes.items():
        while policy not in refusal(apiserver, item):
            assert time.monotonic() < deadline, f"{policy} is not in force after 30 s."
            time.sleep(0.2)
    return apiserver


@pytest.fixture
def stored(guarded: ControlPlane, namespace: str) -> Store:
    """Stores an object as whoever may, and answers what the API server then holds."""

    def store(item: dict[str, Any]) -> dict[str, Any]:
        who = objects.CONTROLLER if item["kind"] == "TauValidationResult" else ADMIN
        if item["kind"] == "TauValidationCheck":
            register(guarded, item)
        else:
            assert create_refusal(guarded, item, f"--as={who}", "--as-group=system:masters") == ""
        name = item["metadata"]["name"]
        held: dict[str, Any] = guarded.get(PLURALS[item["kind"]], name, "--namespace", namespace)
        return held

    return store


@pytest.fixture
def one_of_each(guarded: ControlPlane, namespace: str, stored: Store) -> Iterator[list[dict[str, Any]]]:
    """One object of each kind, in the cluster."""
    template = objects.template(
        objects.pod(tolerations=[], volumes=[{"name": "tmp", "emptyDir": {}}]),
        parameters=[{"name": "limit", "type": "integer", "default": 0}],
    )
    check = objects.check(namespace)
    check["spec"]["launch"]["template"]["parameters"] = {"limit": 7, "fast": True, "unit": ""}
    wanted = [template, check, objects.run(namespace, ADMIN, parameters={"limit": 7}), objects.result(namespace)]
    yield [stored(item) for item in wanted]
    guarded.kubectl("delete", "validationtemplates", template["metadata"]["name"])
