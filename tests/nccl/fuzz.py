"""Fuzzing the judge for as long as one likes: `python -m tests.nccl.fuzz --seconds 3600`.

Each input is a recorded log that was changed a few times: lines moved, doubled, taken from other logs, cut, glued,
numbers and words exchanged, bytes damaged. What passes must hold its proof for a reader of its own (`oracle`), as one
file and as two; nothing may raise, and nothing may take longer than its length allows. With atheris installed the
changes are guided by coverage; without it they are not. A finding is written to `--findings` and ends the run with 1.
"""

import argparse
import hashlib
import importlib.util
import json
import random
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .oracle import missing_proof
from .recorded import PASSING, RECORDED, judge

HIGHEST_SECONDS_PER_BYTE = 2e-5  # ten times what an ordinary log takes under coverage
WORDS = [
    *(b"Socket", b"IB", b"IBext_v8", b"IBP", b"UCX", b"Libfabric", b"via NET/IB/0", b"via NET/Socket/0", b"WARN"),
    *(b"via P2P/MNNVL", b"via SHM/direct", b"/GDRDMA", b"/Shared", b"[send]", b"[receive]", b"RoCE", b"rxe0", b"0 OK"),
    *(b"N/A", b"nan", b"inf", b"- Init COMPLETE", b"nNodes 1", b"nranks 1", b"MNNVL 1", b"COLLNET", b"\x1b[0m", b"\r"),
    *(b"NCCL INFO ", b"[1,0]<stdout>:", b"[rank1]: ", b"2026-05-05T06:16:47Z ", b"[2026-05-05 06:16:47] ", b"\xff"),
]
LINES = sorted({line for log in RECORDED for line in log.data.splitlines(keepends=True)})
NUMBER = re.compile(rb"\d+")
COLOUR = re.compile(rb"\x1b\[[0-9;]*[A-Za-z]")  # which a terminal shows as nothing, and so the judge takes it off


def change(data: bytes, dice: random.Random) -> bytes:
    """One change, most of them of whole lines or words: bytes alone seldom get past the first look."""
    lines = data.splitlines(keepends=True) or [b"\n"]
    place, other = dice.randrange(len(lines)), dice.randrange(len(lines))
    line = lines[place]
    kind = dice.randrange(12)
    if kind == 0:
        del lines[place]
    elif kind == 1:
        lines.insert(other, line)
    elif kind == 2:
        lines[place], lines[other] = lines[other], line
    elif kind == 3:
        lines.insert(place, dice.choice(LINES))
    elif kind == 4:
        lines[place] = dice.choice(LINES)
    elif kind == 5:
        lines[place] = line[: dice.randrange(len(line) + 1)] + (b"\n" if dice.random() < 0.5 else b"")
    elif kind == 6:
        lines[place] = exchange(line, NUMBER, dice, lambda found: new_number(found, dice))
    elif kind == 7:
        lines[place] = exchange(line, re.compile(rb"\S+"), dice, lambda _: dice.choice(WORDS))
    elif kind == 8:
        at = dice.randrange(len(line) + 1)
        lines[place] = line[:at] + dice.choice(WORDS) + line[at:]
    elif kind == 9:
        at = dice.randrange(len(line) + 1)
        lines[place] = line[:at] + dice.choice(LINES).rstrip(b"\n") + line[at:]
    elif kind == 10:
        words, theirs = line.split(b" "), lines[other].split(b" ")
        words[dice.randrange(len(words))] = dice.choice(theirs)
        lines[place] = b" ".join(words)
    else:
        at = dice.randrange(len(line) + 1)
        lines[place] = line[:at] + dice.randbytes(dice.randrange(1, 4)) + line[at + dice.randrange(4) :]
    return b"".join(lines)


def exchange(line: bytes, what: re.Pattern[bytes], dice: random.Random, new: Callable[[bytes], bytes]) -> bytes:
    """The line with one match of a pattern exchanged."""
    found = list(what.finditer(line))
    if not found:
        return line
    match = dice.choice(found)
    return line[: match.start()] + new(match[0]) + line[match.end() :]


def new_number(old: bytes, dice: random.Random) -> bytes:
    return str(dice.choice([0, 1, 2, int(old[:9]) + 1, dice.randrange(1 << 40)])).encode()


