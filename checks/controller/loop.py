"""Watches wake it, a queue orders it, workers look at one object at a time and take its next steps."""

import hashlib
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import structlog

from ..cluster.client import path_of
from ..cluster.errors import ClusterError, Expired
from ..cluster.writing import Conflict, WritingApi
from ..contract.clock import format_time
from ..contract.kinds import CHECK, GROUP, PLURALS, RUN, TEMPLATE
from ..objects import check_name_of, section, text
from ..telemetry.recorder import Recorder
from . import metrics, names
from .artifacts import ArtifactError
from .plan import Wait, plan
from .queue import Key, WorkQueue
from .readiness import Condition, Guards, conditions, judge_guards
from .registrations import Registrations
from .steps import Steps
from .world import World, look

Object = dict[str, Any]
log = structlog.get_logger(__name__)
WATCH_SECONDS = 290
GUARDS_SECONDS = 30
STEPS_AT_ONCE = 100

OWN = f"{names.MANAGED_BY}={names.ACCOUNT}"
JOBS, PODS = path_of("batch", "v1", "jobs"), path_of("", "v1", "pods")
WORKLOADS = path_of("kueue.x-k8s.io", "v1beta2", "workloads")
KINDS = {kind: path_of(GROUP, "v1alpha1", PLURALS[kind]) for kind in (RUN, CHECK, TEMPLATE)}
WATCHED = KINDS | {"Job": JOBS, "Pod": PODS, "Workload": WORKLOADS}
SELECTORS = {JOBS: OWN, PODS: OWN}
_POLICIES = [
    path_of("admissionregistration.k8s.io", "v1", plural)
    for plural in ("validatingadmissionpolicies", "validatingadmissionpolicybindings")
]


@dataclass
class Known:
    """What the watches have shown: which runs are active, of which check, and which checks there are."""

    active: dict[tuple[str, str], str] = field(default_factory=dict)
    checks: set[tuple[str, str]] = field(default_factory=set)


