"""Keys that wait to be looked at: each at most once at a time, some later, never two workers on one key."""

import heapq
import threading
import time
from typing import NamedTuple


class Key(NamedTuple):
    """One object of ours: kind, namespace, name."""

    kind: str
    namespace: str
    name: str


class WorkQueue:
    """Threads share it."""

    def __init__(self) -> None:
        self._due: dict[Key, float] = {}
        self._heap: list[tuple[float, Key]] = []
        self._busy: set[Key] = set()
        self._again: dict[Key, float] = {}
        self._failures: dict[Key, int] = {}
        self._changed = threading.Condition()
        self._closed = False

    def add(self, key: Key, seconds: float = 0) -> None:
        """To be looked at in so many seconds, or sooner where it waits already."""
        at = time.monotonic() + seconds
        with self._changed:
            if key in self._busy:
                self._again[key] = min(at, self._again.get(key, at))
            elif at < self._due.get(key, float("inf")):
                self._due[key] = at
                heapq.heappush(self._heap, (at, key))
                self._changed.notify()

    def add_after_failure(self, key: Key) -> float:
        """To be tried again, later with each failure; the seconds."""
        with self._changed:
            count = self._failures[key] = self._failures.get(key, 0) + 1
        seconds = min(60.0, 0.5 * 2.0 ** min(count - 1, 10))
        self.add(key, seconds)
        return seconds

    def succeeded(self, key: Key) -> None:
        """Forgets the failures of a key."""
        with self._changed:
            self._failures.pop(key, None)

    def take(self) -> Key | None:
        """The next key that is due, when it is; None once the queue is closed. `done` gives it back."""
        with self._changed:
            while not self._closed:
                now = time.monotonic()
                while self._heap and self._due.get(self._heap[0][1]) != self._heap[0][0]:
                    heapq.heappop(self._heap)
                if self._heap and self._heap[0][0] <= now:
                    _, key = heapq.heappop(self._heap)
                    del self._due[key]
                    self._busy.add(key)
                    return key
                self._changed.wait(self._heap[0][0] - now if self._heap else None)
            return None

    def done(self, key: Key) -> None:
        """The worker has finished with it."""
        with self._changed:
            self._busy.discard(key)
            again = self._again.pop(key, None)
        if again is not None:
            self.add(key, max(0.0, again - time.monotonic()))

    def close(self) -> None:
        """Nothing more is given out; workers end with what they are at."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def __len__(self) -> int:
        with self._changed:
            return len(self._due) + len(self._busy)
