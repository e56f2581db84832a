"""The laws of the verdict, over generated cases: any changes of the example, in any combination, at any time."""

import os
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from checks.contract.reasons import BY_CODE, State
from checks.facts import Sealed, Verification, Verified
from checks.proof import Holds, first_fault, prove
from checks.verdict import BEGINNING, last_verdict, steps
from tests.contract.example import MICROSECOND, NOW, SEALED_AT, at
from tests.verdict.world import CHANGES, RESULT, Case, Change, World

# Eight laws: a thousand cases in all in `make test`, more than 100,000 in `make test-deep`.
CASES = settings(max_examples=15_000 if os.environ.get("TAU_DEEP") == "1" else settings().max_examples)

_TURNS = [
    SEALED_AT,
    SEALED_AT + timedelta(days=1),
    at("2026-11-30T05:23:49Z"),
    at("2026-11-30T05:27:00Z"),
    at("2030-01-01T00:00:00Z"),
    NOW,
]
_OFFSETS = [timedelta(0), MICROSECOND, -MICROSECOND]
_OFFSETS += [sign * timedelta(seconds=60) + each for sign in (1, -1) for each in _OFFSETS]
times = st.one_of(
    st.builds(lambda turn, offset: turn + offset, st.sampled_from(_TURNS), st.sampled_from(_OFFSETS)),
    st.timedeltas(timedelta(hours=-6), timedelta(days=3)).map(lambda offset: SEALED_AT + offset),
)
change = st.sampled_from(CHANGES)
changes = st.lists(change, max_size=4, unique_by=lambda each: each.touches).map(tuple)
cases = st.tuples(changes, times).map(lambda pair: Case(*pair))  # prints as the names of its changes
fresh = st.timedeltas(timedelta(0), timedelta(days=1)).map(lambda offset: SEALED_AT + offset)


def is_passed(world: World, now: datetime | None = None) -> bool:
    return world.verdict(now).state is State.PASSED


@CASES
@given(cases)
def test_every_case_has_a_verdict_in_words(case: Case) -> None:
    verdict = case.world().verdict()
    assert verdict.state in State and verdict.message
    assert verdict.reason in BY_CODE or verdict.state in (State.FAILED, State.UNKNOWN)
    assert 0 <= verdict.severity <= 5
    assert (verdict.severity == 5) == (verdict.state is State.PASSED)
    assert case.world().verdict() == verdict


@CASES
@given(cases)
def test_passed_is_that_every_clause_of_the_proof_holds(case: Case) -> None:
    verdict = case.world().verdict()
    clauses = prove(verdict)
    assert (verdict.state is State.PASSED) == all(clause.holds is Holds.YES for clause in clauses)
    fault = first_fault(clauses, verdict)
    if verdict.state is not State.PASSED:
        assert fault is not None and fault.holds is Holds.NO and fault.detail == verdict.message
        before = clauses[: clauses.index(fault)]
        assert verdict.state is State.FAILED or all(clause.holds is not Holds.NO for clause in before)


@CASES
@given(changes, change.filter(lambda each: each.harm), fresh)
def test_no_harm_is_outweighed(others: tuple[Change, ...], harm: Change, now: datetime) -> None:
    kept = [each for each in others if each.touches.split()[0] != harm.touches.split()[0]]
    assert not is_passed(Case((*kept, harm), now).world())
    assert not is_passed(Case((harm, *kept), now).world())


@CASES
@given(st.lists(change.filter(lambda each: not each.harm), max_size=4, unique_by=lambda each: each.touches), fresh)
def test_harmless_changes_leave_it_passed_while_it_is_fresh(harmless: list[Change], now: datetime) -> None:
    assert is_passed(Case(tuple(harmless), now).world())


@CASES
@given(cases, times)
def test_steps_are_the_verdict_at_every_instant(case: Case, moment: datetime) -> None:
    world = case.world()
    found = steps(world.registration, world.run, world.result, world.inventory, world.source)
    assert found[0].since == BEGINNING and found[-1].until is None
    for step, after in pairwise(found):
        assert step.until == after.since and (step.state, step.reason) != (after.state, after.reason)
    around = {step.since + offset for step in found[1:] for offset in _OFFSETS[:3]}
    for now in {moment, BEGINNING, *around}:
        verdict = world.verdict(now)
        (step,) = [each for each in found if each.since <= now and (each.until is None or now < each.until)]
        assert (step.state, step.reason) == (verdict.state, verdict.reason), now


@CASES
@given(cases)
def test_once_no_longer_passed_it_never_is_again(case: Case) -> None:
    world = case.world()
    world.source = replace(world.source, unbroken=True)  # the cluster stays in sight
    found = steps(world.registration, world.run, world.result, world.inventory, world.source)
    passed = [number for number, step in enumerate(found) if step.state is State.PASSED]
    assert len(passed) <= 1
    for number in passed:
        *between, last = found[number + 1 :]
        assert (last.state, last.reason, last.until) == (State.STALE, "expired", None)
        assert all(step.reason == "evidence_unverified" for step in between)  # nobody read the evidence again


def _without_evidence(world: World) -> None:
    if world.result is not None:
        world.result = replace(
            world.result, evidence={name: Verified(Verification.MISSING) for name in world.result.evidence}
        )


def _without_result(world: World) -> None:
    if world.result is not None:
        world.result = replace(world.result, gone=True)


DELETIONS: dict[str, Callable[[World], None]] = {
    "evidence": _without_evidence,
    "result": _without_result,
    "nodes": lambda world: world.nodes.clear(),
    "registration": lambda world: setattr(world, "registration", None),
    "result, unseen": lambda world: setattr(world, "result", None),
    "run, unseen": lambda world: setattr(world, "run", None),
}


@CASES
@given(cases, st.sampled_from(sorted(DELETIONS)))
def test_deleting_never_improves(case: Case, what: str) -> None:
    before, world = case.world().verdict(), case.world()
    DELETIONS[what](world)
    after = world.verdict()
    assert after.state is not State.PASSED or before.state is State.PASSED
    if (
        before.last
        and before.last.state is State.FAILED
        and "unseen" not in what
        and before.case.registration is not None
    ):
        assert after.last and after.last.state is State.FAILED
        assert after.severity <= 1


def _older(world: World) -> Sealed | None:
    """The run and the result of a world, as those of an earlier run."""
    if world.result is None:
        return None
    run = world.run
    if run is not None and run.status is not None and run.status.result_ref is not None:
        reference = run.status.result_ref.model_copy(
            update={"uid": "earlier" if run.status.result_ref.uid == RESULT.uid else "?"}
        )
        run = replace(run, status=run.status.model_copy(update={"result_ref": reference}))
    return Sealed(run, replace(world.result, uid="earlier"))


@CASES
@given(cases, cases)
def test_an_older_failure_stays_beside_the_state_until_one_passed(newer: Case, older: Case) -> None:
    verdict, earlier = newer.world().verdict(), _older(older.world())
    if earlier is None:
        return
    alone = last_verdict(replace(verdict.case, run=earlier.run, result=earlier.result), ())
    both = last_verdict(verdict.case, (earlier,))
    if verdict.last and verdict.last.state in (State.PASSED, State.FAILED):
        assert both == verdict.last
    elif alone and alone.state is State.FAILED:
        assert both == alone
    else:
        assert both == (verdict.last or alone)
