"""What the sanitized log itself says of the transport: the artifact is read, a scalar that says so is not enough.

The log is hostile input: it is searched line by line for a few forms, in linear time, and nothing of it is repeated.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

MAX_BYTES = 32 * 1024 * 1024
_BEGIN = re.compile(r"TAUGRID_RANK_LOG_BEGIN rank=([0-9]{1,6})\s*$")
_END = re.compile(r"TAUGRID_RANK_LOG_END rank=([0-9]{1,6})\s*$")
_RANK = re.compile(r"^rank=([0-9]{1,6}) ")
_IB = re.compile(r"NCCL INFO NET/IB ?: Using .{0,400}?\[[0-9]{1,3}\][A-Za-z0-9_.-]{1,64}:[0-9]{1,3}/IB\b")
_SOCKET = re.compile(r"NET/Socket ?: Using")


@dataclass(frozen=True, slots=True)
class Transports:
    """ranks: those whose own part of the log proves NET/IB. socket: whether any line says NET/Socket is used."""

    ranks: frozenset[int]
    socket: bool


def uses_socket(line: str) -> bool:
    """Whether a line of NCCL says that it uses sockets."""
    return _SOCKET.search(line[:4096]) is not None


def transports(data: bytes) -> Transports:
    """Reads a log: text, or JSON with the text in its strings.

    Lines belong to the rank whose section (between the BEGIN and END marks of the fixed contract's harness) they stand
    in, or, outside of any section, that they begin with (`rank=0 `). A rank with two sections, or one without an end,
    is not proven: a workload may have printed the marks itself.
    """
    proven: set[int] = set()
    begun: Counter[int] = Counter()
    ended: Counter[int] = Counter()
    socket, here = False, None
    for line in _lines(data):
        line = line[:4096]
        if begin := _BEGIN.search(line):
            here = int(begin[1])
            begun[here] += 1
        elif end := _END.search(line):
            ended[int(end[1])] += 1
            here = None
        elif uses_socket(line):
            socket = True
        elif _IB.search(line):
            own = _RANK.search(line) if here is None else None
            rank = int(own[1]) if own else here
            if rank is not None:
                proven.add(rank)
    whole = {rank for rank in proven if begun[rank] == ended[rank] <= 1}
    return Transports(frozenset(whole), socket)


def _lines(data: bytes) -> Iterator[str]:
    text = data.decode("utf-8", errors="replace")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        yield from text.splitlines()
        return
    for string in _strings(value):
        yield from string.splitlines()


def _strings(value: Any) -> Iterator[str]:
    """Every string of a JSON value, in order, without recursion."""
    left = [value]
    while left:
        item = left.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            left.extend(reversed(item.values()))
        elif isinstance(item, list):
            left.extend(reversed(item))
