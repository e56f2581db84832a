"""The spool: bounded, told once, ended once, and never in the way of anybody."""

import sqlite3
from pathlib import Path

import pytest

from checks.telemetry.spool import FILE, LEAST_BYTES, Said, Spool, SpoolError, SpoolFull
from tests.telemetry.conftest import Clock, fill, said


def waiting(spool: Spool, sink: str = "http") -> int:
    return spool.depth(sink).lines


def test_a_line_is_taken_once(spool: Spool) -> None:
    assert spool.append("run-1", [said(1), said(2)], "queued", ended=False, facts={}) == 2
    assert spool.append("run-1", [said(1), said(2), said(3)], "running", ended=False, facts={"workspace": "a"}) == 1
    assert waiting(spool) == 3
    assert (spool.known("run-1").state, spool.known("run-1").facts) == ("running", {"workspace": "a"})


def test_nothing_is_taken_of_a_run_that_has_ended(spool: Spool) -> None:
    spool.append("run-1", [said(1)], "succeeded", ended=True, facts={})
    assert spool.append("run-1", [said(1), said(2)], "failed", ended=True, facts={}) == 0
    assert waiting(spool) == 1
    assert spool.known("run-1").ended


def test_it_knows_what_was_said_after_it_was_sent_and_after_a_restart(tmp_path: Path) -> None:
    spool = Spool(tmp_path, ["http"], LEAST_BYTES)
    fill(spool, range(3))
    batch = spool.batch("http", 10, 2**20)
    assert batch is not None
    spool.done("http", batch)
    spool.close()
    again = Spool(tmp_path, ["http"], LEAST_BYTES)
    assert again.append("run-1", [said(1), said(7)], "running", ended=False, facts={}) == 1
    assert waiting(again) == 1
    again.close()


def stuffed(number: int, lines: int = 20) -> list[Said]:
    """Lines that take about 80 kB."""
    return [said(number * 1000 + each, words="x" * 4000) for each in range(lines)]


def test_it_grows_to_its_limit_and_takes_more_when_there_is_room(tmp_path: Path) -> None:
    spool = Spool(tmp_path, ["http"], LEAST_BYTES)
    taken = 0
    while taken < 100:
        try:
            spool.append(f"run-{taken}", stuffed(taken), "running", ended=False, facts={})
        except SpoolFull:
            break
        taken += 1
    assert 5 < taken < 20
    assert (tmp_path / FILE).stat().st_size <= LEAST_BYTES
    assert waiting(spool) == taken * 20  # what was refused is not there by halves
    assert spool.known(f"run-{taken}").state == ""

    batch = spool.batch("http", 100, 2**20)
    assert batch is not None
    spool.done("http", batch)
    assert spool.append(f"run-{taken}", stuffed(taken), "running", ended=False, facts={}) == 20
    spool.close()


def test_it_does_not_grow_with_what_was_sent(tmp_path: Path) -> None:
    spool = Spool(tmp_path, ["http"], LEAST_BYTES)
    for number in range(25):  # about twice what it holds
        spool.append(f"run-{number}", stuffed(number), "succeeded", ended=True, facts={})
        batch = spool.batch("http", 100, 2**20)
        assert batch is not None and len(batch.lines) == 20
        spool.done("http", batch)
    spool.close()
    assert (tmp_path / FILE).stat().st_size < LEAST_BYTES // 2


def test_every_sink_gets_every_line(tmp_path: Path) -> None:
    spool = Spool(tmp_path, ["stdout", "http"], LEAST_BYTES)
    fill(spool, range(3))
    batch = spool.batch("stdout", 10, 2**20)
    assert batch is not None
    spool.done("stdout", batch)
    assert (waiting(spool, "stdout"), waiting(spool)) == (0, 3)
    spool.close()
    spool = Spool(tmp_path, ["http", "file"], LEAST_BYTES)  # one sink less, one more
    assert (waiting(spool), waiting(spool, "file")) == (3, 3)
    spool.close()


@pytest.mark.parametrize("damage", [b"no database at all " * 500, b""])
def test_a_file_that_is_no_spool(tmp_path: Path, damage: bytes, clock: Clock) -> None:
    (tmp_path / FILE).write_bytes(damage)
    spool = Spool(tmp_path, ["http"], LEAST_BYTES, clock)
    assert fill(spool, range(2)) and waiting(spool) == 2
    assert bool(spool.broken) == bool(damage)
    assert not damage or (tmp_path / spool.broken).read_bytes() == damage
    spool.close()


def test_a_damaged_file_is_set_aside(tmp_path: Path) -> None:
    spool = Spool(tmp_path, ["http"], 2**22)
    fill(spool, range(2000))
    spool.close()
    file = tmp_path / FILE
    data = bytearray(file.read_bytes())
    data[8192 : len(data) - 8192] = bytes(len(data) - 16384)
    file.write_bytes(data)
    spool = Spool(tmp_path, ["http"], 2**22)
    assert spool.broken
    assert fill(spool, range(2))
    spool.close()


def test_a_folder_that_cannot_be_one(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SpoolError, match="cannot be opened"):
        Spool(tmp_path / "file", ["http"], LEAST_BYTES)


def test_a_spool_that_somebody_else_holds_is_an_error_not_a_wait_for_ever(spool: Spool, tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "spool" / FILE, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(SpoolError, match="locked"):
        spool.known("run-1")
    other.execute("COMMIT")
    other.close()
    assert spool.known("run-1").state == ""
