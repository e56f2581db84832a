"""Sends what the spool holds to one sink, in order, until the sink has it. One thread for each sink.

What a sink does not take is sent again, the same batch with the same ids, after a pause that grows; what it will never
take is halved until the one line is found, which is set aside.
"""

import random
import threading
import time
from collections.abc import Callable

import structlog

from . import metrics
from .sinks import Sink, SinkError, SinkRefusal
from .spool import Batch, Spool, SpoolError

log = structlog.get_logger(__name__)
MOST_LINES, MOST_BYTES = 500, 1024 * 1024
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
IDLE_SECONDS = 5.0


class Delivery:
    """wait: sleeps for so many seconds, or less where woken; a test gives its own. most_lines: of one batch."""

    def __init__(
        self, spool: Spool, sink: Sink, *, wait: Callable[[float], object] | None = None, most_lines: int = MOST_LINES
    ) -> None:
        self._spool, self._sink, self._most = spool, sink, most_lines
        self._now_most, self._failures, self._said = most_lines, 0, ""
        self._woken, self._stop = threading.Event(), threading.Event()
        self._wait = wait or self._sleep
        self._thread = threading.Thread(target=self._run, name=f"telemetry-{sink.name}", daemon=True)

    def start(self) -> None:
        """Returns at once."""
        self._thread.start()

    def wake(self) -> None:
        """There is something new; a pause after a failure is not cut short."""
        if not self._failures:
            self._woken.set()

    def stop(self, until: float) -> None:
        """Sends what is there while the sink takes it, until a point of the monotonic clock; the rest stays on disk."""
        self._stop.set()
        self._woken.set()
        self._thread.join(max(0.0, until - time.monotonic()))

    def _run(self) -> None:
        while True:
            pause = self.once()
            if self._stop.is_set() and pause > 0:
                return
            if pause > 0:
                self._wait(pause)

    def _sleep(self, seconds: float) -> None:
        self._woken.wait(seconds)
        self._woken.clear()

    def once(self) -> float:
        """Sends one batch; how long to wait before the next one. Never raises."""
        try:
            batch = self._spool.batch(self._sink.name, self._now_most, MOST_BYTES)
            pause = self._send(batch) if batch else IDLE_SECONDS
            depth = self._spool.depth(self._sink.name)
            metrics.WAITING.labels(self._sink.name).set(depth.lines)
            metrics.OLDEST.labels(self._sink.name).set(depth.age)
        except SpoolError as error:
            return self._failed(str(error), None)
        return pause

    def _send(self, batch: Batch) -> float:
        try:
            self._sink.send(batch)
        except SinkRefusal as error:
            return self._refused(batch, str(error))
        except SinkError as error:
            metrics.FAILURES.labels(self._sink.name).inc()
            return self._failed(str(error), error.retry_after)
        except Exception as error:  # a fault of a sink's own never ends the sending
            metrics.FAILURES.labels(self._sink.name).inc()
            log.exception("telemetry sink failed", sink=self._sink.name)
            return self._failed(type(error).__name__, None)
        self._spool.done(self._sink.name, batch)
        metrics.SENT.labels(self._sink.name).inc(len(batch.lines))
        if self._failures:
            log.info("telemetry sink takes lines again", sink=self._sink.name)
        self._failures, self._said = 0, ""
        self._now_most = min(self._most, self._now_most * 2)
        return 0.0

    def _refused(self, batch: Batch, why: str) -> float:
        """Halves; a single line is set aside, since nothing behind it could ever be sent."""
        if len(batch.lines) > 1:
            self._now_most = len(batch.lines) // 2
            self._spool.smaller(self._sink.name)
            return 0.0
        self._spool.done(self._sink.name, batch, refused=why)
        metrics.REFUSED.labels(self._sink.name).inc()
        log.error("telemetry line set aside", sink=self._sink.name, why=why, table=batch.table, line=batch.first)
        return 0.0

    def _failed(self, why: str, retry_after: float | None) -> float:
        self._failures += 1
        growing = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(self._failures - 1, 10))
        pause = max(retry_after or 0.0, growing * random.uniform(0.5, 1.0))  # noqa: S311 - spreads load, hides nothing
        if why != self._said:  # once for each cause, not once for each try
            log.warning("telemetry waits", sink=self._sink.name, why=why, again_in=round(pause, 1))
            self._said = why
        return pause
