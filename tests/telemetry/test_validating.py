"""The validator: what is right passes, and each kind of wrong is found, with its line and its column."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from checks.telemetry.__main__ import main
from checks.telemetry.lifecycle import observation_id
from checks.telemetry.metric import event_id
from checks.telemetry.numbers import events
from checks.telemetry.runs import ending, rows
from checks.telemetry.validating import line_problems, stream_problems
from tests.contract.example import NOW, SEALED_AT
from tests.telemetry.things import around, run_in

Object = dict[str, Any]


def lines() -> list[bytes]:
    """A whole run: five rows, then its events."""
    run, beside = run_in("Sealed"), around()
    ended = ending(run, beside)
    assert ended is not None
    told = rows(run, beside, SEALED_AT + timedelta(seconds=1))
    return [line.ndjson().encode() for line in (*told, *events(run, beside, ended, NOW))]


ROW, EVENT = (json.loads(line) for line in (lines()[4], lines()[5]))


def written(line: Object, /, **changes: Any) -> bytes:
    """A line with some columns changed; ... removes one."""
    return json.dumps({key: value for key, value in (line | changes).items() if value is not ...}).encode()


def signed(line: Object, /, **changes: Any) -> bytes:
    """The same, with the id that its columns give."""
    changed = line | changes
    if "event_id" in changed:
        return written(changed, event_id=event_id(changed))
    identity = observation_id(*(changed[key] for key in ("durable_id", "state", "observed_at")))
    return written(changed, observation_id=identity)


def test_a_whole_run_has_no_problem() -> None:
    assert [*stream_problems(lines(), once=True)] == []


@pytest.mark.parametrize(
    ("line", "pointer"),
    [
        (b"", ""),
        (b"[]", ""),
        (b'{"state":"running","state":"failed"}', "/state"),
        (written(ROW, state=...), "/state"),
        (written(ROW, code=1), "/code"),
        (written(ROW, state="finished"), "/state"),
        (written(ROW, observed_at="2026-11-30T05:12:00+01:00"), "/observed_at"),
        (written(ROW, observation_id="0" * 64), "/observation_id"),
        (written(ROW, cluster="east-1"), "/durable_id"),
        (written(ROW, message="password=correct-horse-battery"), "/message"),
        (written(ROW, image="x" * 5000), "/image"),
        (written(ROW, checkpoint_uri="file:///x"), "/checkpoint_uri"),
        (written(EVENT, schema_version="tau.experiment.metric.v2"), "/schema_version"),
        (written(EVENT, value=...), "/value"),
        (written(EVENT, value="1"), "/value"),
        (json.dumps(EVENT | {"value": float("nan")}).encode(), "/value"),
        (written(EVENT, metric_name="tau/other"), "/event_id"),
        (written(EVENT, wall_time="2026-11-30T05:12:01Z"), "/event_id"),
        (signed(EVENT, metric_name="status"), "/metric_name"),
        (signed(EVENT, step=-1), "/step"),
        (signed(EVENT, tags={"value": "2"}), "/tags"),
        (signed(EVENT, tags={"check": 3}), "/tags/check"),
    ],
)
def test_a_line_that_is_wrong_is_found(line: bytes, pointer: str) -> None:
    read, problems = line_problems(line)
    assert read is None
    assert pointer in [problem.pointer for problem in problems]


@pytest.mark.parametrize(
    ("more", "pointer"),
    [
        ([signed(ROW, state="running", observed_at="2026-11-30T06:00:00.000000Z")], "/state"),
        ([signed(ROW, state="failed", reason="transport_failure")], "/observation_id"),
        ([written(EVENT, value=-1.0)], "/event_id"),
    ],
)
def test_what_contradicts_an_earlier_line_is_found(more: list[bytes], pointer: str) -> None:
    found = [*stream_problems([*lines(), *more])]
    assert [(number, problem.pointer) for number, problem in found] == [(len(lines()) + 1, pointer)]


def test_an_end_that_is_not_the_last_is_found() -> None:
    early = signed(ROW, observed_at="2026-11-30T05:00:00.000000Z")
    assert [problem.pointer for _, problem in stream_problems([*lines()[:4], early])] == ["/observed_at"]


def test_a_batch_that_came_twice_is_no_fault_unless_it_is_asked_for() -> None:
    twice = [*lines(), *lines()]
    assert [*stream_problems(twice)] == []
    assert [number for number, _ in stream_problems(twice, once=True)] == [*range(len(lines()) + 1, len(twice) + 1)]


def test_a_problem_never_repeats_what_was_there() -> None:
    secret = "password=correct-horse-battery"
    for line in (written(ROW, message=secret), written(EVENT, unit=secret), written(ROW, observation_id=secret)):
        assert "horse" not in "".join(map(str, line_problems(line)[1]))


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_whatever_it_is_given_it_answers(data: bytes) -> None:
    assert line_problems(data)[0] is None


def test_the_command(tmp_path: Path) -> None:
    good, bad = tmp_path / "good", tmp_path / "bad"
    good.write_bytes(b"\n".join(lines()) + b"\n")
    bad.write_bytes(lines()[0] + b"\n" + written(ROW, state="finished") + b"\n")
    assert CliRunner().invoke(main, [str(good), "--once"]).exit_code == 0
    done = CliRunner().invoke(main, [str(good), str(bad)])
    assert done.exit_code == 65
    assert done.output.startswith(f"{bad}:2: /state: found a string, expected one of")
