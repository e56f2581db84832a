"""The recorder: shown every version of every run, told once, and in nobody's way."""

import json
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from checks.telemetry.recorder import Recorder, Unavailable
from checks.telemetry.runs import Around
from checks.telemetry.sinks import File
from checks.telemetry.spool import Spool, SpoolError, SpoolFull
from checks.telemetry.validating import Stream
from tests.contract.example import SEALED_AT
from tests.telemetry.things import PHASES, around, run_in

Object = dict[str, Any]
SOON = SEALED_AT + timedelta(seconds=1)


def surroundings(run: Object) -> Around:
    return around(sealed=run["status"]["phase"] == "Sealed")


class Told:
    """A recorder that writes to a file, and what the file holds once it has ended."""

    def __init__(self, folder: Path, look: Callable[[Object], Around] = surroundings, spool: str = "spool") -> None:
        self.file = folder / "lines.ndjson"
        self._folder, self._look, self._name = folder, look, spool

    def __call__(self, *shown: Object, gone: Object | None = None) -> list[str]:
        """Shows these versions, ends, and gives the states and metrics that were told this time."""
        before = len(self.lines)
        recorder = self.recorder()
        recorder.start()
        for run in shown:
            recorder.show(run)
        if gone is not None:
            recorder.show(gone, gone=True)
        recorder.stop(60)
        return [word(line) for line in self.lines[before:]]

    def recorder(self) -> Recorder:
        return Recorder(
            lambda: Spool(self._folder / self._name, ["file"], 2**22), [File(str(self.file))], self._look, lambda: SOON
        )

    @property
    def lines(self) -> list[bytes]:
        return self.file.read_bytes().splitlines() if self.file.exists() else []


def word(line: bytes) -> str:
    value = json.loads(line)
    return str(value.get("metric_name") or value["state"])


STATES = ["submitted", "queued", "admitted", "running", "succeeded"]


def test_a_run_is_told_once_however_often_it_is_shown(tmp_path: Path) -> None:
    told = Told(tmp_path)
    seen = told(*[run_in(phase) for phase in PHASES for _ in range(3)])
    assert seen[:5] == STATES
    assert seen[5] == "tau/run_status" and len(seen) > 10
    assert told(run_in("Sealed"), run_in("Running")) == []  # the controller was started again
    assert told(gone=run_in("Sealed")) == []
    stream = Stream(once=True)
    assert [problem for line in told.lines for problem in stream.take(line)] == []


@pytest.mark.parametrize("crash", range(1, len(PHASES)))
def test_a_controller_that_ends_anywhere_goes_on_without_a_gap(tmp_path: Path, crash: int) -> None:
    told = Told(tmp_path)
    told(*[run_in(phase) for phase in PHASES[:crash]])
    told(*[run_in(phase) for phase in PHASES[crash:]])
    assert [word(line) for line in told.lines if b'"state"' in line][:5] == STATES
    stream = Stream(once=True)
    assert [problem for line in told.lines for problem in stream.take(line)] == []


def test_a_lost_spool_tells_again_under_the_same_ids(tmp_path: Path) -> None:
    told = Told(tmp_path)
    told(*map(run_in, PHASES))
    again = Told(tmp_path, spool="another")
    assert again(run_in("Sealed"))[:5] == STATES
    stream = Stream()  # ids may come again, but for nothing else, and nothing new follows the end
    assert [problem for line in told.lines for problem in stream.take(line)] == []
    assert len(stream.rows) == 10 and len({row.observation_id for row in stream.rows}) == 5


def test_what_was_known_of_the_queue_is_kept_after_the_workload_is_gone(tmp_path: Path) -> None:
    def look(run: Object) -> Around:
        found = surroundings(run)
        return found if run["status"]["phase"] != "Sealed" else Around("west-1", result=found.result)

    told = Told(tmp_path, look)
    told(run_in("Running"))
    told(run_in("Sealed"))
    end = json.loads(next(line for line in told.lines if b'"state":"succeeded"' in line))
    assert (end["cluster_queue"], end["local_queue"], end["workspace_id"]) == (
        "team-vision-gpus",
        "jobqueue",
        "team-vision",
    )


def test_a_run_that_is_deleted_before_its_end(tmp_path: Path) -> None:
    told = Told(tmp_path)
    assert told(run_in("Running"), gone=run_in("Running"))[:5] == [*STATES[:4], "cancelled"]


