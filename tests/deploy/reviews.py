"""Asks an API server what an account may do: every verb on every resource that it serves, and every address it names.

The answers are those of SubjectAccessReview, so of whatever decides in that cluster, not of a reading of roles.
"""

import http.client
import json
import ssl
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from tests.cluster.bed.control import ControlPlane

# What a role can grant, whether or not a resource lists it; with `*` for a role that grants everything.
VERBS = (
    *("get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"),
    *("impersonate", "bind", "escalate", "approve", "sign", "attest", "use", "proxy", "*"),
)
# Resources that are no objects, so discovery does not name them: impersonation and signing are granted on these.
VIRTUAL = (
    ("certificates.k8s.io", "signers"),
    *(("", name) for name in ("users", "groups", "serviceaccounts")),
    *(("authentication.k8s.io", name) for name in ("uids", "userextras/scopes")),
    ("*", "*"),
)
EVERYWHERE = ""


@dataclass(frozen=True, order=True)
class Question:
    """One right: `path` for an address, else verb, resource (or resource/subresource), group; namespace "" is all."""

    verb: str
    resource: str = ""
    group: str = ""
    namespace: str = EVERYWHERE
    path: str = ""

    def __str__(self) -> str:
        if self.path:
            return f"{self.verb} {self.path}"
        where = f"in {self.namespace}" if self.namespace else "everywhere"
        return f"{self.verb} {self.resource}.{self.group or 'core'} {where}"

    @property
    def attributes(self) -> dict[str, Any]:
        """The part of a SubjectAccessReview that asks this."""
        if self.path:
            return {"nonResourceAttributes": {"verb": self.verb, "path": self.path}}
        resource, _, subresource = self.resource.partition("/")
        asked = {"verb": self.verb, "group": self.group, "resource": resource, "namespace": self.namespace}
        return {"resourceAttributes": asked | ({"subresource": subresource} if subresource else {})}


class Reviewer:
    """The admin's connections to an API server, one per thread; `close` ends them."""

    def __init__(self, control: ControlPlane) -> None:
        self._address = urlsplit(control.url)
        self._context = ssl.create_default_context(cafile=str(control.authority.file))
        pair = control.authority.client("rights-reviewer", ["system:masters"])
        self._context.load_cert_chain(pair.certificate, pair.key)
        self._local = threading.local()
        self._connections: list[http.client.HTTPSConnection] = []

    def close(self) -> None:
        """End every connection."""
        for connection in self._connections:
            connection.close()

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """One request; the decoded answer. A refusal is an error that shows it."""
        if not hasattr(self._local, "connection"):
            host, port = self._address.hostname or "", self._address.port
            self._local.connection = http.client.HTTPSConnection(host, port, timeout=30, context=self._context)
            self._connections.append(self._local.connection)
        connection = self._local.connection
        content = None if body is None else json.dumps(body)
        connection.request(method, path, content, {"Content-Type": "application/json", "Accept": "application/json"})
        answer = connection.getresponse()
        data = json.loads(answer.read())
        if answer.status >= 400:
            raise RuntimeError(f"{method} {path}: {answer.status} {data}")
        return data

    def served(self) -> Iterator[tuple[str, str, bool]]:
        """(group, resource or resource/subresource, whether it has a namespace) of everything that is served."""
        groups = self.call("GET", "/apis")["groups"]
        versions = [("", "/api/v1")]
        versions += [(group["name"], f"/apis/{v['groupVersion']}") for group in groups for v in group["versions"]]
        for group, path in versions:
            for item in self.call("GET", path)["resources"]:
                yield group, item["name"], item["namespaced"]

    def questions(self, namespaces: Iterable[str], besides: Iterable[tuple[str, str]] = ()) -> set[Question]:
        """All of them: what is served, what is given besides, and addresses; everywhere and in each namespace."""
        places = (EVERYWHERE, *namespaces)
        known = {(group, name): namespaced for group, name, namespaced in self.served()}
        known |= {key: True for key in besides if key not in known}
        asked = {
            Question(verb, name, group, place)
            for (group, name), namespaced in known.items()
            for place in (places if namespaced else (EVERYWHERE,))
            for verb in VERBS
        }
        asked |= {Question(verb, name, group) for group, name in VIRTUAL for verb in VERBS}
        paths = {*self.call("GET", "/")["paths"], "/", "/debug/pprof", "/logs", "/*"}
        return asked | {Question(verb, path=path) for path in paths for verb in ("get", "post", "put", "delete", "*")}

    def allowed(self, user: str, groups: list[str], questions: Iterable[Question]) -> list[str]:
        """Those that the API server answers with yes, sorted, one line each."""

        def ask(question: Question) -> str:
            body = {
                "apiVersion": "authorization.k8s.io/v1",
                "kind": "SubjectAccessReview",
                "spec": {"user": user, "groups": groups, **question.attributes},
            }
            answer = self.call("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", body)["status"]
            return str(question) if answer["allowed"] else ""

        with ThreadPoolExecutor(4) as pool:
            return sorted(filter(None, pool.map(ask, questions)))


def account_groups(namespace: str) -> list[str]:
    """The groups that the API server gives every service account of a namespace."""
    return ["system:serviceaccounts", f"system:serviceaccounts:{namespace}", "system:authenticated"]
