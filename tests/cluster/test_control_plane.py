"""The API server of the test bed: its people, its accounts and its outages."""

import contextlib
import json
import time
from collections.abc import Iterator

import pytest

from tests.cluster.bed.control import ControlPlane, Refused
from tests.cluster.bed.people import impersonating, person
from tests.cluster.bed.waiting import eventually

pytestmark = pytest.mark.cluster


def test_a_person_is_who_the_certificate_says(apiserver: ControlPlane) -> None:
    ada = person(apiserver, "ada", ["team-blue", "on-call"])
    told = json.loads(ada.kubectl("auth", "whoami", "-o", "json"))["status"]["userInfo"]
    assert told["username"] == "ada"
    assert {"team-blue", "on-call"} <= set(told["groups"])


def test_a_person_has_no_rights_until_a_binding_gives_them(apiserver: ControlPlane, namespace: str) -> None:
    ben = person(apiserver, f"ben-{namespace}", [f"readers-{namespace}"])
    assert not ben.can("get", "pods", namespace)
    with pytest.raises(Refused, match="pods is forbidden"):
        ben.kubectl("get", "pods", "--namespace", namespace)
    here = ("--namespace", namespace)
    apiserver.kubectl(*here, "create", "role", "read", "--verb=get,list", "--resource=pods")
    apiserver.kubectl(*here, "create", "rolebinding", "read", "--role=read", f"--group=readers-{namespace}")
    eventually(lambda: ben.can("get", "pods", namespace), "the binding is in force")
    ben.kubectl("get", "pods", *here)
    assert not ben.can("get", "pods")


def test_the_admin_can_act_as_somebody_else(apiserver: ControlPlane) -> None:
    words = impersonating("cleo", ["guests"])
    told = json.loads(apiserver.kubectl("auth", "whoami", "-o", "json", *words))["status"]["userInfo"]
    assert told["username"] == "cleo"
    assert "guests" in told["groups"]


def test_a_service_account_speaks_with_its_own_token(apiserver: ControlPlane, namespace: str) -> None:
    kubeconfig = apiserver.kubeconfig_for_account(namespace, "default")
    told = json.loads(apiserver.kubectl("auth", "whoami", "-o", "json", kubeconfig=kubeconfig))
    assert told["status"]["userInfo"]["username"] == f"system:serviceaccount:{namespace}:default"


def test_a_namespace_refuses_pods_outside_restricted_pod_security(apiserver: ControlPlane, namespace: str) -> None:
    with pytest.raises(Refused, match='violates PodSecurity "restricted'):
        apiserver.kubectl("--namespace", namespace, "run", "root", "--image=bed.invalid/busybox:bed")


@pytest.fixture
def after_an_outage(apiserver: ControlPlane) -> Iterator[ControlPlane]:
    """The API server, running again whatever the test did to it."""
    yield apiserver
    with contextlib.suppress(RuntimeError):
        apiserver.apiserver  # noqa: B018 - raises where it is stopped
        return
    apiserver.start_apiserver()


def test_what_was_written_outlives_an_outage(after_an_outage: ControlPlane, namespace: str) -> None:
    control = after_an_outage
    control.kubectl("--namespace", namespace, "create", "configmap", "kept", "--from-literal=word=still-here")
    control.stop_apiserver()
    with pytest.raises(Refused, match="refused"):
        control.kubectl("get", "namespaces", "--request-timeout=2s")
    started = time.monotonic()
    control.start_apiserver()
    print(f"API server back after {time.monotonic() - started:.1f} s")
    assert control.get("configmap", "kept", "--namespace", namespace)["data"] == {"word": "still-here"}
