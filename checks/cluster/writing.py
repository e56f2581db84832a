"""The client of the controller: creates, patches and deletes, and repeats what the API server says of a refusal.

The portal reads with `Api` and cannot import this module (a contract of import-linter). A write that may have been
done although no answer came is the caller's to repeat: every write of the controller can be made twice.
"""

import json
import time
from collections.abc import Mapping
from typing import Any

from kubernetes import client

from ..contract.credential import may_hold_credential
from .client import READ_SECONDS, Api, Object, Query, _own_errors
from .errors import AlreadyExists as AlreadyExists  # said again, for who writes
from .errors import ClusterError, Expired, Forbidden, Overloaded, Unreachable
from .errors import Conflict as Conflict
from .errors import NotFound as NotFound
from .errors import Refusal as Refusal

_MERGE_PATCH = "application/merge-patch+json"
_MAX_WORDS = 1024
_PAUSES = (0.1, 0.4)  # seconds


class WritingApi(Api):
    """Reads and writes. selectors: label selectors by path; lists and watches of those paths see nothing else."""

    def __init__(
        self,
        kubeconfig: str = "",
        context: str = "",
        selectors: Mapping[str, str] | None = None,
        settings: client.Configuration | None = None,
    ) -> None:
        super().__init__(kubeconfig, context, settings)
        self._selectors = dict(selectors or {})

    def get(self, path: str) -> Object | None:
        """One object, or None where there is none. Raises ClusterError."""
        try:
            return self._json("GET", path, [])
        except NotFound:
            return None

    def select(self, path: str, **selectors: str) -> list[Object]:
        """All objects under a path by labelSelector or fieldSelector. Raises ClusterError."""
        found: list[Object] = []
        token = ""
        while True:
            query = [*selectors.items(), ("limit", "500"), *([("continue", token)] if token else [])]
            answer = self._json("GET", path, query)
            found += [item for item in answer.get("items") or () if isinstance(item, dict)]
            token = (answer.get("metadata") or {}).get("continue") or ""
            if not token:
                return found

    def create_as_if(self, path: str, body: Object) -> Object:
        """What creating this object would give, with every default filled in; nothing is created."""
        return self._json("POST", path, [("dryRun", "All")], body)

    def patch(self, path: str, body: Object) -> Object:
        """Merges into one object; with metadata.resourceVersion in it, only into that version. Raises Conflict."""
        return self._json("PATCH", path, [], body)

    def replace(self, path: str, body: Object, *, dry_run: bool = False) -> Object:
        """Puts one whole object, over the version it was read at; dry_run: only asks. Raises Conflict."""
        return self._json("PUT", path, [("dryRun", "All")] if dry_run else [], body)

    def delete(self, path: str, uid: str) -> None:
        """Deletes the object with this UID and what it owns, and no other one. Raises NotFound, Conflict."""
        options = {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": uid}}
        self._json("DELETE", path, [], options | {"propagationPolicy": "Background"})

    def log(self, path: str, container: str, limit: int) -> bytes:
        """The first `limit` bytes that a container wrote. path: of the pod. Raises ClusterError."""
        query = [("container", container), ("limitBytes", str(limit))]
        with _own_errors():
            answer = self._call("GET", f"{path}/log", query, READ_SECONDS)
            try:
                return bytes(answer.read(limit, decode_content=True))
            finally:
                answer.release_conn()
                answer.close()

    def _json(self, method: str, path: str, query: Query, body: Object | None = None) -> Object:
        """A read that failed for a moment is tried again at once; a write is its caller's to repeat."""
        for pause in _PAUSES if method == "GET" else ():
            try:
                return super()._json(method, path, query, body)
            except (Overloaded, Unreachable):
                time.sleep(pause)
        return super()._json(method, path, query, body)

    def _call(self, method: str, path: str, query: Query, read_seconds: int, body: Object | None = None) -> Any:
        if selector := self._selectors.get(path):
            query = [*query, ("labelSelector", selector)]
        headers = {"Accept": "application/json, */*"}
        if body is not None:
            headers["Content-Type"] = _MERGE_PATCH if method == "PATCH" else "application/json"
        answer = self._send(method, path, query, headers, body, read_seconds)
        if not 200 <= answer.status < 300:
            said = answer.read(2**16, decode_content=True)
            answer.release_conn()
            answer.close()
            raise refusal(answer.status, said)
        return answer


# What an API server says for some seconds after it started, when it does not know the kind of a policy's parameter yet:
# nothing was judged, so it is no refusal.
_NOT_YET = "failed to configure policy"


def refusal(code: int, said: bytes) -> ClusterError:
    """The error for an answer that is no success; its words where they hold nothing that looks like a credential."""
    try:
        status = json.loads(said)
    except ValueError:
        status = {}
    words, reason = (str(status.get(key, "")) if isinstance(status, dict) else "" for key in ("message", "reason"))
    if not words or may_hold_credential(words):
        words = f"the API server answered {code} {reason}".strip()
    words = words[:_MAX_WORDS]
    if code in (403, 422) and _NOT_YET in words:  # the code depends on the reason that the policy gives
        return Overloaded(words)
    if code in (401, 403):
        return Forbidden(words)
    if code == 404:
        return NotFound(words)
    if code == 409:
        return AlreadyExists(words) if reason == "AlreadyExists" else Conflict(words)
    if code == 410:
        return Expired(words)
    if code == 429 or code >= 500:
        return Overloaded(words)
    return Refusal(words)
