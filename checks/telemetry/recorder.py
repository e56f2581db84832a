"""Takes down what runs have come to. It is shown every version of every run, and makes nobody wait.

Looking things up, deriving lines and writing them is done on a thread of its own. What cannot be taken down now (no
room, API server away) is kept by run, newest version only, and tried again: a later version gives earlier lines too.
"""

import queue
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import structlog
from pydantic import ValidationError

from ..objects import section, text
from . import lifecycle, metric, metrics
from .delivery import Delivery
from .numbers import events
from .runs import Around, ending, rows
from .sinks import Sink
from .spool import Known, Said, Spool, SpoolError, SpoolFull
from .validating import line_problems

Object = dict[str, Any]
log = structlog.get_logger(__name__)
MOST_SHOWN = 10_000
AGAIN_SECONDS = 15.0


class Unavailable(Exception):
    """What surrounds a run cannot be looked up now; the text says why."""


@dataclass(frozen=True, slots=True)
class _Shown:
    """One version of a run, and when it was seen. gone: it was deleted."""

    run: Object
    gone: bool
    at: datetime

    @property
    def uid(self) -> str:
        return text(section(self.run, "metadata"), "uid")


class Recorder:
    """open_spool: tried until it succeeds. sinks: each gets every line. around: looks up what surrounds a run; raises
    Unavailable."""

    def __init__(
        self,
        open_spool: Callable[[], Spool],
        sinks: Sequence[Sink],
        around: Callable[[Object], Around],
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._open, self._sinks, self._around, self._clock = open_spool, sinks, around, clock
        self._queue: queue.Queue[_Shown] = queue.Queue(MOST_SHOWN)
        self._later: dict[str, _Shown] = {}
        self._spool: Spool | None = None
        self._deliveries: list[Delivery] = []
        self._said, self._retried_at = "", 0.0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="telemetry", daemon=True)

    def start(self) -> None:
        """Returns at once."""
        self._thread.start()

    def show(self, run: Object, *, gone: bool = False) -> None:
        """A version of a run as a watch gave it. Never waits, never raises."""
        metadata, status = section(run, "metadata"), section(run, "status")
        kept = {key: metadata[key] for key in _METADATA if key in metadata}
        slim = {
            "metadata": kept,
            "spec": section(run, "spec"),
            "status": {k: status[k] for k in _STATUS if k in status},
        }
        shown = _Shown(slim, gone, self._clock())
        try:
            self._queue.put_nowait(shown)
        except queue.Full:
            metrics.PUT_OFF.labels("busy").inc()
            self._later[shown.uid] = shown

    def stop(self, seconds: float = 5) -> None:
        """Takes down what was shown, and sends what the sinks take meanwhile; the rest stays on disk."""
        until = time.monotonic() + seconds
        self._stop.set()
        self._thread.join(max(0.0, until - time.monotonic()))
        for delivery in self._deliveries:
            delivery.stop(until)

    def _run(self) -> None:
        while self._spool is None and not self._opened():
            if self._stop.wait(AGAIN_SECONDS):
                return
        while True:
            try:
                self.take(self._queue.get(timeout=0.2))
            except queue.Empty:
                if self._stop.is_set():
                    return
                self._retry()

    def _opened(self) -> bool:
        try:
            self._spool = self._open()
        except SpoolError as error:
            self._put_off("spool", str(error))
            return False
        if self._spool.broken:
            log.error("telemetry spool was damaged and set aside", file=self._spool.broken)
        self._deliveries = [Delivery(self._spool, sink) for sink in self._sinks]
        for delivery in self._deliveries:
            delivery.start()
        return True

    def _retry(self) -> None:
        if not self._later or time.monotonic() - self._retried_at < AGAIN_SECONDS:
            return
        self._retried_at = time.monotonic()
        for uid in list(self._later):
            shown = self._later.pop(uid, None)
            if shown is not None and not self.take(shown):
                return

    def take(self, shown: _Shown) -> bool:
        """Takes one version down; False where it has to be tried again. Never raises."""
        try:
            self._take(shown)
        except SpoolFull:
            metrics.FULL.set(1)
            return self._put_off("full", "the spool is full; runs go on, and are taken down when there is room", shown)
        except SpoolError as error:
            return self._put_off("spool", str(error), shown)
        except Unavailable as error:
            return self._put_off("cluster", str(error), shown)
        except (ValidationError, ValueError) as error:
            fields = [".".join(map(str, each["loc"])) for each in getattr(error, "errors", list)()][:5]
            log.warning("telemetry of a run left out", run=shown.uid, why="it breaks the contract", fields=fields)
            metrics.PUT_OFF.labels("invalid").inc()
        except Exception:  # telemetry never stops because of one run
            log.exception("telemetry failed", run=shown.uid)
            metrics.PUT_OFF.labels("bug").inc()
        else:
            metrics.FULL.set(0)
            self._said = ""
        return True

    def _put_off(self, why: str, words: str, shown: _Shown | None = None) -> bool:
        metrics.PUT_OFF.labels(why).inc()
        if words != self._said:  # once for each cause, not for each run
            log.warning("telemetry put off", why=words)
            self._said = words
        if shown is not None:
            self._later[shown.uid] = shown
        return False

    def _take(self, shown: _Shown) -> None:
        assert self._spool is not None
        known = self._spool.known(shown.uid)
        if known.ended:
            if shown.gone:
                self._spool.forget(shown.uid)
            return
        around = _remembering(self._around(shown.run), known)
        found = rows(shown.run, around, shown.at, gone=shown.gone, resumed=known.state == "stale")
        lines = [Said(row.observation_id, lifecycle.TABLE, row.ndjson()) for row in found]
        if ended := ending(shown.run, around):
            numbers = events(shown.run, around, ended, self._clock())
            lines += [Said(event.event_id, metric.TABLE, event.ndjson()) for event in numbers]
        lines = [line for line in lines if _sound(line, shown.uid)]
        facts = {key: value for key in _REMEMBERED if (value := getattr(around, key))}
        over = found[-1].state in lifecycle.TERMINAL
        taken = self._spool.append(shown.uid, lines, found[-1].state, ended=over, facts=facts)
        self._later.pop(shown.uid, None)
        for line in lines if taken else ():
            metrics.LINES.labels(line.table).inc()
        for delivery in self._deliveries if taken else ():
            delivery.wake()


_METADATA = ("name", "namespace", "uid", "creationTimestamp", "resourceVersion", "generation")
_STATUS = (
    *("phase", "reason", "queuedAt", "admittedAt", "startedAt", "completedAt", "sealedAt", "lastObservedAt"),
    *("targets", "job", "workload", "conditions", "resultRef"),
)
_REMEMBERED = ("workspace", "local_queue", "cluster_queue")


def _remembering(around: Around, known: Known) -> Around:
    """With what was found out earlier and cannot be any more: a Workload is gone when its run ends."""
    facts = known.facts or {}
    earlier: dict[str, Any] = {key: facts[key] for key in _REMEMBERED if key in facts and not getattr(around, key)}
    return replace(around, **earlier)


def _sound(line: Said, run: str) -> bool:
    """Whether a reader will accept the line; what looks like a credential, for one, never leaves."""
    _, problems = line_problems(line.body.encode())
    if problems:
        log.warning("telemetry line left out", run=run, field=problems[0].pointer, expected=problems[0].expected)
        metrics.PUT_OFF.labels("invalid").inc()
    return not problems
