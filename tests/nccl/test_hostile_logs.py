"""Log text is untrusted: it cannot crash the judge, slow it down, fill its memory or speak through its report."""

import ast
import json
import os
import sys
import time
import tracemalloc
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from .oracle import missing_proof
from .recorded import BY_NUMBER, EXAMPLE, PASSING, RECORDED, judge, transport

EXAMPLES = 3_000 if os.environ.get("TAU_DEEP") == "1" else 80
KNOWN_LINES = sorted({line for log in RECORDED for line in log.data.splitlines(keepends=True)})
PIECES = [
    b"node-a:1201:1215 [0] NCCL INFO ",
    b"node-b:2201:2215 [0] NCCL INFO ",
    b"Using network IB",
    b"Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/0/GDRDMA",
    b"[1,0]<stdout>:",
    b"2026-01-02T03:04:05Z ",
    b"\x1b[36m",
    b"\x00",
    b"\xff",
    b"\r",
    b"\n",
    b"           8             2     float     sum      -1",
    b"9" * 400,
    "\u0660".encode(),
]


def check(data: bytes) -> None:
    verdict = judge(data)
    json.dumps(verdict.as_dict(), allow_nan=False)
    if verdict.outcome == "passed":
        assert missing_proof(data) == ""


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.binary(max_size=4000))
def test_any_bytes_get_a_verdict(data: bytes) -> None:
    check(data)


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.lists(st.one_of(st.sampled_from(PIECES), st.sampled_from(KNOWN_LINES), st.binary(max_size=12)), max_size=60))
def test_any_mixture_of_pieces_of_logs_gets_a_verdict(pieces: list[bytes]) -> None:
    check(b"".join(pieces))


@settings(max_examples=EXAMPLES, deadline=None)
@given(
    st.sampled_from(PASSING),
    st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 40), st.binary(max_size=6)), min_size=1, max_size=3),
)
def test_a_healthy_log_with_a_few_damaged_bytes_passes_only_with_its_proof(
    log: object, edits: list[tuple[int, int, bytes]]
) -> None:
    data = log.data  # type: ignore[attr-defined]
    for start, length, replacement in edits:
        start %= len(data)
        data = data[:start] + replacement + data[start + length :]
    try:
        data.decode()
    except UnicodeDecodeError:
        assert judge(data).outcome != "passed"
    else:
        check(data)


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.sampled_from(PASSING), st.randoms(use_true_random=False))
def test_a_healthy_log_in_any_order_passes_only_with_its_proof(log: object, dice: object) -> None:
    lines = log.data.splitlines(keepends=True)  # type: ignore[attr-defined]
    dice.shuffle(lines)  # type: ignore[attr-defined]
    check(b"".join(lines))


EXPENSIVE = {
    "one long word": b"a" * 60_000,
    "colons": b":" * 60_000,
    "origins": b"a:1:1 [0] " * 6_000,
    "almost records": b"node-a:1201:1215 [0] NCCL INFO " + b"a:1:1 " * 10_000,
    "digits before a record": b"1" * 60_000 + b" node-a:1:1 [0] NCCL INFO x",
    "a long timestamp": b"1 " * 39 + b"! a:1:1 [0] NCCL INFO x",
    "a timestamp of digits": b"03:04 " + b"1" * 70 + b" ! node-a:1:1 [0] NCCL INFO x",
    "a long device list": b"node-a:1:1 [0] NCCL INFO NET/IB : Using "
    + b"".join(b"[%d]m:1/IB " % i for i in range(5000)),
    "a long merged device": b"node-a:1:1 [0] NCCL INFO NET/IB : Using [0]={" + b"[0] m:1/IB, " * 4000,
    "a long ring list": b"node-a:1:1 [0] NCCL INFO Channel 00/02 :" + b" 1" * 20_000,
    "a long channel": b"node-a:1:1 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] [send] via NET/" + b"A " * 20_000,
    "spaces": b"# " + b" " * 60_000 + b"x",
    "escapes": b"\x1b[" * 30_000,
    "prefixes": b"[rank0]: " * 6_000,
    "numbers too long for int": b"node-a:1:1 [0] NCCL INFO " + b"9" * 20_000 + b" coll channels, 1 p2p channels",
    "a secret": b"token=" * 10_000,
}


