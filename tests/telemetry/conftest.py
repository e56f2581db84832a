"""A spool, a receiver, a clock that is set by hand."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from checks.telemetry.line import sha256_of
from checks.telemetry.spool import Said, Spool
from tests.telemetry.receiver import Receiver, running


class Clock:
    """Seconds since the beginning, moved on by whoever waits."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def wait(self, seconds: float) -> None:
        """Waiting takes no time here."""
        self.now += seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """A server that listens."""
    yield from running(Receiver())


@pytest.fixture
def spool(tmp_path: Path, clock: Clock) -> Iterator[Spool]:
    """A spool for one sink named http."""
    spool = Spool(tmp_path / "spool", ["http"], 4 * 1024 * 1024, clock)
    yield spool
    spool.close()


def said(number: int, table: str = "TauExpRunLifecycle", words: str = "") -> Said:
    """A line with an id of its own."""
    identity = sha256_of(number)
    return Said(identity, table, f'{{"observation_id":"{identity}","words":"{words}"}}')


def fill(spool: Spool, numbers: range, run: str = "run-1") -> list[str]:
    """Puts lines into a spool; their ids."""
    lines = [said(number) for number in numbers]
    spool.append(run, lines, "running", ended=False, facts={})
    return [line.id for line in lines]
