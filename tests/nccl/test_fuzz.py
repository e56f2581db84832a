"""The fuzzer itself: what it makes is various, and a judge that passes too much is found."""

import random

import pytest

from . import fuzz
from .recorded import PASSING, transport

EXAMPLES = 300


def inputs() -> list[bytes]:
    dice = random.Random(0)
    return [fuzz.mutate(dice.choice(PASSING).data, 1 << 20, dice.getrandbits(48)) for _ in range(EXAMPLES)]


def check_all() -> None:
    for data in inputs():
        fuzz.check(data)


def test_changed_logs_pass_only_with_their_proof() -> None:
    assert len(set(inputs())) > EXAMPLES * 0.9
    check_all()


def test_a_change_is_the_same_for_the_same_number() -> None:
    assert inputs() == inputs()


@pytest.mark.parametrize("forgotten", ["check_channels", "check_processes"])
def test_a_judge_that_forgets_a_step_is_found(forgotten: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = getattr(transport, forgotten)

    def forget(evidence: object, *rest: object) -> object:
        """The step is taken, and what it doubts is dropped."""
        doubts = dict(evidence.doubts)  # type: ignore[attr-defined]
        answer = found(evidence, *rest)
        evidence.doubts.clear()  # type: ignore[attr-defined]
        evidence.doubts.update(doubts)  # type: ignore[attr-defined]
        return answer

    monkeypatch.setattr(transport, forgotten, forget)
    with pytest.raises(fuzz.Finding):
        check_all()
