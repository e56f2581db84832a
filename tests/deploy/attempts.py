"""Trying to create or change something, and the sentence with which the API server refuses.

It speaks to the API server itself: hundreds of tries would be minutes of starting kubectl. `who` is written as for
kubectl, `--as=NAME` and `--as-group=GROUP`; without it the bed's admin tries.
"""

import contextlib
import functools
import http.client
import json
import ssl
import time
import uuid
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from tests.cluster.bed.control import ADMIN, ControlPlane
from tests.deploy import objects

RBAC = "rbac.authorization.k8s.io"
REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
READS_TEMPLATES = ("get", "validationtemplates", "tau.azure.com")

PLURALS = {
    "TauValidationTemplate": "validationtemplates",
    "TauValidationCheck": "validationchecks",
    "TauValidationRun": "validationruns",
    "TauValidationResult": "validationresults",
    "Pod": "pods",
}


def refusal(control: ControlPlane, item: Mapping[str, Any], *who: str) -> str:
    """What the API server says to the creation of an object, as a trial; "" where it would take it."""
    return _said(control, "POST", _collection(item) + "?dryRun=All", item, who)


def create_refusal(control: ControlPlane, item: Mapping[str, Any], *who: str) -> str:
    """What the API server says to the creation of an object, for good; "" where it took it."""
    return _said(control, "POST", _collection(item), item, who)


def patch_refusal(
    control: ControlPlane, target: str, namespace: str, patch: Any, *who: str, subresource: str = ""
) -> str:
    """What the API server says to a change of `plural/name`, for good; "" where it took it. A list is a JSON patch."""
    place = "" if target.startswith("validationtemplates/") else f"/namespaces/{namespace}"
    path = f"/apis/tau.azure.com/v1alpha1{place}/{target}"
    return _said(control, "PATCH", f"{path}/{subresource}" if subresource else path, patch, who)


def bind(
    control: ControlPlane,
    namespace: str,
    role: str,
    *,
    user: str = "",
    group: str = "",
    right: tuple[str, str, str] = READS_TEMPLATES,
) -> None:
    """Give somebody a role (ClusterRole NAME, or Role/NAME) in a namespace; returns when it is in force.

    `right` is one that the role gives (verb, resource, group): by it one sees that the API server knows.
    """
    kind, _, name = role.rpartition("/")
    reference = {"apiGroup": RBAC, "kind": kind or "ClusterRole", "name": name}
    subject = {"apiGroup": RBAC, "kind": "User" if user else "Group", "name": user or group}
    binding = {"metadata": {"name": f"test-{uuid.uuid4().hex[:8]}"}, "roleRef": reference, "subjects": [subject]}
    path = f"/apis/{RBAC}/v1/namespaces/{namespace}/rolebindings"
    assert _said(control, "POST", path, binding, ()) == ""
    verb, resource, of = right
    asked = {"verb": verb, "resource": resource, "group": of, "namespace": namespace}
    review = {"spec": {"user": user or "somebody", "groups": [group], "resourceAttributes": asked}}
    _wait(lambda: bool(request(control, "POST", REVIEWS, review)[1]["status"]["allowed"]), f"{role} is not in force")


def register(control: ControlPlane, check: Mapping[str, Any]) -> None:
    """Store a registration; returns when the policy that asks it for its publisher knows it."""
    assert create_refusal(control, check) == ""
    name = check["metadata"]["name"]
    stranger = objects.result(check["metadata"]["namespace"], ADMIN, name=f"{name}-{objects.RUN_ID}-1")
    stranger["spec"]["envelope"]["check"]["name"] = name
    expected = f"Only the publisher that check {name} registers"
    _wait(lambda: expected in refusal(control, stranger), f"the policy does not know {name}")


def _wait(answers: Callable[[], bool], otherwise: str) -> None:
    deadline = time.monotonic() + 30
    while not answers():
        assert time.monotonic() < deadline, f"After 30 s {otherwise}."
        time.sleep(0.05)


def request(
    control: ControlPlane, method: str, path: str, body: Any = None, who: Iterable[str] = ()
) -> tuple[int, Any]:
    """One request; the HTTP status and the decoded answer."""
    address = urlsplit(control.url)
    connection = http.client.HTTPSConnection(address.hostname or "", address.port, timeout=30, context=_trust(control))
    with contextlib.closing(connection):
        content = json.dumps(body).encode() if body is not None else b""
        connection.putrequest(method, path)
        connection.putheader("Content-Length", str(len(content)))
        connection.putheader("Content-Type", _content_type(method, body))
        for option in who:
            name, _, value = option.partition("=")
            connection.putheader({"--as": "Impersonate-User", "--as-group": "Impersonate-Group"}[name], value)
        connection.endheaders(content)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())


def _content_type(method: str, body: Any) -> str:
    if method != "PATCH":
        return "application/json"
    return f"application/{'json' if isinstance(body, list) else 'merge'}-patch+json"


def _collection(item: Mapping[str, Any]) -> str:
    version, namespace = item["apiVersion"], item["metadata"].get("namespace")
    place = f"/namespaces/{namespace}" if namespace else ""
    return f"/{'apis' if '/' in version else 'api'}/{version}{place}/{PLURALS[item['kind']]}"


def _said(control: ControlPlane, method: str, path: str, body: Any, who: Iterable[str]) -> str:
    status, answer = request(control, method, path, body, who)
    return str(answer["message"]) if status >= 400 else ""


@functools.cache
def _trust(control: ControlPlane) -> ssl.SSLContext:
    """The bed's authority, and the admin's certificate."""
    user = json.loads(control.kubeconfig.read_text())["users"][0]["user"]
    context = ssl.create_default_context(cafile=str(control.authority.file))
    context.load_cert_chain(user["client-certificate"], user["client-key"])
    return context
