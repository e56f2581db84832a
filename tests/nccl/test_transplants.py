"""One rank of a healthy run together with one rank of a run that did not pass: no pass without proof of both."""

import os
import re

import pytest

from .oracle import missing_proof
from .recorded import PASSING, RECORDED, Recorded, judge

DEEP = os.environ.get("TAU_DEEP") == "1"
OTHERS = [log for log in RECORDED if log.expected != "passed"]
HOST = re.compile(rb"(?:.*?[ :])?([A-Za-z0-9_-]+):\d+:\d+ ")


def host(line: bytes) -> bytes:
    """Whose record a line is; empty for what is nobody's."""
    match = HOST.match(line)
    return match[1] if match else b""


def hosts(lines: list[bytes]) -> list[bytes]:
    return [name for name in dict.fromkeys(map(host, lines)) if name]


@pytest.mark.parametrize("healthy", PASSING, ids=lambda log: log.file)
def test_a_rank_of_another_run_never_leaves_a_pass_without_proof(healthy: Recorded) -> None:
    whole = healthy.data.splitlines(keepends=True)
    mine = hosts(whole)
    tried = 0
    for other in OTHERS if DEEP else OTHERS[::4]:
        foreign = other.data.splitlines(keepends=True)
        for rank, theirs in enumerate(hosts(foreign)[: len(mine)]):
            kept = b"".join(line for line in whole if host(line) != mine[rank])
            given = b"".join(line.replace(theirs, mine[rank]) for line in foreign if host(line) == theirs)
            for verdict in (judge(kept + given), judge(kept, given)):
                tried += 1
                if verdict.outcome == "passed":
                    assert missing_proof(kept + given) == "", f"{other.file}, rank {rank}: {verdict.message}"
    assert tried > 10
