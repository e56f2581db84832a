"""Numbers of a run as metric events: ids as TauGrid computes them, and only what people approved to be shown."""

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from checks.telemetry.metric import MetricEvent, event_id, metric_event
from checks.telemetry.numbers import events
from checks.telemetry.runs import ending
from checks.telemetry.validating import line_problems
from tests.contract.example import NOW, Example
from tests.telemetry.things import around, run_in

COLUMNS = {
    "workspace_id": "team-vision",
    "cluster": "west-1",
    "namespace": "team-vision",
    "source_store_id": "tau-validation-controller",
    "project": "tau-validation",
    "experiment_id": "ib-pair",
    "run_group_id": "schedule",
    "run_id": "7d0f3c9a51b2e84466aa91c0",
    "metric_name": "tau/run_status",
    "step": 1,
    "wall_time": "2026-11-30T05:12:00.120000Z",
    "value": 1.0,
    "unit": "",
    "source": "tau-validation-controller",
    "split": "",
    "tags": {},
    "exported_at": "2026-11-30T05:12:03Z",
}


def told(example: Example | None = None) -> dict[str, MetricEvent]:
    example = example or Example()
    run, beside = run_in("Sealed", example), around(example)
    ended = ending(run, beside)
    assert ended is not None
    return {event.metric_name: event for event in events(run, beside, ended, NOW)}


# Computed with Go 1.26, encoding/json and crypto/sha256, over a struct of these columns.
@pytest.mark.parametrize(
    ("changed", "wanted"),
    [
        ({}, "metric-ce6134892d4a57541816f5c4c5d377296fccada89fb1010daa34a8fc5a2fe846"),
        (
            {"cluster": 'w<&>\u2028é"1', "wall_time": "2026-11-30T05:12:00Z"},
            "metric-0ceedf14b29f573108823920a95770fd1070f671e58298db9921028f0bc32c68",
        ),
    ],
)
def test_ids_are_those_that_go_computes(changed: dict[str, Any], wanted: str) -> None:
    assert event_id(COLUMNS | changed) == wanted


def test_an_id_is_of_what_is_measured_not_of_its_value_its_tags_or_its_export() -> None:
    same = COLUMNS | {"value": 2.0, "tags": {"a": "b"}, "exported_at": "2027-01-01T00:00:00Z", "unit": "s"}
    assert metric_event(dict(same)).event_id == metric_event(dict(COLUMNS)).event_id
    for column in ("metric_name", "run_id", "step", "wall_time", "cluster"):
        other: dict[str, object] = {"metric_name": "tau/other", "run_id": "0" * 24, "step": 2, "cluster": "east"}
        assert event_id(COLUMNS | {column: other.get(column, "2026-11-30T05:12:01Z")}) != event_id(dict(COLUMNS))


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, True, "1", None])
def test_what_is_no_finite_number_is_no_event(value: object) -> None:
    with pytest.raises(ValidationError):
        metric_event(COLUMNS | {"value": value})
    written = json.dumps(json.loads(metric_event(dict(COLUMNS)).ndjson()) | {"value": value})
    assert line_problems(written.encode())[1] != []


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_finite_number_goes_there_and_back(value: float) -> None:
    read, problems = line_problems(metric_event(COLUMNS | {"value": value}).ndjson().encode())
    assert problems == []
    assert isinstance(read, MetricEvent) and read.value == value


@pytest.mark.parametrize(("outcome", "worth"), [("passed", 1), ("failed", -1), ("unknown", 0)])
def test_the_status_of_a_run_is_a_number(outcome: str, worth: int) -> None:
    example = Example()
    example.envelope["targets"]["observed"][0]["outcome"] = outcome
    example.envelope.update({"outcome": outcome, "reason": "some_reason"})
    example.seal()
    status = told(example)["tau/run_status"]
    assert status.value == worth
    assert status.tags["tau.status.reason"] == "some_reason"
    assert status.tags["tau.status.state"] == {"passed": "succeeded"}.get(outcome, "failed")


def test_what_the_controller_itself_measured() -> None:
    found = {name: (event.value, event.unit) for name, event in told().items() if name.startswith("validation/")}
    assert found == {
        "validation/queue_duration": (43.0, "s"),
        "validation/run_duration": (178.0, "s"),
        "validation/cleanup_complete": (1.0, ""),
        "validation/targets_requested": (2.0, ""),
        "validation/targets_passed": (2.0, ""),
    }


def test_measurements_that_the_approved_registration_shows() -> None:
    example = Example()
    hints = {hint["pointer"]: hint.get("unit", "") for hint in example.check["spec"]["display"]["summary"]}
    shown = {name: event for name, event in told().items() if name.startswith("details/")}
    assert shown
    assert {event.unit for event in shown.values()} <= set(hints.values())
    assert len(shown) <= len(hints)


def test_nothing_of_a_registration_that_has_changed_since() -> None:
    example = Example()
    example.check["spec"]["display"]["summary"][0]["unit"] = "apples"
    assert not [name for name in told(example) if name.startswith("details/")]


def test_words_of_a_workload_are_in_no_event() -> None:
    example = Example()
    for hint in example.check["spec"]["display"]["summary"]:
        key = hint["pointer"].split("/")[1]
        example.envelope["details"]["data"][key] = "see https://evil.example/"
    example.seal()
    assert "evil" not in "".join(event.ndjson() for event in told(example).values())


def test_every_event_is_what_the_validator_asks_for() -> None:
    for event in told().values():
        assert line_problems(event.ndjson().encode())[1] == []
