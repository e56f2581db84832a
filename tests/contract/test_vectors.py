"""Every published vector has the verdict it says; every row and every reason of the contract has a vector."""

import base64
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from checks.contract.clock import parse_time
from checks.contract.reasons import Reason
from checks.facts import Source
from checks.proof import CLAIMS, Holds, first_fault, prove
from checks.snapshot import Explained, Snapshot
from checks.verdict import BEGINNING, TABLE, evaluate, steps
from tests.contract.build_vectors import ALL
from tests.contract.example import MICROSECOND
from tests.contract.vector import CLAUSES, VECTORS, write

FILES = sorted(VECTORS.glob("*.json"))


def judged(vector: dict[str, Any], folder: Path) -> Explained:
    """The verdict of the check that a vector speaks of."""
    now = parse_time(vector["now"])
    assert now is not None
    kept = None
    if vector["evidence"] is not None:
        kept = folder
        for name, data in vector["evidence"].items():
            (folder / name).write_bytes(base64.b64decode(data))
    snapshot = Snapshot(vector["cluster"], now, True)
    for item in vector["objects"]:
        snapshot.add(item)
    seen = vector["source"]
    source = Source(vector["cluster"], seen["complete"], parse_time(seen["heartbeatAt"]), snapshot.guard())
    wanted = (vector["expect"]["namespace"], vector["expect"]["name"])
    (found,) = [each for each in snapshot.explain(now, kept, source) if (each.namespace, each.name) == wanted]
    return read_at(found, vector.get("verification"))


def read_at(found: Explained, verification: dict[str, str] | None) -> Explained:
    """The same, with evidence that was read at another time than now."""
    if verification is None:
        return found
    case = found.verdict.case
    assert case.result is not None
    at, until = parse_time(verification["at"]), parse_time(verification["countsUntil"])
    read = {name: replace(each, at=at, until=until) for name, each in case.result.evidence.items()}
    result = replace(case.result, evidence=read)
    verdict = evaluate(
        case.registration, case.run, result, case.inventory, case.source, case.now, found.verdict.history
    )
    return replace(found, verdict=verdict)


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_the_verdict_is_the_one_published(path: Path, tmp_path: Path) -> None:
    vector = json.loads(path.read_text())
    expect, verdict = vector["expect"], judged(vector, tmp_path).verdict
    assert (verdict.state, verdict.reason) == (expect["state"], expect["reason"]), verdict.message
    assert (verdict.last and verdict.last.state) == expect["lastVerdict"]
    clauses = prove(verdict)
    words = {"holds": Holds.YES, "doesNotHold": Holds.NO, "notKnown": Holds.NOT_KNOWN}
    for word, holds in words.items():
        assert [clause.key for clause in clauses if clause.holds is holds] == expect["proof"][word], word
    assert verdict.message
    fault = first_fault(clauses, verdict)
    assert (fault is None) == (verdict.state == "Passed")
    assert fault is None or fault.detail == verdict.message


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_the_steps_are_the_verdict_before_at_and_after_each_turn(path: Path, tmp_path: Path) -> None:
    case = judged(json.loads(path.read_text()), tmp_path).verdict.case
    facts = (case.registration, case.run, case.result, case.inventory, case.source)
    found = steps(*facts)
    assert found[0].since == BEGINNING and found[-1].until is None
    for step in found:
        around = (
            [step.since]
            if step.since == BEGINNING
            else [step.since - MICROSECOND, step.since, step.since + MICROSECOND]
        )
        for now in (case.now, *around):
            verdict = evaluate(*facts, now)
            (at,) = [each for each in found if each.since <= now and (each.until is None or now < each.until)]
            assert (at.state, at.reason) == (verdict.state, verdict.reason), now


def test_the_files_are_what_the_builder_writes(tmp_path: Path) -> None:
    write(ALL, tmp_path)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        path.name: path.read_text() for path in FILES
    }


def test_every_row_of_the_table_has_a_vector() -> None:
    assert {vector.row for vector in ALL} == {row for row, _ in TABLE}


def test_every_reason_has_a_vector() -> None:
    assert {reason.value for reason in Reason} <= {vector.reason for vector in ALL}


def test_every_clause_of_the_proof_fails_in_a_vector() -> None:
    assert tuple(claim.key for claim in CLAIMS) == tuple(CLAUSES)
    assert {key for vector in ALL for key in vector.fails} == set(CLAUSES) - {
        "kept"
    }  # a dump has nothing deleted in it