@pytest.mark.parametrize("case", EXPENSIVE)
def test_a_line_made_to_be_expensive_is_read_in_linear_time(case: str) -> None:
    line = EXPENSIVE[case] + b"\n"
    began = time.process_time()
    judge(line * 20)
    spent = time.process_time() - began
    assert spent < 20 * len(line) * 4e-6 + 0.05, f"{spent / 20 / len(line) * 1e9:.0f} ns a byte"


class Endless:
    """A log of any length that is never in memory as a whole."""

    def __init__(self, lines: Iterator[bytes]) -> None:
        self.lines = lines

    def readline(self, _limit: int) -> bytes:
        return next(self.lines, b"")


@pytest.mark.parametrize(
    "make",
    [
        lambda i: b"node-a:1:1 [0] NCCL INFO AllReduce: opCount %d\n" % i,
        lambda i: b"host-%d:%d:1 [0] NCCL INFO Using network IB\n" % (i, i),
        lambda i: b"node-a:1:1 [0] NCCL INFO Channel %02d/0 : %d -> 1 [send] via NET/IB/%d\n" % (i % 100, i, i % 999),
        lambda i: b"node-a:1:1 [0] a.cc:1 NCCL WARN warning %d\n" % i,
        lambda i: (
            b"%12d  %12d     float     sum      -1    18.00    0.00    0.00      0    18.40    0.00    0.00      0\n"
            % (i, i)
        ),
        lambda i: b"free text %d\n" % i,
        lambda i: b"node-a:1:1 [0] NCCL INFO NCCL version 2.20.%d\n" % (i % 99999),
    ],
    ids=["calls", "processes", "channels", "warnings", "rows", "text", "versions"],
)
def test_memory_does_not_grow_with_the_log(make: object) -> None:
    def peak(count: int) -> int:
        tracemalloc.start()
        stream = Endless(make(i) for i in range(count))  # type: ignore[operator]
        transport.judge([("log", stream)], transport.Request())
        used = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return used

    assert peak(9_000) < 1.5 * peak(4_500) + 100_000


def test_a_line_longer_than_the_limit_is_damage() -> None:
    log = BY_NUMBER["001"].data
    assert judge(b"x" * 70_000 + b"\n" + log).reason == "parser_rejected"
    assert judge(log + b"#" + b" " * 70_000 + b"\n").reason == "parser_rejected"
    assert judge(log + b" " * 70_000).reason == "parser_rejected"


def test_what_looks_like_a_credential_in_a_log_is_not_repeated() -> None:
    log = BY_NUMBER["001"].data.replace(
        b"# Out of",
        b"\nnode-a:1:1 [0] a.cc:1 NCCL WARN login API_TOKEN=hunter2hunter2 Bearer abcdefgh12345 failed\n# Out of",
    )
    report = json.dumps(judge(log).as_dict())
    assert "hunter2" not in report
    assert "abcdefgh12345" not in report


def test_the_environment_in_a_json_result_is_not_repeated() -> None:
    log = BY_NUMBER["140"].data.replace(b"HOME=", b"AWS_SECRET=hunter2hunter2,HOME=")
    assert "hunter2" not in json.dumps(judge(log).as_dict())


def test_control_characters_do_not_reach_the_report() -> None:
    log = BY_NUMBER["001"].data.replace(
        b"# Out of", "\nnode-a:1:1 [0] a.cc:1 NCCL WARN \u202e\u2028\x9b x\n# Out of".encode()
    )
    text = judge(log).facts["firstError"]["text"]
    assert text.isascii()
    assert text.isprintable()


def test_wrong_values_in_a_json_result_fail() -> None:
    log = BY_NUMBER["140"].data
    assert judge(log.replace(b'"nwrong":0.000000', b'"nwrong":3.000000')).reason == "correctness_error"
    assert (
        judge(log.replace(b'"out_of_bounds":{"count":0', b'"out_of_bounds":{"count":4')).reason == "correctness_error"
    )


@pytest.mark.parametrize("name", ["nccl_transport.py", "runner.py"])
def test_the_module_runs_on_python_3_9_with_the_standard_library_only(name: str) -> None:
    tree = ast.parse((EXAMPLE / name).read_text(encoding="utf-8"), feature_version=(3, 9))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert imported <= sys.stdlib_module_names | {"nccl_transport"}
