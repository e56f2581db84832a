"""A passing log that lost or changed anything passes only when the lines of its proof are still there."""

import os
import random
import re
from collections.abc import Callable, Iterator
from itertools import zip_longest

import pytest

from .oracle import missing_proof
from .recorded import PASSING, Recorded, judge

DEEP = os.environ.get("TAU_DEEP") == "1"
LOGS = [log for log in PASSING if judge(log.data).outcome == "passed"]
Mutation = Callable[[list[bytes]], Iterator[bytes]]


def delete_each_line(lines: list[bytes]) -> Iterator[bytes]:
    for place in range(len(lines)):
        yield b"".join(lines[:place] + lines[place + 1 :])


def duplicate_each_line(lines: list[bytes]) -> Iterator[bytes]:
    for place in range(len(lines)):
        yield b"".join(lines[: place + 1] + lines[place:])


def swap_neighbours(lines: list[bytes]) -> Iterator[bytes]:
    for place in range(len(lines) - 1):
        yield b"".join([*lines[:place], lines[place + 1], lines[place], *lines[place + 2 :]])


def cut_each_line_short(lines: list[bytes]) -> Iterator[bytes]:
    """The second half of one line is lost, its newline stays."""
    for place, line in enumerate(lines):
        for keep in {len(line) // 2, max(0, len(line) - 4)}:
            yield b"".join([*lines[:place], line[:keep].rstrip(b"\n") + b"\n", *lines[place + 1 :]])


def glue_neighbours(lines: list[bytes]) -> Iterator[bytes]:
    for place in range(len(lines) - 1):
        yield b"".join([*lines[:place], lines[place].rstrip(b"\n"), *lines[place + 1 :]])


def end_after_each_line(lines: list[bytes]) -> Iterator[bytes]:
    for place in range(len(lines)):
        yield b"".join(lines[:place])


def begin_at_each_line(lines: list[bytes]) -> Iterator[bytes]:
    for place in range(1, len(lines)):
        yield b"".join(lines[place:])


def assert_still_proven(log: Recorded, mutant: bytes) -> None:
    verdict = judge(mutant)
    if verdict.outcome == "passed":
        assert missing_proof(mutant) == "", f"{log.file} passed: {verdict.message}"


MUTATIONS: list[Mutation] = [
    delete_each_line,
    duplicate_each_line,
    swap_neighbours,
    cut_each_line_short,
    glue_neighbours,
    end_after_each_line,
    begin_at_each_line,
]


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.__name__)
@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.file)
def test_a_line_that_is_lost_or_moved_never_leaves_a_pass_without_proof(log: Recorded, mutation: Mutation) -> None:
    mutants = list(mutation(log.data.splitlines(keepends=True)))
    if not DEEP:
        mutants = mutants[:: max(1, len(mutants) // 16)]
    for mutant in mutants:
        assert_still_proven(log, mutant)


PROOF = ("Using network", "via NET/", "Init COMPLETE", "coll channels", "NET/IB : Using", " float ", "Out of bounds")


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.file)
def test_each_line_of_the_proof_is_needed(log: Recorded) -> None:
    lines = log.data.splitlines(keepends=True)
    for place, line in enumerate(lines):
        if any(word.encode() in line for word in PROOF):
            verdict = judge(b"".join(lines[:place] + lines[place + 1 :]))
            assert verdict.outcome == "unknown", line


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.file)
def test_a_log_cut_anywhere_before_its_end_does_not_pass(log: Recorded) -> None:
    end = log.data.rindex(b"Avg bus bandwidth")
    offsets = range(end) if DEEP else random.Random(log.file).sample(range(end), 30)
    for offset in offsets:
        assert judge(log.data[:offset]).outcome != "passed", offset


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.file)
def test_a_cut_inside_the_last_lines_never_leaves_a_pass_without_proof(log: Recorded) -> None:
    for offset in range(log.data.rindex(b"Out of bounds"), len(log.data)):
        assert_still_proven(log, log.data[:offset])


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.file)
def test_a_hole_of_bytes_never_leaves_a_pass_without_proof(log: Recorded) -> None:
    dice = random.Random(log.file)
    for _ in range(2000 if DEEP else 20):
        start = dice.randrange(len(log.data))
        hole = dice.choice((1, 2, 7, 64, 512))
        assert_still_proven(log, log.data[:start] + log.data[start + hole :])


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.file)
def test_a_changed_number_never_leaves_a_pass_without_proof(log: Recorded) -> None:
    numbers = list(re.finditer(rb"\d+", log.data))
    dice = random.Random(log.file)
    for number in numbers if DEEP else dice.sample(numbers, 20):
        for other in (b"0", b"1", b"7", b"999999999999999999999999", str(int(number[0]) + 1).encode()):
            assert_still_proven(log, log.data[: number.start()] + other + log.data[number.end() :])


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.file)
def test_changed_figures_of_the_table_do_not_pass(log: Recorded) -> None:
    """Time, bandwidth and average vouch for each other, so that one changed figure is noticed."""
    lines = log.data.splitlines(keepends=True)
    largest = max(place for place, line in enumerate(lines) if b" float " in line)
    for figure in list(re.finditer(rb"\d+\.\d+", lines[largest])):
        changed = lines[largest][: figure.start()] + b"9" + lines[largest][figure.start() :]
        mutant = b"".join([*lines[:largest], changed, *lines[largest + 1 :]])
        assert judge(mutant).outcome == "unknown", changed


@pytest.mark.parametrize("first", LOGS, ids=lambda log: log.file[:3])
@pytest.mark.parametrize("second", LOGS if DEEP else LOGS[::5], ids=lambda log: log.file[:3])
def test_two_runs_in_one_log_do_not_pass(first: Recorded, second: Recorded) -> None:
    pairs = (first.data.splitlines(keepends=True), second.data.splitlines(keepends=True))
    assert judge(first.data + second.data).outcome != "passed"
    woven = b"".join(line for both in zip_longest(*pairs, fillvalue=b"") for line in both)
    assert judge(woven).outcome != "passed"
    dice = random.Random(first.file + second.file)
    for _ in range(20 if DEEP else 2):
        left, right = (list(lines) for lines in pairs)
        shuffled = []
        while left or right:
            source = left if left and (not right or dice.random() < 0.5) else right
            shuffled.append(source.pop(0))
        assert judge(b"".join(shuffled)).outcome != "passed"


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.file)
def test_one_socket_channel_beside_all_the_proof_fails(log: Recorded) -> None:
    lines = log.data.splitlines(keepends=True)
    place = next(i for i, line in enumerate(lines) if b"[send] via NET/IB" in line)
    socket = re.sub(rb"via NET/IB\S*", b"via NET/Socket/0", lines[place])
    for mutant in ([*lines[:place], socket, *lines[place + 1 :]], [*lines[:place], socket, *lines[place:]]):
        verdict = judge(b"".join(mutant))
        assert (verdict.outcome, verdict.reason) == ("failed", "socket_fallback_observed")