def test_showing_never_waits_for_anything(tmp_path: Path) -> None:
    """The look-up hangs until the end; more versions than anybody queues are shown meanwhile."""
    held = threading.Event()

    def look(run: Object) -> Around:
        held.wait()
        return surroundings(run)

    recorder = Told(tmp_path, look).recorder()
    recorder.start()
    run = run_in("Sealed")
    for _ in range(20_000):
        recorder.show(run)
    held.set()
    recorder.stop(60)
    assert b"succeeded" in (tmp_path / "lines.ndjson").read_bytes()


@pytest.mark.parametrize(
    ("fault", "why"),
    [(SpoolFull("full"), "full"), (SpoolError("no disk"), "no disk"), (Unavailable("no API server"), "no API server")],
)
def test_what_cannot_be_taken_down_now_is_taken_down_later(
    fault: Exception, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = True

    class Shaky(Spool):
        def append(self, *args: Any, **kwargs: Any) -> int:
            if away and isinstance(fault, SpoolError):
                raise fault
            return super().append(*args, **kwargs)

    def look(run: Object) -> Around:
        if away and isinstance(fault, Unavailable):
            raise fault
        return surroundings(run)

    monkeypatch.setattr("checks.telemetry.recorder.AGAIN_SECONDS", 0.05)
    file = tmp_path / "lines.ndjson"
    recorder = Recorder(lambda: Shaky(tmp_path, ["file"], 2**20), [File(str(file))], look, lambda: SOON)
    with capture_logs() as logs:
        recorder.start()
        recorder.show(run_in("Running"))
        recorder.show(run_in("Sealed"))
        until = time.monotonic() + 60
        while not logs and time.monotonic() < until:
            time.sleep(0.02)
        assert not file.exists()
        away = False
        while b"targets_passed" not in (file.read_bytes() if file.exists() else b""):
            assert time.monotonic() < until
            time.sleep(0.02)
        recorder.stop(60)
    assert why in logs[0]["why"]
    assert [word(line) for line in file.read_bytes().splitlines()][:5] == STATES


def test_a_spool_that_cannot_be_opened_yet_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("checks.telemetry.recorder.AGAIN_SECONDS", 0.05)
    tries = 0

    def open_spool() -> Spool:
        nonlocal tries
        tries += 1
        if tries < 3:
            raise SpoolError("no disk")
        return Spool(tmp_path, ["file"], 2**20)

    file = tmp_path / "lines.ndjson"
    recorder = Recorder(open_spool, [File(str(file))], surroundings, lambda: SOON)
    recorder.show(run_in("Sealed"))
    recorder.start()
    until = time.monotonic() + 60
    while not file.exists() and time.monotonic() < until:
        time.sleep(0.02)
    recorder.stop(60)
    assert [word(line) for line in file.read_bytes().splitlines()][:5] == STATES


@pytest.mark.parametrize("broken", [{"metadata": {}}, {}, {"metadata": {"uid": "x"}, "spec": [], "status": "none"}])
def test_a_run_that_is_none_stops_nothing(broken: Object, tmp_path: Path) -> None:
    told = Told(tmp_path)
    assert told(broken, run_in("Sealed"))[:5] == STATES


def test_a_line_that_looks_like_a_credential_never_leaves(tmp_path: Path) -> None:
    run = run_in("Running")
    run["status"]["targets"][0]["image"] = "registry.example/x:AKIAABCDEFGHIJKLMNOP"
    told = Told(tmp_path)
    assert told(run) == ["submitted", "queued", "admitted"]
    assert not [line for line in told.lines if b"AKIA" in line]


def test_a_run_that_was_out_of_sight(tmp_path: Path) -> None:
    clock = [datetime(2026, 11, 30, 7, 0, tzinfo=UTC)]
    file = tmp_path / "lines.ndjson"
    recorder = Recorder(lambda: Spool(tmp_path, ["file"], 2**20), [File(str(file))], surroundings, lambda: clock[0])
    recorder.start()
    run = run_in("Running")
    recorder.show(run)  # last seen at 05:08:49
    again = run_in("Running")
    again["status"]["lastObservedAt"] = "2026-11-30T07:00:01Z"
    recorder.show(again)
    recorder.show(again)
    recorder.stop(60)
    states = [word(line) for line in file.read_bytes().splitlines()]
    assert states == ["submitted", "queued", "admitted", "running", "stale", "running"]