def mutate(data: bytes, limit: int, seed: int) -> bytes:
    """Some changes at once, from one number."""
    dice = random.Random(seed)
    if dice.random() < 0.4:  # near a pass is where a wrong one would be
        data = dice.choice(PASSING).data
    for _ in range(dice.choice([1, 1, 1, 2, 2, 3, 5, 8])):
        data = change(data, dice)
    return data[:limit]


class Finding(Exception):
    """An input for which a promise does not hold."""


def check(data: bytes) -> None:
    """Raises Finding where the judge passes what it must not, or is too slow; whatever else it raises is one too."""
    began = time.process_time()
    verdict = judge(data)
    spent = time.process_time() - began
    json.dumps(verdict.as_dict(), allow_nan=False)
    if spent > len(data) * HIGHEST_SECONDS_PER_BYTE + 0.5:
        raise Finding(f"{spent:.1f} s for {len(data)} bytes")
    require_proof(verdict, data)
    lines = data.splitlines(keepends=True)
    cut = int.from_bytes(hashlib.sha256(data).digest()[:4]) % (len(lines) + 1)
    ranks = [b"".join(lines[:cut]), b"".join(lines[cut:])]
    require_proof(judge(*ranks), data)


def require_proof(verdict: Any, data: bytes) -> None:
    if verdict.outcome != "passed":
        return
    lacks = missing_proof(COLOUR.sub(b"", data))
    if lacks:
        raise Finding(f"passed although: {lacks}")
    if b"via NET/Socket" in data or b"Using network Socket" in data:
        raise Finding("passed with a socket in it")


def unguided(seconds: float, seed: int) -> int:
    """Executions until the time is over. Every input starts from a recorded log or from the one before."""
    dice = random.Random(seed)
    end = time.monotonic() + seconds
    count, data = 0, b""
    while time.monotonic() < end:
        data = mutate(data if dice.random() < 0.4 else dice.choice(RECORDED).data, 1 << 20, dice.getrandbits(48))
        try:
            check(data)
        except Exception as found:
            found.add_note(f"input: {len(data)} bytes")
            raise Failed(data, count) from found
        count += 1
    return count


class Failed(Exception):
    """A finding and what was found."""

    def __init__(self, data: bytes, count: int) -> None:
        super().__init__(f"after {count} executions")
        self.data = data


def guided(seconds: float, folder: Path) -> None:
    """The same under atheris, which writes what it finds to the folder and never returns."""
    import atheris  # type: ignore[import-untyped,import-not-found,unused-ignore]  # not a dependency: it is used where somebody has it

    from .recorded import transport

    for value in list(vars(transport).values()):  # instrumented in place: the module was loaded by its path
        if callable(value) and getattr(value, "__module__", "") == transport.__name__ and hasattr(value, "__code__"):
            atheris.instrument_func(value)
        if isinstance(value, type) and value.__module__ == transport.__name__:
            for method in vars(value).values():
                if hasattr(method, "__code__"):
                    atheris.instrument_func(method)
    seeds = folder / "seeds"
    seeds.mkdir(parents=True, exist_ok=True)
    for log in RECORDED:
        (seeds / log.file).write_bytes(log.data)
    options = [f"-max_total_time={int(seconds)}", "-max_len=131072", "-timeout=900", "-print_final_stats=1"]
    atheris.Setup(["fuzz", *options, f"-artifact_prefix={folder}/", str(seeds)], check, custom_mutator=mutate)
    atheris.Fuzz()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.nccl.fuzz")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--findings", type=Path, default=Path("build/nccl-fuzz"))
    options = parser.parse_args()
    options.findings.mkdir(parents=True, exist_ok=True)
    if importlib.util.find_spec("atheris"):
        guided(options.seconds, options.findings)
        return 0
    try:
        count = unguided(options.seconds, options.seed)
    except Failed as failed:
        path = options.findings / hashlib.sha256(failed.data).hexdigest()[:16]
        path.write_bytes(failed.data)
        print(f"{failed}: {failed.__cause__!r}, written to {path}")
        return 1
    print(f"{count} executions in {options.seconds:.0f} s, nothing found")
    return 0


if __name__ == "__main__":
    sys.exit(main())
