"""What is told of real runs: every line valid, each once, while the sink and the controller come and go."""

import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from checks.telemetry.lifecycle import LifecycleRow
from checks.telemetry.validating import Stream
from tests.cluster.bed.waiting import eventually
from tests.cluster_runs.conftest import Start
from tests.cluster_runs.scene import PASS, Scene
from tests.telemetry.receiver import Receiver, running

pytestmark = pytest.mark.cluster

FAIL = """
printf '{"schema":"tau.validation-report.v1","rank":%s,"outcome":"failed","reason":"transport_failure",\
"message":"visit https://evil.example/"}' "$JOB_COMPLETION_INDEX" >/dev/termination-log
"""
BEGUN = ["submitted", "queued", "admitted", "running"]


@pytest.fixture
def sink() -> Iterator[Receiver]:
    yield from running(Receiver())


def options(sink: Receiver, folder: Path) -> list[str]:
    return [f"--telemetry-sink={sink.url.replace('ingest', '{table}')}", f"--telemetry-spool={folder / 'spool'}"]


def read(sink: Receiver) -> Stream:
    """Everything the sink was given, read by the validator, each id once."""
    stream = Stream(once=True)
    lines = [line for request in sink.requests if request.taken for line in request.body.splitlines()]
    assert [str(problem) for line in lines for problem in stream.take(line)] == []
    return stream


def rows_of(stream: Stream, run: str) -> list[LifecycleRow]:
    return [row for row in stream.rows if row.owning_resource_name == run]


def told(sink: Receiver, run: str) -> Stream:
    """Once the sink has the end of a run, and its numbers."""
    eventually(
        lambda: (
            any(row.completion_time for row in rows_of(read(sink), run))
            and any(event.run_id in run for event in read(sink).events)
        ),
        f"the end of {run} is told",
        60,
        pause=0.3,
    )
    return read(sink)


def test_a_healthy_run_and_one_that_fails(quiet: Scene, start: Start, sink: Receiver, tmp_path: Path) -> None:
    server = start(*options(sink, tmp_path))
    quiet.ready(quiet.template(PASS))
    healthy = quiet.run()
    envelope = quiet.sealed(healthy)
    quiet.ready(quiet.template(FAIL), "broken")
    failing = quiet.run("broken")
    quiet.sealed(failing)
    told(sink, healthy)
    stream = told(sink, failing)

    good, bad = rows_of(stream, healthy), rows_of(stream, failing)
    assert [row.state for row in good] == [*BEGUN, "succeeded"]
    assert [row.state for row in bad] == [*BEGUN, "failed"]
    end = good[-1]
    assert (end.cluster, end.namespace, end.workspace_id) == ("bed", quiet.namespace, quiet.namespace)
    assert (end.cluster_queue, end.workload_kind) == (quiet.namespace, "job")
    assert end.image == quiet.cluster.busybox.by_digest
    assert end.image_digest == quiet.cluster.busybox.digest
    assert end.pod_start_time == envelope["times"]["started"]
    assert end.kueue_admitted_time == envelope["times"]["admitted"]
    assert bad[-1].reason == "transport_failure"
    ends = {healthy.removeprefix("paths-"): 1.0, failing.removeprefix("broken-"): -1.0}
    status = {event.run_id: event.value for event in stream.events if event.metric_name == "tau/run_status"}
    assert ends.items() <= status.items()  # the controller also tells of runs that other tests left
    assert b"evil.example" not in b"".join(request.body for request in sink.requests)

    server.signal(signal.SIGTERM)
    server.process.wait(20)
    printed = Stream(once=True)
    lines = [line for line in server.log.read_bytes().splitlines() if b'"namespace":' in line and b"_id" in line]
    assert [problem for line in lines for problem in printed.take(line)] == []
    assert [row.observation_id for row in printed.rows] == [row.observation_id for row in stream.rows]


@pytest.mark.deep
def test_a_sink_away_and_a_controller_killed_in_the_middle_of_a_run(
    quiet: Scene, start: Start, sink: Receiver, tmp_path: Path
) -> None:
    first = start(*options(sink, tmp_path))
    quiet.ready(quiet.template("sleep 8\n" + PASS))
    sink.stop()
    run = quiet.run()
    quiet.until(run, "Running")
    first.signal(signal.SIGKILL)
    first.process.wait(10)
    start(*options(sink, tmp_path))
    quiet.sealed(run)
    time.sleep(1)
    sink.start()
    stream = told(sink, run)
    assert [row.state for row in rows_of(stream, run)] == [*BEGUN, "succeeded"]

    third = start(*options(sink, tmp_path))  # waits for the Lease, then is shown the sealed run again
    before = len(sink.taken)
    start.end_all()
    assert third.process.poll() is not None
    assert len(read(sink).rows) + len(read(sink).events) == len(sink.taken) == before


@pytest.mark.deep
def test_a_run_needs_no_telemetry(quiet: Scene, start: Start, sink: Receiver, tmp_path: Path) -> None:
    """The spool cannot be opened while the run is made; when it can, the run is told."""
    (tmp_path / "spool").write_text("a file where a folder should be")
    server = start(*options(sink, tmp_path))
    quiet.ready(quiet.template(PASS))
    run = quiet.run()
    assert quiet.sealed(run)["outcome"] == "passed"
    assert sink.requests == []
    assert "telemetry put off" in server.log.read_text()
    (tmp_path / "spool").unlink()
    assert [row.state for row in rows_of(told(sink, run), run)] == [*BEGUN, "succeeded"]
