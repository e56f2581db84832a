"""One kind of one cluster, listed and then watched for ever, as messages on a queue.

Nothing is decided here: pages, changes, signs of life and faults go to the writer in the order in which they happened,
so that a sign of life is only believed after everything before it was written.
"""

import random
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from queue import Full, Queue
from typing import Protocol

from ..cluster.client import Event, Object, Page, path_of
from ..cluster.errors import ClusterError, Expired, Forbidden, NotServed
from .kinds import Kind

WATCH_SECONDS, ALIVE_SECONDS = 45, 0.5
FIRST_PAUSE, LONGEST_PAUSE, REFUSED_PAUSE = 0.5, 30.0, 30.0


@dataclass(frozen=True, slots=True)
class ListStarted:
    """A new list of a kind begins; what it will not hold is gone."""

    kind: str


@dataclass(frozen=True, slots=True)
class Listed:
    """A page of that list; the last one carries the list's resourceVersion."""

    kind: str
    items: list[Object]
    is_last: bool
    at: datetime


@dataclass(frozen=True, slots=True)
class Changed:
    """One object was added, modified or deleted."""

    kind: str
    type: str
    object: Object


@dataclass(frozen=True, slots=True)
class Alive:
    """The watch of a kind was known to be alive."""

    kind: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Faulty:
    """A kind cannot be read at the moment; why, as a sentence."""

    kind: str
    why: str


Message = ListStarted | Listed | Changed | Alive | Faulty


class Inbox(Queue[Message]):
    """What waits for the writer. Bounded by objects, not by messages, since a page holds hundreds: the memory of a
    sync does not depend on how much there is to list."""

    def _init(self, maxsize: int) -> None:
        super()._init(maxsize)
        self._objects = 0

    def _qsize(self) -> int:
        return self._objects

    def _put(self, item: Message) -> None:
        super()._put(item)
        self._objects += _weight(item)

    def _get(self) -> Message:
        item: Message = super()._get()
        self._objects -= _weight(item)
        return item


def _weight(message: Message) -> int:
    return max(1, len(message.items)) if isinstance(message, Listed) else 1


class Readable(Protocol):
    """What a feed needs of a cluster."""

    def list(self, path: str, limit: int = 500) -> Iterator[Page]:
        """Pages of a list."""

    def watch(self, path: str, resource_version: str, seconds: int) -> Iterator[Event]:
        """Events after a resourceVersion."""


class _Stopping(Exception):
    """The process ends; nothing more is read."""


class Feed(threading.Thread):
    """Lists, watches, waits after a fault, and begins again, until `stop` is set."""

    def __init__(self, api: Readable, kind: Kind, queue: "Queue[Message]", stop: threading.Event) -> None:
        super().__init__(name=f"feed-{kind.plural}", daemon=True)
        self.api, self.kind, self.queue, self.stopping = api, kind, queue, stop
        self.path = path_of(kind.group, kind.version, kind.plural)
        self.version = ""  # of the newest that was read; "" where only a new list helps
        self.pause = FIRST_PAUSE

    def run(self) -> None:
        """The thread's work. Every fault of the cluster is a message, never an end."""
        with suppress(_Stopping):
            self._read()

    def _read(self) -> None:
        while not self.stopping.is_set():
            try:
                if not self.version:
                    self._list()
                self._watch()
                self.pause = FIRST_PAUSE
            except Expired:
                self.version = ""
                self._wait(self.pause)
            except (Forbidden, NotServed) as error:
                self.version = ""
                self._put(Faulty(self.kind.name, str(error)))
                self._wait(REFUSED_PAUSE)
            except ClusterError as error:
                self._put(Faulty(self.kind.name, str(error)))
                self._wait(self.pause)

    def _wait(self, pause: float) -> None:
        """Longer after each fault, so that a server that is in trouble or always says 410 is not pressed."""
        self.stopping.wait(pause * random.uniform(0.7, 1.3))  # noqa: S311  (spreads load, hides nothing)
        self.pause = min(self.pause * 2, LONGEST_PAUSE)

    def _list(self) -> None:
        """Lists everything; a list that breaks off leaves no version to go on from."""
        self._put(ListStarted(self.kind.name))
        for page in self.api.list(self.path):
            self._put(Listed(self.kind.name, page.items, page.is_last, datetime.now(UTC)))
            if page.is_last:
                self.version = page.resource_version

    def _watch(self) -> None:
        """Watches until the server ends it. A watch that breaks off goes on after the last event that came."""
        said_at = 0.0
        for event in self.api.watch(self.path, self.version, WATCH_SECONDS):
            self.version = str((event.object.get("metadata") or {}).get("resourceVersion") or self.version)
            if event.type in ("ADDED", "MODIFIED", "DELETED"):
                self._put(Changed(self.kind.name, event.type, event.object))
            if event.type != "CONNECTED":
                self.pause = FIRST_PAUSE
            if time.monotonic() - said_at > ALIVE_SECONDS:
                self._put(Alive(self.kind.name, datetime.now(UTC)))
                said_at = time.monotonic()
        self._put(Alive(self.kind.name, datetime.now(UTC)))

    def _put(self, message: Message) -> None:
        """Waits while the writer is behind: memory stays bounded and the API server is read more slowly."""
        while not self.stopping.is_set():
            try:
                return self.queue.put(message, timeout=0.5)
            except Full:
                time.sleep(0)
        raise _Stopping
