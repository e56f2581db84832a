"""One controller works at a time: it holds a Lease, as Kubernetes' own components do. A second one waits.

The Lease spares work; it is not what keeps runs right. Names are fixed and every write has a precondition, so that
even two controllers at once start no Job twice.
"""

import threading
import time
from datetime import UTC, datetime
from typing import Any

import structlog

from ..cluster.errors import ClusterError
from ..cluster.writing import AlreadyExists, Conflict, WritingApi
from ..objects import section, text
from .names import ACCOUNT, path_in

Object = dict[str, Any]
log = structlog.get_logger(__name__)


class Lease:
    """holder: unique for this process. seconds: how long others wait after the last renewal that they saw."""

    def __init__(self, api: WritingApi, namespace: str, holder: str, seconds: float = 15) -> None:
        self._api, self._holder, self._seconds = api, holder, seconds
        self._all = path_in("coordination.k8s.io/v1", "leases", namespace)
        self._seen: tuple[str, str] = ("", "")
        self._seen_at = 0.0

    def acquire(self, stop: threading.Event) -> bool:
        """Waits for the Lease; False where `stop` was set first."""
        while not stop.is_set():
            try:
                if self._try():
                    log.info("lease held", holder=self._holder)
                    return True
            except ClusterError as error:
                log.warning("lease not reachable", why=str(error))
            stop.wait(self._seconds / 5)
        return False

    def hold(self, stop: threading.Event) -> bool:
        """Renews until `stop` is set (True), or until it could not for too long, or another holds it (False)."""
        renewed = time.monotonic()
        while not stop.wait(self._seconds / 5):
            try:
                if not self._try():
                    return False
                renewed = time.monotonic()
            except ClusterError as error:
                log.warning("lease not renewed", why=str(error))
                if time.monotonic() - renewed > self._seconds * 2 / 3:
                    return False
        return True

    def release(self) -> None:
        """Lets the next one start at once."""
        try:
            lease = self._api.get(f"{self._all}/{ACCOUNT}")
            if lease is not None and text(section(lease, "spec"), "holderIdentity") == self._holder:
                self._api.replace(f"{self._all}/{ACCOUNT}", lease | {"spec": lease["spec"] | {"holderIdentity": ""}})
        except ClusterError as error:
            log.warning("lease not released", why=str(error))

    def _try(self) -> bool:
        lease = self._api.get(f"{self._all}/{ACCOUNT}")
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        spec = section(lease, "spec")
        holder = text(spec, "holderIdentity")
        mine = {"holderIdentity": self._holder, "leaseDurationSeconds": max(1, round(self._seconds)), "renewTime": now}
        try:
            if lease is None:
                body = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": ACCOUNT}}
                self._api.create(self._all, body | {"spec": mine | {"acquireTime": now}})
            elif holder == self._holder:
                self._api.replace(f"{self._all}/{ACCOUNT}", lease | {"spec": spec | mine})
            elif not holder or self._is_over(spec):
                self._api.replace(f"{self._all}/{ACCOUNT}", lease | {"spec": spec | mine | {"acquireTime": now}})
            else:
                return False
        except (AlreadyExists, Conflict):
            return False
        return True

    def _is_over(self, spec: Object) -> bool:
        """Whether the holder has not renewed for as long as it said that it may not, by this process's own clock."""
        seen = text(spec, "holderIdentity"), text(spec, "renewTime")
        if seen != self._seen:
            self._seen, self._seen_at = seen, time.monotonic()
        stated = spec.get("leaseDurationSeconds")
        limit = stated if isinstance(stated, int) and 0 < stated <= 3600 else self._seconds
        return time.monotonic() - self._seen_at > limit
