"""The verdict: when is green allowed? One table, first row that finds something wins, the clock is an argument.

`evaluate` is total and pure. `steps` is the same verdict as a function of time, for counting in SQL by the reader's
clock. The rows themselves are in `checks/rules.py`, the proof in words in `checks/proof.py`.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from . import rules
from .contract.reasons import Reason, State, sentence, severity
from .facts import SKEW, Inventory, Registration, Result, Run, Sealed, Source
from .identity import identity_agrees
from .rules import Case, Finding

Rule = Callable[[Case], Finding | None]

# Row of the table, the function that judges it.
TABLE: tuple[tuple[int, Rule], ...] = (
    (1, rules.source_was_seen),
    (2, rules.is_registered),
    (3, rules.is_approved),
    (4, rules.no_run_is_active),
    (5, rules.no_run_is_lost),
    (6, rules.has_run),
    (7, rules.result_is_there),
    (8, rules.is_as_sealed),
    (9, rules.is_supported),
    (10, rules.publisher_is_the_registered_one),
    (11, identity_agrees),
    (12, rules.clock_is_sound),
    (13, rules.outcome_is_what_it_saw),
    (14, rules.targets_are_the_same),
    (15, rules.is_fresh),
    (16, rules.nothing_was_left),
    (17, rules.did_not_fail),
    (18, rules.cleanup_was_seen),
    (19, rules.all_targets_were_tested),
    (20, rules.evidence_was_verified),
    (21, rules.outcome_is_passed),
    (22, rules.is_still_there),
)
_RULES = tuple(rule for _, rule in TABLE)
# What a sealed result says by itself: without the cluster's health, a newer run, its age or its nodes' later fate.
_SEALED_ROWS = (8, 9, 10, 11, 12, 13, 16, 17, 18, 19, 20, 21)
_SEALED = tuple(
    rules.evidence_was_read if row == 20 else rule for row, rule in TABLE if row in _SEALED_ROWS
)  # how long ago that was is not the result's word
# What of that can be said where the registration is gone: only that it failed.
_ALONE = tuple(rule for row, rule in TABLE if row in (8, 13, 16, 17))


@dataclass(frozen=True, slots=True)
class LastVerdict:
    """What the last sealed result said, whatever has happened since."""

    state: State
    reason: str
    message: str
    observed_at: datetime | None
    run_uid: str


@dataclass(slots=True)
class Verdict:
    """A state with its reason and sentence, the case it was made from, and what the last sealed result said."""

    state: State
    reason: str
    message: str
    case: Case
    history: tuple[Sealed, ...] = ()

    @property
    def last(self) -> LastVerdict | None:
        """The last sealed verdict, None where nothing was ever sealed."""
        return last_verdict(self.case, self.history)

    @property
    def severity(self) -> int:
        """0 is worst, 5 is Passed: the order of every summary."""
        last = self.last
        return severity(self.state, last.state if last else None)


def evaluate(
    registration: Registration | None,
    run: Run | None,
    result: Result | None,
    inventory: Inventory,
    source: Source,
    now: datetime,
    history: tuple[Sealed, ...] = (),
) -> Verdict:
    """The verdict at `now` (aware, UTC). run: the newest one. result: that run's. history: older sealed runs, newest
    first, only for `last`. The first row that finds something wins; if none does, it is Passed."""
    case = Case(registration, run, result, inventory, source, now)
    for rule in _RULES:
        found = rule(case)
        if found is not None:
            return Verdict(found.state, found.reason, found.message, case, history)
    said = rules.envelope_of(case).message
    return Verdict(State.PASSED, Reason.PROVED, said or Reason.PROVED.sentence, case, history)


def _first(rows: tuple[Rule, ...], case: Case) -> Finding | None:
    return next((found for rule in rows if (found := rule(case)) is not None), None)


def sealed_verdict(case: Case) -> LastVerdict | None:
    """What the case's result says by itself; None without a result or a registration that can be read."""
    result, reg = case.result, case.registration
    if result is None or (case.run is not None and case.run.problems):
        return None
    observed = result.envelope.observed_at if result.envelope else result.created_at
    uid = case.run.uid if case.run else result.envelope.run.uid if result.envelope else ""
    if reg is None or reg.spec is None:
        alone = _first(_ALONE, case) if result.envelope else None
        if alone is None or alone.state is not State.FAILED:
            alone = Finding(State.UNKNOWN, Reason.NOT_REGISTERED, sentence(Reason.NOT_REGISTERED))
        return LastVerdict(*alone, observed, uid)
    if found := _first(_SEALED, case):
        return LastVerdict(*found, observed, uid)
    said = rules.envelope_of(case).message
    return LastVerdict(State.PASSED, Reason.PROVED, said or Reason.PROVED.sentence, observed, uid)


