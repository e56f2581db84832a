"""Answers given again for a moment: to the same viewer, with the same rights, for the same address, from the same data.

An answer is kept under all that it was made from, each cluster's health and revision included (a write that changes
what pages say changes the revision in its own transaction). It ends before the first instant at which it would read
otherwise: whoever uses the reader's clock says here until when it says the same. So nothing is ever shown longer than
it holds, to nobody else, and several processes need not know of each other.
"""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Min

from ..models import Check, Step
from ..scope import Scope
from .scoping import visible
from .sources import Sources

MOST_BYTES, LARGEST = 32 * 1024**2, 1024**2


@dataclass(frozen=True, slots=True)
class Answer:
    """A body as it is sent. etag: of what it says, "" where that is made from the body."""

    body: bytes
    etag: str = ""


@dataclass(slots=True)
class Horizon:
    """Until when an answer made at `now` reads the same."""

    now: datetime
    until: datetime

    def ends_at(self, instant: datetime | None) -> None:
        """It reads otherwise from this instant on (or may); what lies in the past has no say."""
        if instant is not None and self.now <= instant < self.until:
            self.until = instant


_horizon: ContextVar[Horizon | None] = ContextVar("horizon", default=None)


def horizon() -> Horizon | None:
    """That of the answer being made; None where it will not be kept."""
    return _horizon.get()


@contextmanager
def _noting(now: datetime, seconds: int) -> Iterator[Horizon]:
    made = Horizon(now, now + timedelta(seconds=seconds))
    token = _horizon.set(made)
    try:
        yield made
    finally:
        _horizon.reset(token)


def note_steps(scope: Scope, sources: Sources) -> None:
    """The next instant at which a verdict in the scope changes by the clock alone. A dump's clock stands still."""
    live, noted = [source.name for source in sources if not source.is_dump], horizon()
    if noted is None or not live:
        return
    checks = Check.objects.filter(visible(scope), cluster__in=live)
    steps = Step.objects.filter(subject__in=checks, until__gt=sources.now)
    noted.ends_at(steps.aggregate(at=Min("until"))["at"])


@dataclass
class Kept:
    """The answers of this process, those used last. Threads share it."""

    most: int = MOST_BYTES
    answers: OrderedDict[bytes, tuple[Answer, Horizon]] = field(default_factory=OrderedDict)
    size: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def get(self, key: bytes, now: datetime) -> Answer | None:
        """The answer, if it was made before `now` and reads the same then."""
        with self.lock:
            found = self.answers.get(key)
            if found is None or not found[1].now <= now < found[1].until:
                return None
            self.answers.move_to_end(key)
            return found[0]

    def put(self, key: bytes, answer: Answer, until: Horizon) -> None:
        """Keeps it, and drops what was not asked for longest until there is room."""
        if len(answer.body) > LARGEST or until.until <= until.now:
            return
        with self.lock:
            before = self.answers.pop(key, None)
            self.answers[key] = (answer, until)
            self.size += len(answer.body) - (len(before[0].body) if before else 0)
            while self.size > self.most:
                _, (oldest, _) = self.answers.popitem(last=False)
                self.size -= len(oldest.body)


KEPT = Kept()


def kept(
    scope: Scope,
    sources: Sources,
    address: str,
    make: Callable[[], Answer],
    *,
    shows_fleet: bool = False,
    shows_heartbeats: bool = False,
) -> Answer:
    """What `make` gives, or gave for the same question.

    shows_fleet: it tells of machines and queues. shows_heartbeats: it holds the instants of `seen_at`.
    """
    seconds: int = settings.ANSWERS_KEPT_SECONDS
    if not seconds:
        return make()
    key = _key(scope, sources, address, shows_fleet, shows_heartbeats)
    found = KEPT.get(key, sources.now)
    if found is None:
        with _noting(sources.now, seconds) as until:
            found = make()
        KEPT.put(key, found, until)
    return found


def _key(scope: Scope, sources: Sources, address: str, shows_fleet: bool, shows_heartbeats: bool) -> bytes:
    rights = (
        scope.viewer.username,
        scope.viewer.groups,
        sorted(scope.clusters),
        sorted(scope.namespaces),
        sorted(scope.fleet),
        scope.reviews,
        scope.problem,
    )
    health = [
        (
            source.name,
            source.revision,
            source.fleet_revision if shows_fleet else None,
            source.as_of if source.is_dump else None,
            source.seen_at if shows_heartbeats else None,
            source.problem,
            source.guard_in_force,
            source.guard_policy,
            source.guard_why,
        )
        for source in sources
    ]
    return hashlib.sha256(repr((address, rights, health)).encode("utf-8", "surrogatepass")).digest()
