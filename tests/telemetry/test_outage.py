"""A sink that is away, slow, lying or picky: every line arrives, each under one id, and a retry is the same batch."""

import os
import time
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from checks.telemetry.delivery import Delivery
from checks.telemetry.sinks import Http
from checks.telemetry.spool import Spool
from tests.telemetry.conftest import Clock, fill, said
from tests.telemetry.receiver import Receiver


def deliver(delivery: Delivery, spool: Spool, clock: Clock, seconds: float = 3600) -> None:
    """Until nothing waits any more."""
    until = clock.now + seconds
    while spool.depth("http").lines:
        assert clock.now < until, "It does not come to an end."
        clock.wait(delivery.once())


def test_a_sink_that_is_down_for_ten_minutes(spool: Spool, receiver: Receiver, clock: Clock) -> None:
    delivery = Delivery(spool, Http(receiver.url), wait=clock.wait, most_lines=7)
    wanted = fill(spool, range(10))
    deliver(delivery, spool, clock)
    receiver.stop()
    began, tries, logs = clock.now, 0, []
    while clock.now < began + 600:
        wanted += fill(spool, range(10 + tries * 3, 13 + tries * 3))
        with capture_logs() as said_now:
            clock.wait(delivery.once())
        logs += said_now
        tries += 1
    assert spool.depth("http").age >= 600
    assert 10 < tries < 40  # the pause grows to a minute
    assert [(entry["log_level"], entry["why"]) for entry in logs] == [
        ("warning", "the sink does not answer: no connection")
    ]
    receiver.start()
    deliver(delivery, spool, clock)
    assert receiver.taken == wanted


def test_a_sink_whose_answers_are_lost_gets_the_same_batch_again(
    spool: Spool, receiver: Receiver, clock: Clock
) -> None:
    receiver.answers = ["hang up", 503, 429]
    delivery = Delivery(spool, Http(receiver.url), wait=clock.wait)
    wanted = fill(spool, range(5))
    clock.wait(delivery.once())
    wanted += fill(spool, range(5, 9))  # what comes meanwhile is not mixed into the batch
    deliver(delivery, spool, clock)
    assert [len(request.ids) for request in receiver.requests] == [5, 5, 5, 5, 4]
    retried = receiver.requests[:4]
    assert len({request.headers["Idempotency-Key"] for request in retried}) == 1
    assert len({request.body for request in retried}) == 1
    assert receiver.taken == wanted


def test_a_controller_killed_after_sending_sends_the_same_batch_again(
    tmp_path: Path, receiver: Receiver, clock: Clock
) -> None:
    first = Spool(tmp_path, ["http"], 2**20)
    wanted = fill(first, range(4))
    batch = first.batch("http", 3, 2**20)
    assert batch is not None
    Http(receiver.url).send(batch)
    fill(first, range(4, 6))
    first.close()  # without having noted that it was sent

    second = Spool(tmp_path, ["http"], 2**20)
    deliver(Delivery(second, Http(receiver.url), wait=clock.wait), second, clock)
    assert receiver.requests[0].body == receiver.requests[1].body
    assert receiver.requests[0].headers["Idempotency-Key"] == receiver.requests[1].headers["Idempotency-Key"]
    assert set(receiver.taken) == {*wanted, *(said(n).id for n in (4, 5))}
    second.close()


@pytest.mark.parametrize("answer", [301, 302, 307, 308, 401, 403, 404, 408, 429, 500, 502, 503])
def test_an_answer_that_may_be_another_one_later_loses_nothing(
    answer: int, spool: Spool, receiver: Receiver, clock: Clock
) -> None:
    elsewhere = Receiver()
    elsewhere.start()
    receiver.answers, receiver.headers = [answer, answer], {"Location": elsewhere.url}
    wanted = fill(spool, range(3))
    deliver(Delivery(spool, Http(receiver.url), wait=clock.wait), spool, clock)
    elsewhere.stop()
    assert receiver.taken == wanted
    assert elsewhere.requests == []  # no redirect is followed


def test_a_sink_that_asks_for_time_gets_it(spool: Spool, receiver: Receiver, clock: Clock) -> None:
    receiver.answers, receiver.headers = [429], {"Retry-After": "120"}
    fill(spool, range(1))
    assert Delivery(spool, Http(receiver.url), wait=clock.wait).once() >= 120


def test_a_sink_that_takes_little_at_once_gets_less(spool: Spool, receiver: Receiver, clock: Clock) -> None:
    receiver.most_lines = 3
    wanted = fill(spool, range(20))
    deliver(Delivery(spool, Http(receiver.url), wait=clock.wait), spool, clock)
    assert receiver.taken == wanted


def test_one_line_that_a_sink_will_never_take_does_not_hold_up_the_others(
    spool: Spool, receiver: Receiver, clock: Clock
) -> None:
    receiver.poison = "poison"
    before = fill(spool, range(5))
    spool.append("run-2", [said(99, words="poison")], "running", ended=False, facts={})
    after = fill(spool, range(5, 10))
    with capture_logs() as logs:
        deliver(Delivery(spool, Http(receiver.url), wait=clock.wait), spool, clock)
    assert receiver.taken == before + after
    assert [entry["event"] for entry in logs if entry["log_level"] == "error"] == ["telemetry line set aside"]


def test_lines_of_the_two_tables_are_never_in_one_batch(spool: Spool, receiver: Receiver, clock: Clock) -> None:
    lines = [said(n, "TauExpMetricEventsV1" if n % 3 == 0 else "TauExpRunLifecycle") for n in range(9)]
    spool.append("run-1", lines, "running", ended=False, facts={})
    sink = Http(receiver.url.replace("/ingest", "/{table}"))
    deliver(Delivery(spool, sink, wait=clock.wait), spool, clock)
    assert receiver.taken == [line.id for line in lines]
    table = {line.id: f"/{line.table}" for line in lines}
    assert all({table[identity] for identity in request.ids} == {request.path} for request in receiver.requests)


def test_sending_that_ends_sends_what_is_there(spool: Spool, receiver: Receiver) -> None:
    wanted = fill(spool, range(5))
    delivery = Delivery(spool, Http(receiver.url), most_lines=2)
    delivery.start()
    delivery.stop(until=time.monotonic() + 60)
    assert receiver.taken == wanted


def test_a_process_killed_at_any_moment_loses_nothing_it_had_taken(tmp_path: Path) -> None:
    """A child appends and says each id once it is on disk; it is killed with -9 while it does."""
    told: list[str] = []
    for turn in range(3):
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(read)
            spool = Spool(tmp_path, ["http"], 64 * 2**20)
            for number in range(turn * 10_000, turn * 10_000 + 10_000):
                line = said(number)
                spool.append("run-1", [line], "running", ended=False, facts={})
                os.write(write, f"{line.id}\n".encode())
            os._exit(0)
        os.close(write)
        with os.fdopen(read) as ids:
            for _ in range(8 + turn * 5):
                told.append(ids.readline().strip())
            os.kill(child, 9)
            told += [line.strip() for line in ids]
        os.waitpid(child, 0)
    spool = Spool(tmp_path, ["http"], 64 * 2**20)
    assert spool.broken == ""
    kept: list[str] = []
    while batch := spool.batch("http", 500, 2**20):
        kept += [line.split('"')[3] for line in batch.lines]
        spool.done("http", batch)
    spool.close()
    assert set(told) <= set(kept)
    assert len(kept) == len(set(kept)) <= len(told) + 3  # at most one more of each turn: on disk, but not yet said