def last_verdict(case: Case, history: tuple[Sealed, ...]) -> LastVerdict | None:
    """The newest sealed verdict; but an older Failed stays until a newer result Passed: Unknown clears nothing."""
    found = last_sealed(case, history)
    return found[0] if found else None


def last_sealed(case: Case, history: tuple[Sealed, ...]) -> tuple[LastVerdict, Sealed] | None:
    """The last sealed verdict, with the run and result that gave it."""
    newest: tuple[LastVerdict, Sealed] | None = None
    for run, result in _sealed_runs(case, history):
        said = sealed_verdict(replace(case, run=run, result=result))
        if said is None:
            continue
        pair = (said, Sealed(run, result))
        newest = newest or pair
        if said.state is State.FAILED:
            return pair
        if said.state is State.PASSED:
            break
    return newest


def _sealed_runs(case: Case, history: tuple[Sealed, ...]) -> Iterator[tuple[Run | None, Result]]:
    if case.result is not None:
        yield case.run, case.result
    for sealed in history:
        if case.result is None or sealed.result.uid != case.result.uid:
            yield sealed.run, sealed.result


@dataclass(frozen=True, slots=True)
class Step:
    """One stretch of time with one verdict: `since` <= now < `until` (None: for ever)."""

    since: datetime
    until: datetime | None
    state: State
    reason: str


BEGINNING = datetime.min.replace(tzinfo=UTC)
_TICK = timedelta(microseconds=1)


def steps(
    registration: Registration | None,
    run: Run | None,
    result: Result | None,
    inventory: Inventory,
    source: Source,
) -> list[Step]:
    """The verdict at every instant, as steps without a gap from the beginning of time. Equal to `evaluate` at each
    microsecond, since only the instants of `_turns` can change it."""
    case = Case(registration, run, result, inventory, source, BEGINNING)
    found: list[Step] = []
    for at in sorted({BEGINNING, *_turns(case)}):
        verdict = evaluate(registration, run, result, inventory, source, at)
        if found and (found[-1].state, found[-1].reason) == (verdict.state, verdict.reason):
            continue
        if found:
            found[-1] = replace(found[-1], until=at)
        found.append(Step(at, None, verdict.state, verdict.reason))
    return found


def _turns(case: Case) -> Iterator[datetime]:
    """The first instants at which a comparison with the clock can come out otherwise."""
    source, run, result = case.source, case.run, case.result
    if source.heartbeat_at is not None and not source.unbroken:
        yield from (_earlier(source.heartbeat_at, SKEW), source.heartbeat_at + source.heartbeat_limit + _TICK)
    if run is not None:
        yield rules.run_limit(run) + _TICK
    for _, at in rules.instants(case):
        yield _earlier(at, SKEW)
    if result is not None and result.envelope is not None and case.registration and case.registration.spec:
        until = rules.fresh_until(case)
        if until is not None:
            yield until + _TICK
        read = [each for _, each in rules.required_readings(case)]
        if ends := [each.until for each in read if each.until is not None]:
            yield min(ends) + _TICK  # the first that no longer counts is enough
        if begins := [each.at for each in read if each.at is not None]:
            yield _earlier(max(begins), SKEW)


def _earlier(at: datetime, by: timedelta) -> datetime:
    return at - by if at - BEGINNING > by else BEGINNING
