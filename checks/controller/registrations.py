"""Keeps the status of every registration true, starts its scheduled runs, and keeps its history short."""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from ..cluster.writing import AlreadyExists, Conflict, NotFound, WritingApi
from ..contract.clock import format_time, parse_time
from ..contract.kinds import ACTIVE_PHASES, API_VERSION, CHECK, RESULT, RUN
from ..facts import Registration
from ..objects import run_from, section, text
from ..selection import run_order
from . import names
from .clockwork import next_after
from .readiness import Guards, conditions, merged
from .world import registered

Object = dict[str, Any]
RECHECK_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class Registrations:
    """username: of this controller, as the API server gives it."""

    api: WritingApi
    cluster: str
    username: str
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)

    def reconcile(self, namespace: str, name: str, guards: Guards) -> float | None:
        """Brings one registration up to date; seconds until it is looked at again, None where it is gone.

        Raises ClusterError; Conflict where somebody else changed it meanwhile.
        """
        place = self.api.get(f"/api/v1/namespaces/{namespace}")
        check, _, registration = registered(self.api, namespace, name, self.cluster, place)
        if check is None or registration is None:
            return None
        now = self.clock()
        runs = self._newest_first(namespace, name)
        found = conditions(registration, self.username, guards)
        due = self._due(check, registration, now)
        started = self._start(check, registration, due, runs, ready=found[-1].holds is True) if due else False
        upcoming = self._upcoming(registration, now) if started or due is None or due > now else due
        changes: Object = {
            "observedGeneration": section(check, "metadata").get("generation", 1),
            "specDigest": registration.digest or None,
            "conditions": merged(
                section(check, "status").get("conditions"),
                found,
                section(check, "metadata").get("generation", 1),
                format_time(now),
            ),
            "nextRunAt": format_time(upcoming) if upcoming else None,
        }
        if runs:
            newest = runs[0]
            identity = {"name": newest["metadata"]["name"], "uid": newest["metadata"]["uid"]}
            changes["lastRun"] = identity | {"runID": newest["spec"]["runID"]}
        self._write(check, changes)
        self._forget(namespace, registration, runs)
        return min(RECHECK_SECONDS, max(1.0, (upcoming - now).total_seconds())) if upcoming else RECHECK_SECONDS

    def _newest_first(self, namespace: str, check: str) -> list[Object]:
        found = self.api.select(names.own_path(RUN, namespace), fieldSelector=f"spec.checkRef.name={check}")
        return sorted(found, key=lambda item: run_order(run_from(item)), reverse=True)

    def _write(self, check: Object, changes: Object) -> None:
        status, metadata = section(check, "status"), check["metadata"]
        if all(status.get(key) == value for key, value in changes.items()):
            return
        body = {"metadata": {"resourceVersion": metadata["resourceVersion"]}, "status": changes}
        self.api.patch(names.own_path(CHECK, metadata["namespace"], metadata["name"]) + "/status", body)

    def _due(self, check: Object, registration: Registration, now: datetime) -> datetime | None:
        """When the next run starts, perhaps in the past; None without a schedule. A changed schedule counts anew."""
        status = section(check, "status")
        if status.get("observedGeneration") != section(check, "metadata").get("generation"):
            return self._upcoming(registration, now)
        return parse_time(status.get("nextRunAt")) or self._upcoming(registration, now)

    def _upcoming(self, registration: Registration, now: datetime) -> datetime | None:
        spec = registration.spec
        if spec is None or spec.schedule is None or spec.launch.template is None:
            return None
        try:
            return next_after(spec.schedule.cron, spec.schedule.time_zone, now)
        except (ValueError, KeyError, OSError, StopIteration):
            return None  # the condition Accepted says so

    def _start(
        self, check: Object, registration: Registration, due: datetime, runs: list[Object], *, ready: bool
    ) -> bool:
        """Starts the run that is due, unless one is under way or none may start; True where it has been started.

        What was missed is started once, not once for each time that was missed; until then it shows as overdue.
        """
        spec = registration.spec
        active = any((text(section(run, "status"), "phase") or "Pending") in ACTIVE_PHASES for run in runs)
        if spec is None or due > self.clock() or active or not ready or spec.suspend:
            return False
        run_id = names.scheduled_run_id(registration.uid, format_time(due))
        run = {
            "apiVersion": API_VERSION,
            "kind": RUN,
            "metadata": {"name": f"{registration.name}-{run_id}", "namespace": registration.namespace},
            "spec": {
                "checkRef": {
                    "name": registration.name,
                    "uid": registration.uid,
                    "specDigest": registration.digest,
                },
                "runID": run_id,
                "attempt": 1,
                "trigger": "Schedule",
                "requestedBy": self.username,
            },
        }
        try:
            made = self.api.create(names.own_path(RUN, registration.namespace), run)
            runs.insert(0, made)
        except AlreadyExists:
            pass  # started before, and then something came between
        return True

    def _forget(self, namespace: str, registration: Registration, newest_first: list[Object]) -> None:
        """Removes sealed runs and results beyond the history limit; never the newest run."""
        if registration.spec is None or registration.spec.launch.template is None:
            return
        sealed = [run for run in newest_first if text(section(run, "status"), "phase") == "Sealed"]
        old = [run for run in sealed[registration.spec.results.history_limit :] if run is not newest_first[0]]
        for run in old:
            reference = section(section(run, "status"), "resultRef")
            if reference:
                self._delete(names.own_path(RESULT, namespace, reference["name"]), reference["uid"])
            self._delete(names.own_path(RUN, namespace, run["metadata"]["name"]), run["metadata"]["uid"])

    def _delete(self, path: str, uid: str) -> None:
        with contextlib.suppress(NotFound, Conflict):
            self.api.delete(path, uid)