class Controller:
    """steps: takes the steps of runs. workers: how many objects are looked at at once. recorder: shown every version
    of every run."""

    def __init__(self, api: WritingApi, steps: Steps, workers: int = 4, recorder: Recorder | None = None) -> None:
        self._api, self._steps, self._workers, self._recorder = api, steps, workers, recorder
        self._registrations = Registrations(api, steps.cluster, steps.username, steps.clock)
        self.queue = WorkQueue()
        self.known = Known()
        self._guards, self._guards_at, self._guards_lock = Guards(), float("-inf"), threading.Lock()
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        """Starts watching and working; returns at once."""
        for kind, path in WATCHED.items():
            self._thread(f"watch-{kind}", lambda kind=kind, path=path: self._watch(kind, path))  # type: ignore[misc]
        for number in range(self._workers):
            self._thread(f"worker-{number}", self._work)

    def stop(self, seconds: float = 20) -> None:
        """Ends gracefully: each worker finishes the step it is at, the next controller goes on from there."""
        self._stop.set()
        self.queue.close()
        until = time.monotonic() + seconds
        for thread in self._threads:
            if thread.name.startswith("worker"):
                thread.join(max(0.0, until - time.monotonic()))

    def _thread(self, name: str, target: Callable[[], None]) -> None:
        thread = threading.Thread(target=target, name=name, daemon=True)
        self._threads.append(thread)
        thread.start()

    # Watching

    def _watch(self, kind: str, path: str) -> None:
        failures = 0
        while not self._stop.is_set():
            try:
                self._watch_once(kind, path)
                failures = 0
            except Expired:
                continue
            except ClusterError as error:
                failures += 1
                metrics.WATCHES.labels(kind).inc()
                log.warning("watch ended", kind=kind, why=str(error))
                self._stop.wait(min(30.0, 0.5 * 2 ** min(failures, 6)))

    def _watch_once(self, kind: str, path: str) -> None:
        """Lists, then watches until the watch has to begin anew."""
        version = ""
        for page in self._api.list(path):
            version = page.resource_version
            for item in page.items:
                self.wake(kind, item)
        while not self._stop.is_set():
            for event in self._api.watch(path, version, WATCH_SECONDS):
                version = text(section(event.object, "metadata"), "resourceVersion") or version
                if event.type in ("ADDED", "MODIFIED", "DELETED"):
                    self.wake(kind, event.object, gone=event.type == "DELETED")
                if self._stop.is_set():
                    return

    def wake(self, kind: str, item: Object, *, gone: bool = False) -> None:
        """What is to be looked at since this object is as it is, or is gone."""
        metadata = section(item, "metadata")
        place = text(metadata, "namespace"), text(metadata, "name")
        if kind == RUN:
            if self._recorder is not None:
                self._recorder.show(item, gone=gone)
            check, phase = check_name_of(item), text(section(item, "status"), "phase")
            if not gone and phase != "Sealed":
                self.known.active[place] = check
                self.queue.add(Key(RUN, *place))
            else:
                self.known.active.pop(place, None)
            metrics.ACTIVE.set(len(self.known.active))
            if gone or phase in ("", "Pending", "Sealed"):
                self.queue.add(Key(CHECK, place[0], check))
        elif kind == CHECK:
            self.known.checks.discard(place) if gone else self.known.checks.add(place)
            self.queue.add(Key(CHECK, *place))
            for run, check in list(self.known.active.items()):
                if (run[0], check) == place:
                    self.queue.add(Key(RUN, *run))
        elif kind == TEMPLATE:
            for each in list(self.known.checks):
                self.queue.add(Key(CHECK, *each))
        else:
            self._wake_run(kind, place, metadata)
        metrics.WAITING.set(len(self.queue))

    def _wake_run(self, kind: str, place: tuple[str, str], metadata: Object) -> None:
        """A Job has the name of its run; pods and Workloads are owned by the Job."""
        owners = [place[1]] if kind == "Job" else [text(o, "name") for o in metadata.get("ownerReferences") or ()]
        for name in owners:
            if (place[0], name) in self.known.active:
                self.queue.add(Key(RUN, place[0], name))

    # Working

    def _work(self) -> None:
        while (key := self.queue.take()) is not None:
            started = time.monotonic()
            with structlog.contextvars.bound_contextvars(kind=key.kind, namespace=key.namespace, name=key.name):
                ended = self._look(key)
            metrics.RECONCILES.labels(key.kind, ended).inc()
            metrics.DURATION.labels(key.kind).observe(time.monotonic() - started)
            self.queue.done(key)

    def _look(self, key: Key) -> str:
        try:
            again = self.reconcile(key)
        except Conflict:
            self.queue.add(key, 0.1)
            return "conflict"
        except (ClusterError, ArtifactError) as error:
            log.warning("not done", why=str(error), again=self.queue.add_after_failure(key))
            return "error"
        except Exception:  # one bad object never stops the others
            log.exception("failed", again=self.queue.add_after_failure(key))
            return "bug"
        self.queue.succeeded(key)
        if again is not None:
            self.queue.add(key, again)
        return "done"

    def reconcile(self, key: Key) -> float | None:
        """Takes every step that one object needs now; seconds until it is looked at again, or None."""
        if key.kind == CHECK:
            return self._registrations.reconcile(key.namespace, key.name, self.guards())
        for _ in range(STEPS_AT_ONCE):
            world = look(self._api, key.namespace, key.name, self._steps.cluster)
            if world is None or world.phase == "Sealed" or _is_of_another_controller(world):
                return None
            wait = self._step(world)
            if wait is not None:
                return wait
            self.queue.succeeded(key)  # a step forward: what fails next is a new failure
            if self._stop.is_set():
                return None
        return 1.0

    def _step(self, world: World) -> float | None:
        """One step; seconds to wait where there is none."""
        guards = self.guards()
        ready = _ready(world, self._steps.username, guards)
        action = plan(world, ready, self._steps.clock())
        if isinstance(action, Wait):
            return action.seconds
        name = type(action).__name__.lower()
        event = self._steps.take(action, world, ready, guards)
        metrics.STEPS.labels(name).inc()
        log.info("step", step=name, phase=world.phase, said=event and event[0])
        if event is not None:
            if event[0].startswith("Sealed"):
                metrics.SEALED.labels("with_result" if event[0] == "Sealed" else "without").inc()
            self._publish_event(world, *event)
        return None

    def guards(self) -> Guards:
        """The admission policies in force, as they were at most 30 s ago."""
        with self._guards_lock:
            if time.monotonic() - self._guards_at > GUARDS_SECONDS:
                self._guards = judge_guards(*(self._api.select(path) for path in _POLICIES))
                self._guards_at = time.monotonic()
            return self._guards

    def _publish_event(self, world: World, reason: str, message: str) -> None:
        metadata, now = world.run["metadata"], format_time(self._steps.clock().replace(microsecond=0))
        unique = hashlib.sha256(f"{metadata['uid']} {reason} {message}".encode()).hexdigest()[:16]
        event = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": f"{metadata['name']}.{unique}", "namespace": world.key[0]},
            "involvedObject": {
                "apiVersion": f"{GROUP}/v1alpha1",
                "kind": RUN,
                "namespace": world.key[0],
                "name": metadata["name"],
                "uid": metadata["uid"],
            },
            "reason": reason,
            "message": message[:1024],
            "type": "Normal" if reason in _NORMAL else "Warning",
            "source": {"component": names.ACCOUNT},
            "firstTimestamp": now,
            "lastTimestamp": now,
            "count": 1,
        }
        try:
            self._api.create(names.path_in("v1", "events", world.key[0]), event)
        except ClusterError as error:
            log.debug("event not written", why=str(error))


_NORMAL = ("Queued", "Admitted", "Running", "Ended", "Collected", "Cleaned", "Sealed")


def _is_of_another_controller(world: World) -> bool:
    spec = world.registration.spec if world.registration else None
    return spec is not None and spec.launch.controller is not None


def _ready(world: World, username: str, guards: Guards) -> Condition:
    if world.registration is None:
        name = world.run["spec"]["checkRef"]["name"]
        return Condition("Ready", False, "NotRegistered", f"There is no TauValidationCheck {name}.")
    return conditions(world.registration, username, guards)[-1]
