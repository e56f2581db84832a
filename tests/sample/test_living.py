"""The check that can be watched: a minute from Pending to Passed, derived from the time alone."""

import json
import shutil
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from itertools import groupby
from pathlib import Path
from time import process_time
from typing import Any

import pytest

from checks.contract.clock import parse_time
from checks.contract.kinds import CHECK, RESULT, RUN
from checks.contract.reasons import State
from checks.dump import read_files
from checks.objects import check_name_of
from checks.sample import CLUSTERS, LIVING, SCENARIOS, advance
from checks.sample.living import ALIVE, CYCLE
from checks.snapshot import snapshots
from checks.verdict import Verdict

from .conftest import NOW, explain

TOUR = LIVING.cluster, LIVING.namespace, LIVING.name
# A second at which a run starts.
START = datetime.fromtimestamp((int(NOW.timestamp()) // 70 + 2) * 70, NOW.tzinfo)


@pytest.fixture
def folder(fleet: Path, tmp_path: Path) -> Path:
    """A sample of its own."""
    return Path(shutil.copytree(fleet, tmp_path / "fleet", symlinks=True))


def tour(folder: Path) -> Verdict:
    """The verdict of the living check, read from its dump without the other checks."""
    items = (item for item in read_files([folder / "west-1.json"]) if not _is_of_another_check(item.value or {}))
    (snapshot,) = snapshots(items, "", None)
    (found,) = snapshot.explain(snapshot.captured_at, folder / "evidence")
    assert (found.cluster, found.namespace, found.name) == TOUR
    return found.verdict


def _is_of_another_check(item: dict[str, Any]) -> bool:
    if item["kind"] not in (CHECK, RUN, RESULT):
        return False
    return (item["metadata"]["namespace"], check_name_of(item)) != (LIVING.namespace, LIVING.name)


def states(folder: Path, times: Iterable[datetime]) -> Iterator[tuple[State, str]]:
    for now in times:
        advance(folder, now)
        verdict = tour(folder)
        yield verdict.state, str(verdict.reason)


def test_a_run_goes_through_its_phases_in_order_and_ends_passed(folder: Path) -> None:
    seen = states(folder, (START + timedelta(seconds=second) for second in range(0, 70, 3)))
    assert [state for state, _ in groupby(seen)] == [
        (State.RUNNING, "pending"),
        (State.RUNNING, "queued"),
        (State.RUNNING, "admitted"),
        (State.RUNNING, "running"),
        (State.RUNNING, "collecting"),
        (State.RUNNING, "cleaning"),
        (State.PASSED, "proved"),
    ]


def test_the_next_run_starts_where_one_ended_and_remembers_it(folder: Path) -> None:
    advance(folder, START + CYCLE - timedelta(seconds=1))
    before = tour(folder)
    advance(folder, START + CYCLE + timedelta(seconds=1))
    after = tour(folder)
    assert (before.state, after.state) == (State.PASSED, State.RUNNING)
    assert before.case.run is not None and after.last is not None
    assert (after.last.state, after.last.run_uid) == (State.PASSED, before.case.run.uid)


def test_the_same_time_gives_the_same_bytes_whatever_was_shown_between(folder: Path) -> None:
    advance(folder, START + timedelta(seconds=30))
    first = (folder / "west-1.json").read_bytes()
    advance(folder, START + timedelta(seconds=33))
    assert (folder / "west-1.json").read_bytes() != first
    advance(folder, START + timedelta(seconds=30))
    assert (folder / "west-1.json").read_bytes() == first


def test_only_the_living_check_and_signs_of_life_change(folder: Path) -> None:
    before = set((folder / "west-1.json").read_bytes().splitlines())
    advance(folder, START + timedelta(seconds=30))
    lines = (folder / "west-1.json").read_bytes().splitlines()
    changed = [json.loads(line) for line in lines if line not in before]
    others = {
        (item["kind"], item["metadata"]["name"].rpartition("-")[0])
        for item in changed
        if item["kind"] not in ("TauDump", "Node")
        and item["metadata"].get("labels", {}).get("tau.azure.com/check") != "tour"
    }
    assert others == {("TauValidationRun", "gpu-soak"), ("TauValidationRun", "ib-pair-site-b")}
    assert len(changed) < len(lines) / 4


def test_fresh_signs_of_life_stay_fresh_and_old_ones_grow_older(folder: Path) -> None:
    later = NOW + timedelta(minutes=20)
    for minutes in range(5, 21, 5):
        advance(folder, NOW + timedelta(minutes=minutes))
    items = [json.loads(line) for line in (folder / "west-1.json").read_bytes().splitlines()]
    ages = {
        item["metadata"]["name"]: later - (parse_time(item["status"]["conditions"][1]["lastHeartbeatTime"]) or later)
        for item in items
        if item["kind"] == "Node"
    }
    assert ages["gpu-01"] < timedelta(minutes=2)
    assert ages["a100-03"] > timedelta(minutes=59)


def test_all_other_clusters_stay_in_sight(folder: Path) -> None:
    last = NOW
    for second in range(0, 181, 3):
        last = NOW + timedelta(seconds=second)
        advance(folder, last)
    for cluster in CLUSTERS:
        with (folder / f"{cluster}.json").open() as stream:
            captured = parse_time(json.loads(stream.readline())["capturedAt"])
        assert captured is not None
        assert last - captured < ALIVE + timedelta(seconds=15)


def test_the_rest_of_the_fleet_is_as_it_was_after_an_hour(folder: Path) -> None:
    for minutes in range(10, 61, 10):
        for step in range(len(CLUSTERS)):
            advance(folder, NOW + timedelta(minutes=minutes, seconds=step))
    found = explain(sorted(folder.glob("*.json")), folder / "evidence")
    verdicts = {place: (item.verdict.state, str(item.verdict.reason)) for place, item in found.items() if place != TOUR}
    assert verdicts == {(s.cluster, s.namespace, s.name): (s.state, s.reason) for s in SCENARIOS}


def test_a_step_takes_less_than_a_third_of_a_second(folder: Path) -> None:
    begin = process_time()
    for second in range(10):
        advance(folder, START + timedelta(seconds=2 * second))
    assert (process_time() - begin) / 10 < 0.3
