"""Which run and which result speak for a check now, and which came before. Pure; used by dumps and by the database.

The newest run speaks; a result that no run stands behind speaks too, where it is newer, so that deleting a run never
brings an older and better verdict back. `choose` needs only marks, which a database can keep in columns; `select` makes
them from whole facts.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Generic, TypeVar

from .contract.clock import parse_time
from .facts import Registration, Result, Run, Sealed

NOT_KNOWN = datetime.max.replace(tzinfo=UTC)  # newest: an object that hides its age lets no older one speak
R = TypeVar("R")
S = TypeVar("S")


@dataclass(slots=True)
class RunMark(Generic[R]):
    """What places a run (`of`). attempt: 0 where the spec cannot be read. points_at: the result its status names."""

    of: R
    name: str
    uid: str
    created_at: datetime | None
    attempt: int
    points_at: str = ""

    @property
    def order(self) -> tuple[datetime, int, str]:
        """Newest is greatest: by creation, then attempt, then name."""
        return self.created_at or NOT_KNOWN, self.attempt, self.name


@dataclass(slots=True)
class ResultMark(Generic[S]):
    """What places a result (`of`). claims: run UID and attempt, None where its envelope is not sound.

    at: when its run was created, as it says; else when itself was. conflict: see `mark_conflicts`.
    """

    of: S
    name: str
    uid: str
    at: datetime | None
    claims: tuple[str, int] | None
    digest: str
    conflict: bool = False

    @property
    def key(self) -> str:
        """What tells it apart from others of its check."""
        return self.uid or self.name

    @property
    def order(self) -> tuple[datetime, int, str]:
        """As of a run."""
        return self.at or NOT_KNOWN, self.claims[1] if self.claims else 0, self.name


@dataclass(frozen=True, slots=True)
class Choice(Generic[R, S]):
    """run, result: what speaks. history: sealed pairs, newest first, the speaking one among them."""

    run: RunMark[R] | None
    result: ResultMark[S] | None
    history: tuple[tuple[RunMark[R] | None, ResultMark[S]], ...] = ()


def choose(last_run_uid: str | None, runs: Iterable[RunMark[R]], results: Sequence[ResultMark[S]]) -> Choice[R, S]:
    """The newest run with its result, and the sealed ones before it. last_run_uid: the run that must be there."""
    ordered = sorted(runs, key=lambda run: run.order, reverse=True)
    note_conflicts(results)
    places = _Places(results)
    claimed: set[str] = set()
    pairs: list[tuple[tuple[datetime, int, str], RunMark[R] | None, ResultMark[S] | None]] = []
    for each in ordered:
        result = places.result_of(each)
        if result is not None:
            claimed.add(result.key)
        pairs.append((each.order, each, result))
    pairs += [(result.order, None, result) for result in results if result.key not in claimed]
    pairs.sort(key=lambda pair: pair[0], reverse=True)
    history = tuple((run, result) for _, run, result in pairs if result is not None)
    if last_run_uid is not None and all(run.uid != last_run_uid for run in ordered):
        return Choice(None, None, history)  # whatever is left is not the newest
    return Choice(*pairs[0][1:], history) if pairs else Choice(None, None)


class _Places(Generic[S]):
    """Results by what a run can find them by; the first one of each."""

    def __init__(self, results: Sequence[ResultMark[S]]) -> None:
        self.named: dict[str, ResultMark[S]] = {}
        self.claiming: dict[tuple[str, int], ResultMark[S]] = {}
        for result in results:
            self.named.setdefault(result.name, result)
            if result.claims is not None:
                self.claiming.setdefault(result.claims, result)

    def result_of(self, run: RunMark[R]) -> ResultMark[S] | None:
        """The one it points at, else the one with its name, else the one that claims it."""
        attempt = run.attempt or 1
        pointed = self.named.get(run.points_at) if run.points_at else None
        return pointed or self.named.get(f"{run.name}-{attempt}") or self.claiming.get((run.uid, attempt))


def note_conflicts(results: Iterable[ResultMark[S]]) -> None:
    """Marks every result for whose run and attempt another one has other bytes."""
    known = list(results)
    bytes_of: dict[tuple[str, int], set[str]] = {}
    for result in known:
        if result.claims is not None:
            bytes_of.setdefault(result.claims, set()).add(result.digest)
    for result in known:
        if result.claims is not None and len(bytes_of[result.claims]) > 1:
            result.conflict = True


@dataclass(frozen=True, slots=True)
class Selection:
    """run, result: what `evaluate` judges. history: older sealed runs, newest first."""

    run: Run | None
    result: Result | None
    history: tuple[Sealed, ...] = ()


def select(registration: Registration | None, runs: Iterable[Run], results: Iterable[Result]) -> Selection:
    """The newest run with its result, and the sealed ones before it, from everything known of one check."""
    named = registration.last_run_uid if registration else None
    chosen = choose(named, map(run_mark, runs), [result_mark(result) for result in results])
    facts = {id(mark): _marked(mark) for _, mark in chosen.history}
    history = tuple(Sealed(run.of if run else None, facts[id(mark)]) for run, mark in chosen.history)
    result = chosen.result
    return Selection(chosen.run.of if chosen.run else None, facts[id(result)] if result else None, history)


def run_mark(run: Run) -> RunMark[Run]:
    """The mark of a run's facts."""
    reference = run.status.result_ref if run.status else None
    attempt = run.spec.attempt if run.spec else 0
    return RunMark(run, run.name, run.uid, run.created_at, attempt, reference.name if reference else "")


def result_mark(result: Result) -> ResultMark[Result]:
    """The mark of a result's facts."""
    claimed = result.envelope.run if result.envelope else None
    at = claimed_at(result) or result.created_at
    claims = (claimed.uid, claimed.attempt) if claimed else None
    return ResultMark(result, result.name, result.uid, at, claims, result.digest, result.conflict)


def result_of(run: Run, results: Sequence[Result]) -> Result | None:
    """The result of a run among these."""
    found = _Places([result_mark(result) for result in results]).result_of(run_mark(run))
    return found.of if found else None


def claimed_at(result: Result) -> datetime | None:
    """When its run was created, as the envelope says."""
    return parse_time(result.envelope.times.created) if result.envelope else None


def _marked(mark: ResultMark[Result]) -> Result:
    return mark.of if mark.conflict == mark.of.conflict else replace(mark.of, conflict=mark.conflict)


def run_order(run: Run) -> tuple[datetime, int, str]:
    """Newest is greatest: by creation, then attempt, then name."""
    return run_mark(run).order
