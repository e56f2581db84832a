#!/usr/bin/env python3
"""Proves from NCCL's own log that two ranks on two nodes talked over NET/IB.

`judge` reads the raw log of both ranks and the output of nccl-tests. It answers `passed` only when every
step of the proof is written there, `failed` only when the contrary is, and `unknown` in every other case.
Bytes in, facts and outcome out: nothing else is read, and log text is never trusted, only matched whole.

The file reads from top to bottom: policy, lines, records, evidence, decision, facts, command line. It needs
nothing but Python 3.9, so it runs inside any NCCL image.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import sys
from typing import Any, BinaryIO, Dict, Iterable, Iterator, List, NamedTuple, Optional, Tuple

NAME = "nccl-transport"
VERSION = "1.0.0"

# ----------------------------------------------------------------------------------------------------
# Policy
# ----------------------------------------------------------------------------------------------------

PASSED, FAILED, UNKNOWN = "passed", "failed", "unknown"
EXIT_STATUS = {PASSED: 0, FAILED: 1, UNKNOWN: 2}
USAGE = 64

OLDEST_TESTED = (2, 8, 0)
NEWEST_TESTED = (2, 30, 7)
VERSION_ON_EVERY_RANK = (2, 22, 0)  # before, only rank 0 prints its version
NODE_COUNT_PRINTED = (2, 20, 0)
RECORDS_NOT_CUT = (2, 29, 0)  # before, NCCL itself cuts a record at 1023 bytes

IB_NETWORK = re.compile(r"IB(?:ext(?:_v\d{1,2})?)?", re.A)
OTHER_NETWORK = re.compile(r"AWS Libfabric|Libfabric|FasTrak|GPUDirectTCPX(?:_v\d{1,2})?", re.A)
# Verbs devices that are printed as RoCE although no RDMA network card is behind them: soft RoCE and iWARP.
REFUSED_HCA = re.compile(r"(?:rxe|siw|i40iw)[\w.-]*", re.A)
DOUBTFUL_HCA = re.compile(r"(?:irdma|erdma)[\w.-]*", re.A)  # iWARP or RoCE: the log cannot tell

# Without --min-busbw a run must still be faster than 4x QDR InfiniBand (32 Gb/s, 2008). Small messages say
# nothing about a link, so this default asks only runs that went up to 64 MiB. A given value always applies;
# 0 turns it off.
DEFAULT_FLOOR_GBPS = 4.0
DEFAULT_FLOOR_FROM_BYTES = 64 << 20

DEADLINE_STATUS = (124, 137, 143, -9, -15)  # timeout(1), SIGKILL, SIGTERM: killed from outside

# Per reason: what is wrong, and what to look at next. The order is the order of importance.
FAILURES = {
    "socket_fallback_observed": (
        "NCCL fell back to TCP sockets",
        "look at NCCL_IB_DISABLE, the RDMA resource of the pod and libibverbs in the image; set NCCL_NET=IB so "
        "that it fails instead",
    ),
    "other_network_observed": (
        "NCCL used another network than NET/IB",
        "remove the network plugin from the image or set NCCL_NET=IB",
    ),
    "nic_bypassed": (
        "the ranks talked past the network card",
        "set NCCL_MNNVL_ENABLE=0, NCCL_P2P_DISABLE=1 and NCCL_SHM_DISABLE=1",
    ),
    "hca_not_accepted": (
        "the device is soft RoCE or iWARP",
        "choose the real HCA with NCCL_IB_HCA",
    ),
    "roce_not_infiniband": (
        "the link layer is Ethernet, not InfiniBand",
        "choose an InfiniBand port with NCCL_IB_HCA, or accept RoCE with --link-layer any",
    ),
    "nccl_version_mismatch": (
        "the two ranks ran different NCCL versions",
        "use one image digest on both nodes",
    ),
    "transport_failure": (
        "the transport failed",
        "read the first error; check port state (ibstat), subnet manager, GID index and the memlock limit",
    ),
    "runtime_error": (
        "nccl-tests or its launcher failed",
        "read the first error, then the last lines of both pods",
    ),
    "correctness_error": (
        "data arrived wrong",
        "take the GPU and the HCA of both nodes out of service and test them one by one",
    ),
    "bandwidth_below_minimum": (
        "the path is right but slow",
        "check link width and speed (ibstat, mlxlink), GPU Direct RDMA, PCIe speed and congestion",
    ),
    "nonzero_exit": (
        "the run ended with a non-zero status",
        "read the last lines of both pods",
    ),
}
DOUBTS = {
    # first, because a run that was killed leaves torn or missing logs behind
    "deadline_exceeded": (
        "the run was killed from outside",
        "look for a hang: a firewall between the pods, a dead port, different images",
    ),
    "parser_rejected": (
        "the log is damaged or not in a known form",
        "fetch the raw log of each rank (NCCL_DEBUG_FILE) again, whole, without prefixes, as UTF-8",
    ),
    "placement_mismatch": (
        "both pods ran on one node",
        "require anti-affinity on kubernetes.io/hostname",
    ),
    "topology_mismatch": (
        "this is not one run of two ranks on two nodes",
        "check that nccl-tests was built with MPI=1, and that the logs are those of one run",
    ),
    "untested_nccl_version": (
        "the log form of this NCCL version was not tested",
        "use NCCL %d.%d to %d.%d.%d, or accept others with --accept-untested-nccl"
        % (OLDEST_TESTED[:2] + NEWEST_TESTED),
    ),
    "unknown_network": (
        "the log does not tell what this network plugin uses",
        "set NCCL_NET=IB",
    ),
    "ib_transport_not_proven": (
        "the log does not prove the path",
        "set NCCL_DEBUG=INFO and NCCL_DEBUG_SUBSYS=INIT,BOOTSTRAP,ENV,NET on both ranks, collect both logs whole",
    ),
    "topology_evidence_incomplete": (
        "records of set-up are missing",
        "set NCCL_DEBUG=INFO on both ranks and collect both logs whole",
    ),
    "nccl_warning": (
        "NCCL warned during the run",
        "read the first error; the node may be degraded although the run ended well",
    ),
    "invalid_measurement": (
        "the result table is missing, incomplete or unvalidated",
        "run nccl-tests to its end with -c 1, and keep its whole output",
    ),
    "missing_required_evidence": (
        "what only the launcher and Kubernetes know was not given",
        "give --exit-code of the run and --nodes of the two pods (spec.nodeName)",
    ),
}
OK_REASON = "validation_passed"

# WARN records that prove a failure of set-up or data path. Any other WARN is a doubt. From 2.20 on a record
# of a failed completion holds neither "error" nor "failed", so forms are listed and not guessed from keywords.
HARD_WARNING = re.compile(
    r"Got completion|async fatal event|Got async (?:error|fatal) event|[Aa]sync event ?: port error"
    r"|communicator encountered a fatal error|Call to ibv_|read failed in ncclIbRoceGetVersionNum"
    r"|Attempted to connect incompatible devices|Error: network \S+ not found"
    r"|Failed to initialize any NET plugin"
    r"|[Cc]onnect to \S+ failed|connecting to address|wrong type \d+ != \d+|Connection closed by remote peer"
    r"|Message truncated|no socket interface found|Duplicate GPU detected|Mismatched NCCL version"
    r"|Detected mixed local Net device counts|Failed to execute operation|Proxy Call to rank \d+ failed"
    r"|Cuda failure|[Tt]imeout waiting",
    re.A,
)
BENIGN_WARNING = re.compile(r"NET/IB ?: (?:\S+ )?Got async event ?: client reregistration", re.A)


class Request(NamedTuple):
    """What was asked for, and what only the launcher and Kubernetes know. None means not known."""

    link_layer: str = "InfiniBand"
    accept_untested_nccl: bool = False
    exit_code: Optional[int] = None
    nodes: Optional[Tuple[str, ...]] = None
    min_busbw: Optional[float] = None  # GB/s


# ----------------------------------------------------------------------------------------------------
# Lines: bytes -> text, with every kind of damage named
# ----------------------------------------------------------------------------------------------------

MAX_LINE = 64 * 1024
ANSI = re.compile(r"\x1b\[[0-9;?]{0,32}[A-Za-z]")
CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


class Line(NamedTuple):
    number: int
    text: str
    damage: str  # empty when the line is sound; the text of a damaged line may be empty


def read_lines(stream: BinaryIO) -> Iterator[Line]:
    """The lines of one file in constant memory, decoded strictly, without ANSI codes and line ends."""
    number = 0
    while True:
        raw = stream.readline(MAX_LINE)
        if not raw:
            return
        number += 1
        if number == 1:
            if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
                yield Line(1, "", "begins UTF-16 text, only UTF-8 is read")
                return
            if raw[:3] == b"\xef\xbb\xbf":
                raw = raw[3:]
        if raw[-1:] != b"\n":
            if len(raw) >= MAX_LINE - 3:
                while raw and raw[-1:] != b"\n":
                    raw = stream.readline(MAX_LINE)
                yield Line(number, "", "is longer than %d bytes" % MAX_LINE)
                continue
            yield Line(number, clean(raw)[0], "does not end with a newline")
            continue
        yield Line(number, *clean(raw))


def clean(raw: bytes) -> Tuple[str, str]:
    """(text, damage) of one raw line."""
    try:
        text = raw.decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError:
        return "", "holds bytes that are not UTF-8"
    if "\x1b" in text:
        text = ANSI.sub("", text)
    if not text.isprintable() and CONTROL.search(text):
        return "", "holds control characters"
    return text, ""


# ----------------------------------------------------------------------------------------------------
# Records: one line -> one record of NCCL or one line of nccl-tests. Every form is matched whole.
# ----------------------------------------------------------------------------------------------------


class Record(NamedTuple):
    host: str
    pid: str
    level: str
    message: str
    size: int  # characters of the record itself, to recognise NCCL's own cut at 1023
    loc: str


class TestLine(NamedTuple):
    kind: str
    match: "re.Match[str]"


ORIGIN = r"[A-Za-z0-9_-]{1,255}:\d{1,10}:\d{1,10} \[\d{1,5}\]"
RECORD = re.compile(
    r"([A-Za-z0-9_-]{1,255}):(\d{1,10}):\d{1,10} (\[\d{1,5}\] )?"
    r"(?:\d{1,12}\.\d{1,9} )?(?:([\w./-]{1,200}:\d{1,6})(?: \([\w:~]{1,200}\))? )?"
    r"NCCL (INFO|WARN|ABORT|TRACE|CALL) (.+)",
    re.A,
)
SECOND_ORIGIN = re.compile(r":\d{1,10}:\d{1,10} \[\d{1,5}\]", re.A)
RECORD_START = re.compile(r"(?<= )" + ORIGIN + " ", re.A)

# Since 2.26 a timestamp of free form may stand before the host. It is accepted when it is made of numbers,
# names of the calendar and separators only: words before a record are how text pretends to be one.
CLOCK = re.compile(r"\d\d:\d\d|\d{4}-\d\d-\d\d|\d{10}", re.A)
TIMESTAMP = re.compile(
    r"(?:[\s\[\](),;/_.:+-]|\d{1,19}(?!\d)[TZ]?|Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|Mon|Tue|Wed|Thu|Fri|Sat|Sun"
    r"|January|February|March|April|June|July|August|September|October|November|December"
    r"|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|AM|PM|UTC|GMT|[CEMPW]E?[SD]?T){1,48}",
    re.A,
)

OUTER_PREFIX = re.compile(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d):?(?: |\Z)"  # kubectl logs --timestamps
    r"|\[(?:[\w.-]{1,100}@)?\d{1,9},\d{1,9}\]<std(?:out|err|diag)>:(?: |\Z)?"  # mpirun --tag-output
    r"|\(\w{1,80} pid=\d{1,10}(?:, ip=[\w.:]{1,45})?\) "  # Ray
    r"|\[[a-z]{1,20}\d{1,6}\]:(?: |\Z)?"  # torch: role and rank
    r"|\[pod/[\w./-]{1,300}\](?: |\Z)"  # kubectl logs --prefix
    r"|\d{1,6}:(?: |\Z)|\[\d{1,6}\] "  # srun -l, rcall
    r"|(?P<pdsh>[A-Za-z0-9][\w.-]{0,252}):(?: |\Z)|\[(?P<tag>[A-Za-z0-9][\w.-]{0,252})\]: ?",  # pdsh
    re.A,
)
MAX_PREFIXES = 4
MAX_TIMESTAMP = 80

_ROW_GROUP = r" {1,12}(\S{1,15}) {1,8}(\S{1,12}) {1,8}(\S{1,12}) {1,8}(\S{1,12})"
ROW_HEAD = r" {0,12}(\d{1,15}) {1,14}(\d{1,15}) {1,10}([a-z]\w{1,11}) {1,8}([a-z]\w{0,11})(?: {1,8}(-?\d{1,6}))?"
ROW_HEAD_WIDTH = 52  # %12li  %12li  %8s  %6s  %6s, without root 44
ROW_GROUP_WIDTHS = (0, 32, 33)  # a group of out-of-place figures, before and after the wider #wrong of 2.17
ROW_PART = re.compile(ROW_HEAD + "(?:" + _ROW_GROUP.replace("(", "(?:") + ")?", re.A)

TEST_LINES: Tuple[Tuple[str, "re.Pattern[str]"], ...] = tuple(
    (kind, re.compile(form, re.A))
    for kind, form in (
        ("row", ROW_HEAD + _ROW_GROUP + _ROW_GROUP + r" {0,4}"),
        ("blank", r"#?\s*"),
        (
            "device",
            r"# {1,4}Rank {1,4}(\d{1,6})(?: {1,3}Group {1,4}(\d{1,6}))? {1,3}Pid {1,10}(\d{1,10}) on {1,20}"
            r"([A-Za-z0-9._-]{1,255}) device {1,4}\d{1,4} \[[0-9a-fA-Fx:.]{1,16}\]"
            r"(?: \S{1,60}){1,12} ?",  # a name, never the rest of a row behind a torn one
        ),
        (
            "header",
            r"# nThread \d{1,4} nGpus (\d{1,4}) minBytes (\d{1,15}) maxBytes (\d{1,15}) step: (\d{1,15})"
            r"\((factor|bytes)\) warmup iters: \d{1,9} iters: \d{1,9}(?: agg iters: \d{1,9})?"
            r" validation: (\d{1,9})"
            r"(?: [a-z][a-z_ ]{1,24}: \d{1,9}){0,6} ?",
        ),
        ("using", r"# Using devices"),
        ("columns", r"# {1,100}out-of-place {1,60}in-place {0,60}"),
        (
            "columns",
            r"# {1,20}size {1,20}count {1,20}type {1,20}redop(?: {1,20}(root))?"
            r" {1,20}time {1,20}algbw {1,20}busbw {1,20}(#wrong|error)"
            r" {1,20}time {1,20}algbw {1,20}busbw {1,20}\2 {0,60}",
        ),
        (
            "columns",
            r"# {1,20}\(B\) {1,20}\(elements\) {1,60}\(us\) {1,20}\(GB/s\) {1,20}\(GB/s\) {1,60}\(us\) {1,20}"
            r"\(GB/s\) {1,20}\(GB/s\) {0,60}",
        ),
        ("bounds", r"(?:(#) | ?)Out of bounds values {1,20}: (\d{1,18}) (OK|FAILED) ?"),
        ("average", r"(?:(#) | ?)Avg bus bandwidth {1,20}: (\S{1,24}) {0,4}(OK|FAILED)? ?"),
        ("version", r"NCCL version (\d{1,3}\.\d{1,3}(?:\.\d{1,5})?)[\w.+-]{0,60}"),
        ("rccl", r"RCCL version.{0,200}"),
        ("tests", r"# nccl-tests version (\S{1,40}) nccl-headers=(\d{4,7}) nccl-library=(\d{4,7})"),
        ("starting", r"# Collective test starting: (\w{1,60})"),
        ("concluded", r"# Collective test concluded: (\w{1,60})"),
        ("lasterror", r"# error: ?(.{0,400})"),
        ("reduced", r"# Reducing maxBytes to \d{1,15} due to memory limitation"),
        (
            "failure",
            r"\S{1,255}: Test (?:NCCL|CUDA|MPI) failure .{1,600}|\S{1,255}: Test timeout .{1,200}"
            r"| {0,4}\.\. \S{1,255} pid \d{1,10}: Test failure .{1,200}"
            r"|mlx5: \S{1,255}: got completion with error:"
            r"|mpirun detected that one or more processes exited with non-zero status.{0,80}"
            r"|(?:mpirun|prterun) noticed that process rank .{1,300}exited on signal.{1,80}"
            r"|\[E [\w.:/ -]{1,200}\].{0,80}Watchdog caught collective operation timeout.{0,600}"
            r"|Segmentation fault(?: \(core dumped\))?|\[\S{1,200}:\d{1,9}\] Signal: .{1,100}",
        ),
        (
            "exit",
            r" {0,4}Exit code: {1,8}(\d{1,3})|srun: error: .{1,200}: Exited with exit code (\d{1,3})"
            r"|command terminated with exit code (\d{1,3})",
        ),
        ("json", r"\{\"version\":\d{1,3},.{0,65536}"),
        (
            "noise",
            r"-{20,200}|={20,200}|the job to be terminated\. The first process to do so was:"
            r"| {0,4}Process name: \[\[\d+,\d+\],\d+\]|[0-9a-f]{8}(?: [0-9a-f]{8}){3}"
            r"|Warning: Permanently added .{1,300} to the list of known hosts\.|Defaulted container .{1,500}"
            r"|(?:Authorization required, but no authorization|No) protocol specified",
        ),
    )
)


Parsed = Tuple[Optional[Record], Optional[TestLine], str]  # the string: a part of a table row before the record


def parse(text: str, row_part: str = "") -> Optional[Parsed]:
    """One line without the prefixes of launchers, or None when its form is not known.

    `row_part` is the beginning of a table row that a record interrupted: the line may be its continuation.
    """
    named = ""
    for _ in range(MAX_PREFIXES + 1):
        found = (parse_bare(row_part + text) if row_part else None) or parse_bare(text)
        if found is not None:
            # a "name: " in front of a record is a launcher's prefix only when it names the record's own host
            if named and found[0] is not None and found[0].host != named.split(".")[0]:
                return None
            return found
        prefix = OUTER_PREFIX.match(text)
        if prefix is None:
            return None
        named = prefix["pdsh"] or prefix["tag"] or named
        text = text[prefix.end() :]
    return None


def parse_bare(text: str) -> Optional[Parsed]:
    record = parse_record(text)
    if record is not None:
        return record, None, ""
    for kind, form in TEST_LINES:
        match = form.fullmatch(text)
        if match is not None:
            if kind != "failure" and is_torn(text):
                return None
            return None, TestLine(kind, match), ""
    if " NCCL " not in text:
        return None
    start = RECORD_START.search(text)
    if start is not None and start.start() <= MAX_TIMESTAMP:
        end = start.start()
        if CLOCK.search(text, 0, end) and TIMESTAMP.fullmatch(text, 0, end):
            record = parse_record(text[end:])
            return None if record is None else (record, None, "")
    return parse_interrupted_row(text)


def parse_record(text: str) -> Optional[Record]:
    match = RECORD.fullmatch(text)
    if match is None:
        return None
    host, pid, device, loc, level, message = match.groups()
    if device is None and level != "CALL":
        return None
    message = message.rstrip(" ")
    if not message or is_torn(message):
        return None
    return Record(host, pid, level, message, len(text), loc or "")


def is_torn(text: str) -> bool:
    """Whether a second record stands in the text of the first: torn, glued, or counted together by Ray."""
    if "NCCL INFO" in text or "NCCL WARN" in text or "[repeated " in text:
        return True
    return SECOND_ORIGIN.search(text) is not None


def parse_interrupted_row(text: str) -> Optional[Parsed]:
    """A row of the table is written in pieces of fixed width, and a record can stand between two of them."""
    for width in ROW_GROUP_WIDTHS:
        cut = ROW_HEAD_WIDTH + width
        if ROW_PART.fullmatch(text[:cut]):
            record = parse_record(text[cut:])
            if record is not None:
                return record, None, text[:cut]
    return None


# ----------------------------------------------------------------------------------------------------
# Messages of NCCL that carry facts
# ----------------------------------------------------------------------------------------------------

# 2.4 prints no [label] behind a rank, 2.5 to 2.6 print Ring, and the connection behind the channel is from 2.12
_CHANNEL, _LABELLED = r"(?P<channel>\d\d|[1-9]\d\d)", r"(?P<source>0|[1-9]\d{0,5})%s -> (?P<target>0|[1-9]\d{0,5})%s"
_LABELS = _LABELLED % (r"\[(?P<source_label>[0-9a-f]{1,8})\]", r"\[(?P<target_label>[0-9a-f]{1,8})\]")
_TAIL = r" (?:\[(?P<way>send|receive)\] )?via (?P<via>.+)"
CHANNEL = re.compile(
    r"(?P<word>Channel|Ring) " + _CHANNEL + r"(?:(?<!Ring ..)/(?P<connection>\d))? : " + _LABELS + _TAIL, re.A
)
CHANNEL_2_4 = re.compile(r"(?P<word>Ring) " + _CHANNEL + " : " + _LABELLED % ("", "") + _TAIL, re.A)
VIA_NET = re.compile(
    r"NET/([A-Za-z][\w ]{0,40})/(0|[1-9]\d{0,3})(?:\((\d{1,6})\))?(/GDRDMA(?:\(PCI\))?)?(/Shared)?", re.A
)
VIA_MNNVL = re.compile(r"P2P/MNNVL(?:/[\w/]{1,20})?", re.A)
VIA_LOCAL = re.compile(
    r"P2P/(?:IPC|direct pointer|CUMEM|indirect/\d{1,6}\[[0-9a-f]{1,8}\])(?:/read)?(?:/CE)?"
    r"|direct shared memory|SHM/(?:direct|CE)(?:/(?:direct|CE))?",
    re.A,
)
RING_LIST = re.compile(r"Channel \d{2,3}/(\d{2,3}) :[ \d]{1,2000}(?:\.\.\.)?", re.A)
GRAPH_RING = re.compile(r"Ring \d{2,3} : -?\d{1,6} -> -?\d{1,6} -> -?\d{1,6}", re.A)
COMM = re.compile(
    r"(?:\[Rank \d{1,6}\] )?(?:(nccl\w{1,40}) )?comm (0x[0-9a-f]{1,16}) rank (\d{1,6}) nranks (\d{1,6})"
    r" cudaDev \d{1,4}"
    r"( nvmlDev \d{1,4})?( busId [0-9a-f]{1,8})?(?: commId (0x[0-9a-f]{1,16}))? - Init (START|COMPLETE)",
    re.A,
)
INIT_WORDS = re.compile(r"- Init |Init (?:START|COMPLETE)\b", re.A)
NODES = re.compile(
    r"comm 0x[0-9a-f]{1,16} rank (\d{1,6}) nRanks (\d{1,6}) nNodes (\d{1,6}) localRanks (\d{1,6})"
    r" localRank (\d{1,6}) MNNVL (\d{1,3})",
    re.A,
)
CHANNELS = re.compile(
    r"(\d{1,4}) coll channels, (?:\d{1,4} (?:collnet|nvls) channels, ){0,2}(\d{1,4}) p2p channels,"
    r" (\d{1,4}) p2p channels per peer",
    re.A,
)
# Words of a channel or of the chosen network where no such record begins: torn, or made to look like one.
TRANSPORT_WORDS = re.compile(
    r" via |via (?:NET|P2P|SHM|COLLNET|direct)\b|.Using network|.- Init (?:START|COMPLETE).", re.A
)
USING_NETWORK = re.compile(r"Using network ([A-Za-z][\w ]{0,40})", re.A)
IB_LIST = re.compile(r"NET/IB : Using ((?:\[| ?;).*)", re.A)
IB_PORT = re.compile(r"([A-Za-z][\w.-]{0,63}):(\d{1,3})(?::\d{0,4}(?::\d{0,4})?)?/(IB|RoCE)(?:/SHARP)?", re.A)
IB_ITEM = re.compile(r"\[(0|[1-9]\d{0,3})\](?:" + IB_PORT.pattern + r"|=\{([^{}]{1,400})\})", re.A)
IB_END = re.compile(r"(?:\[RO\])? ?; OOB ?\S{0,100}(?: ?:)?", re.A)
VIRTUAL = re.compile(r"NET/IB ?: Made virtual device \[(\d{1,4})\] name=([\w.+-]{1,300}) .{0,200}", re.A)
QUEUE_PAIR = re.compile(
    r"NET/IB ?: NCCL Dev (\d{1,4}) IbDev \d{1,4} Port \d{1,3} qpn \d{1,10} mtu \d{1,2} (LID|GID) .{1,300}",
    re.A,
)
ENVIRONMENT = re.compile(r"(NCCL_[A-Z0-9_]{1,60}) set (?:by environment )?to (.{0,200})", re.A)
BACKTRACE = re.compile(r"([\w./-]{1,200}):\d{1,6}(?: \([\w:~]{1,200}\))? -> (\d{1,3})(?: \[.{1,60}\])?", re.A)
RECORD_VERSION = re.compile(r"NCCL version (\d{1,3}\.\d{1,3}(?:\.\d{1,5})?)[\w.+-]{0,60}", re.A)
PLUGIN = re.compile(r"NET/Plugin|Plugin Path|P2P plugin", re.A)
ASSIGNED = re.compile(r"Assigned NET plugin ([A-Za-z][\w ]{0,40}?) to comm", re.A)
DENIED = (  # what NCCL's own NET/IB cannot have said and still have been used
    re.compile(r"NET/IB ?: No device found", re.A),
    re.compile(r"Failed to open libibverbs", re.A),
    re.compile(r"NCCL_IB_DISABLE set (?:by environment )?to (?!0\.?$)", re.A),
    re.compile(r"NCCL_NET set (?:by environment )?to \"?(?:Socket|UCX|Libfabric|AWS Libfabric)\b", re.A),
)
DEGRADED = re.compile(
    r"Got completion|Replacing QP|permanently failed|Port recovery|marked as failed|[Aa]sync (?:\w+ )?event", re.A
)
CAUSES = (  # INFO records that explain a fallback
    (re.compile(r"Failed to open libibverbs", re.A), "libibverbs is missing in the image"),
    (re.compile(r"NET/IB ?: No device found", re.A), "NCCL found no InfiniBand device in the pod"),
    (re.compile(r"NCCL_IB_DISABLE set (?:by environment )?to [^0]", re.A), "NCCL_IB_DISABLE is set"),
    (re.compile(r"NCCL_NET set (?:by environment )?to Socket", re.A), "NCCL_NET=Socket is set"),
    (re.compile(r"NCCL_DEBUG_SUBSYS set", re.A), "NCCL_DEBUG_SUBSYS is set and may hide records"),
)


class Port(NamedTuple):
    name: str
    port: int
    link: str  # "InfiniBand" or "RoCE"


class Via(NamedTuple):
    network: str
    device: int  # index into the device list of the process that printed the record
    gdr: bool


LINK = {"IB": "InfiniBand", "RoCE": "RoCE", "LID": "InfiniBand", "GID": "RoCE"}


def parse_ib_list(text: str) -> Tuple[Dict[int, Tuple[Port, ...]], bool]:
    """The device list of `NET/IB : Using …` as index -> ports, and whether its end was reached.

    An item counts only when the next one or the end of the list follows: a cut item is never read short.
    """
    devices: Dict[int, Tuple[Port, ...]] = {}
    position = 0
    while True:
        if IB_END.fullmatch(text, position):
            return devices, True
        item = IB_ITEM.match(text, position)
        if item is None:
            return devices, False
        end = item.end()
        if text[end : end + 1] == " ":
            end += 1
        elif text[end : end + 1] != ";":
            return devices, False
        if item[5] is not None:  # {[0] mlx5_0:1/IB, [1] mlx5_1:1/IB}
            ports = tuple(Port(m[1], int(m[2]), LINK[m[3]]) for m in IB_PORT.finditer(item[5]))
        else:
            ports = (Port(item[2], int(item[3]), LINK[item[4]]),)
        if not ports or int(item[1]) != len(devices):
            return devices, False
        devices[len(devices)] = ports
        position = end


# ----------------------------------------------------------------------------------------------------
# Evidence: what one process said, and what the result table says
# ----------------------------------------------------------------------------------------------------

MAX_PROCESSES = 32
MAX_KEYS = 4096  # channel keys, devices, rows: far above any real run, so that a hostile log cannot fill memory


class Process:
    """Everything one process printed that counts. Processes are told apart by host, pid and file."""

    def __init__(self, host: str, pid: str, file: str) -> None:
        self.host, self.pid, self.file = host, pid, file
        self.networks: List[str] = []
        self.devices: Dict[int, Tuple[Port, ...]] = {}
        self.device_lists = 0
        self.device_list_cut = ""
        self.virtual: Dict[int, str] = {}
        self.queue_pairs: Dict[int, str] = {}
        self.comms: List[Dict[str, Any]] = []
        self.nodes: List[Tuple[int, ...]] = []
        self.counts: List[Tuple[int, int]] = []
        self.channels: Dict[Tuple[int, int, str, int, int], Via] = {}  # connection, channel, direction, from, to
        self.versions: List[str] = []
        self.plugins: List[str] = []
        self.settings: Dict[str, str] = {}  # NCCL_… as NCCL itself read them
        self.socket_listed = False
        self.denied = ""  # what it said that speaks against NET/IB

    def complete(self) -> List[Dict[str, Any]]:
        return [comm for comm in self.comms if comm["phase"] == "COMPLETE"]

    @property
    def rank(self) -> int:
        done = self.complete()
        return done[0]["rank"] if len(done) == 1 else -1

    def ports(self, index: int) -> Tuple[Port, ...]:
        """The ports behind `via NET/IB/<index>`; empty when the log does not say."""
        if index in self.virtual:
            known = [port for ports in self.devices.values() for port in ports]
            found: List[Port] = []
            for name in self.virtual[index].split("+"):
                matching = [port for port in known if port.name == name]
                if not matching:
                    return ()
                found += matching
            return tuple(found)
        return self.devices.get(index, ())


class Table:
    """The output of nccl-tests. Its parts must come once and in order."""

    ORDER = (
        "tests",
        "starting",
        "header",
        "using",
        "device",
        "columns",
        "row",
        "bounds",
        "average",
        "concluded",
    )
    FLOAT_LIMIT = {
        "float": 1e-5,
        "half": 1e-2,
        "bfloat16": 1e-2,
        "double": 1e-12,
    }  # of the old `error` column
    NO_IN_PLACE_CHECK = ("alltoall_perf", "sendrecv_perf")

    def __init__(self) -> None:
        self.stage = -1
        self.name = ""
        self.header: Optional[Tuple[int, int, int, str, int, int]] = None  # min, max, step, kind, validation, gpus
        self.devices: Dict[int, Tuple[str, str, str]] = {}  # rank -> host, pid, group
        self.column_lines = 0
        self.has_root, self.wrong_column = False, ""
        self.rows: List[Tuple[int, Tuple[float, ...], Tuple[float, ...]]] = []  # size, (time, algbw, busbw) twice
        self.problems: List[str] = []
        self.wrong: List[str] = []
        self.bounds = self.average = ""
        self.average_failed = False
        self.closed = self.concluded = False
        self.library = ""

    def problem(self, text: str) -> None:
        if len(self.problems) < 8 and text not in self.problems:
            self.problems.append(text)

    def take(self, kind: str, match: "re.Match[str]") -> None:
        """One known line of nccl-tests in the order of the file."""
        if kind in self.ORDER:
            place = self.ORDER.index(kind)
            once = kind not in ("device", "columns", "row")
            if place < self.stage or (place == self.stage and once):
                self.problem("the parts of the result table are out of order or repeated")
            self.stage = max(self.stage, place)
        getattr(self, "take_" + kind, lambda _match: None)(match)

    def take_tests(self, match: "re.Match[str]") -> None:
        self.library = match[3]

    def take_starting(self, match: "re.Match[str]") -> None:
        self.name = match[1]

    def take_concluded(self, match: "re.Match[str]") -> None:
        self.concluded = match[1] == self.name

    def take_header(self, match: "re.Match[str]") -> None:
        gpus, low, high, step, kind, validation = match.groups()
        self.header = (int(low), int(high), int(step), kind, int(validation), int(gpus))

    def take_device(self, match: "re.Match[str]") -> None:
        rank, group, pid, host = match.groups()
        if int(rank) in self.devices or len(self.devices) >= MAX_PROCESSES:
            self.problem("a rank is listed twice")
        else:
            self.devices[int(rank)] = (host.split(".")[0], pid, group or "0")

    def take_columns(self, match: "re.Match[str]") -> None:
        self.column_lines += 1
        if match.re.groups == 2:
            self.has_root, self.wrong_column = match[1] is not None, match[2]

    def take_bounds(self, match: "re.Match[str]") -> None:
        self.bounds = match[3]
        if match[1] != "#":
            self.problem("the footer of the table is not in a known form")
        if match[3] == "FAILED" or match[2].strip("0"):
            self.wrong.append("%s out of bounds values, %s" % (match[2], match[3]))

    def take_average(self, match: "re.Match[str]") -> None:
        self.average = match[2]
        self.average_failed = match[3] == "FAILED"
        if match[1] != "#":
            self.problem("the footer of the table is not in a known form")

    def take_blank(self, match: "re.Match[str]") -> None:
        if self.average and match[0].startswith("#"):
            self.closed = True

    def take_reduced(self, match: "re.Match[str]") -> None:
        self.problem("not all sizes ran: memory was too small")

    def take_row(self, match: "re.Match[str]") -> None:
        cells = match.groups()
        size, kind, root = int(cells[0]), cells[2], cells[4]
        if (root is not None) != self.has_root:
            self.problem("a row does not fit its column titles")
        figures: List[Tuple[float, ...]] = []
        for place, group in (("out-of-place", cells[5:9]), ("in-place", cells[9:13])):
            numbers = tuple(number(cell) for cell in group[:3])
            if not all(math.isfinite(value) and value >= 0 for value in numbers):
                self.problem("a measurement at %d bytes is not a number" % size)
            elif not agree(size, numbers[0], numbers[1]):
                self.problem("time and bandwidth at %d bytes contradict each other" % size)
            figures.append(numbers)
            self.check_wrong(size, kind, place, group[3])
        if len(self.rows) < MAX_KEYS:
            self.rows.append((size, figures[0], figures[1]))
        else:
            self.problem("too many rows")

    def check_wrong(self, size: int, kind: str, place: str, cell: str) -> None:
        if cell == "N/A":
            if not (place == "in-place" and self.name in self.NO_IN_PLACE_CHECK):
                self.problem("the results were not validated (%d bytes, %s)" % (size, place))
            return
        value = number(cell)
        if self.wrong_column == "#wrong" and not re.fullmatch(r"0|[1-9]\d{0,5}|\d(?:\.\d{1,5})?e\+\d\d", cell, re.A):
            value = math.nan
        limit = self.FLOAT_LIMIT.get(kind, 0.0) if self.wrong_column == "error" else 0.0
        if math.isnan(value) and cell.lower() not in ("nan", "-nan"):
            self.problem("a row of the table has an unknown form")
        elif not 0 <= value <= limit and len(self.wrong) < 8:
            self.wrong.append("%s %s at %d bytes, %s" % (cell, self.wrong_column or "wrong", size, place))

    def sizes_asked(self) -> List[int]:
        """The sizes that minBytes, maxBytes and step ask for."""
        if self.header is None:
            return []
        low, high, step, kind, _, _ = self.header
        sizes: List[int] = []
        size = low
        while size <= high and len(sizes) < MAX_KEYS:
            sizes.append(size)
            following = size * step if kind == "factor" else size + step
            if following <= size:
                break
            size = following
        return sizes

    def missing(self) -> List[str]:
        """What a complete, validated table of one run would have and this one has not."""
        lacks = list(self.problems)
        if self.header is None or not self.devices or self.column_lines != 3:
            lacks.append("the head of the result table is missing")
        elif self.header[4] == 0:
            lacks.append("validation was off")
        if not self.rows or not self.bounds or not self.average or not self.closed:
            lacks.append("the result table has no rows or no end")
        if bool(self.name) != self.concluded:
            lacks.append("the test did not conclude")
        if self.rows and not lacks:
            lacks = self.contradictions()
        return lacks

    def contradictions(self) -> List[str]:
        """Figures of one table that cannot all be true: a figure was changed or lost."""
        found: List[str] = []
        asked = self.sizes_asked()
        # all_gather and the like round a size down to whole elements per rank
        if len(asked) != len(self.rows) or any(not 0 <= a - self.rows[i][0] < 256 for i, a in enumerate(asked)):
            found.append("the sizes in the table are not the sizes asked for")
        groups = [group for row in self.rows for group in row[1:]]
        mean = sum(group[2] for group in groups) / len(groups)
        average = number(self.average)
        if not math.isfinite(average) or abs(average - mean) > 0.02 + 0.01 * mean:
            found.append("the average bandwidth does not follow from the rows")
        factors = (1.0, 0.5)  # bus to algorithm bandwidth of two ranks, by collective
        if not any(all(abs(g[2] - f * g[1]) <= 0.011 + 0.001 * g[1] for g in groups) for f in factors):
            found.append("bus bandwidth and algorithm bandwidth contradict each other")
        if self.busbw() <= 0:
            found.append("the bus bandwidth of the largest size is zero")
        return found

    def busbw(self) -> float:
        """Bus bandwidth of the largest size in GB/s, the lower of out-of-place and in-place."""
        if not self.rows:
            return math.nan
        _, out_of_place, in_place = max(self.rows, key=lambda row: row[0])
        return min(out_of_place[2], in_place[2])


def number(text: str) -> float:
    """A finite or infinite float of a plain decimal, else NaN."""
    if not re.fullmatch(r"-?\d{1,18}(?:\.\d{1,12})?(?:e[+-]?\d{1,3})?|-?inf", text, re.A):
        return math.nan
    return float(text)


def agree(size: int, microseconds: float, gigabytes: float) -> bool:
    if microseconds <= 0:
        return False
    expected = size / microseconds / 1000
    return abs(expected - gigabytes) <= 0.011 + 0.006 * expected


# ----------------------------------------------------------------------------------------------------
# Collecting: records -> evidence
# ----------------------------------------------------------------------------------------------------


class Evidence:
    """All logs of one run, read once and in order. Memory does not grow with the length of a log."""

    def __init__(self) -> None:
        self.processes: Dict[Tuple[str, str, str], Process] = {}
        self.too_many = False
        self.table = Table()
        self.failures: Dict[str, List[str]] = {}
        self.doubts: Dict[str, List[str]] = {}
        self.first_error: Optional[Dict[str, Any]] = None
        self.local: List[str] = []  # via P2P or SHM
        self.rings: List[int] = []  # how many channels rank 0 lists: before 2.7 the only count there is
        self.constants: Dict[str, Any] = {}  # what all channel records have in common
        self.versions: List[str] = []
        self.findings: List[str] = []
        self.lines = self.records = 0
        self.row_part = ""
        self.where = ("", 0)

    # -- notes, bounded: the first words per reason are kept

    def fail(self, reason: str, text: str) -> None:
        note(self.failures, reason, text)

    def doubt(self, reason: str, text: str) -> None:
        note(self.doubts, reason, text)

    def finding(self, text: str) -> None:
        if text not in self.findings and len(self.findings) < 16:
            self.findings.append(text)

    def damaged(self, what: str) -> None:
        self.doubt("parser_rejected", "%s line %d %s" % (plain(self.where[0]), self.where[1], what))

    def error(self, text: str, host: str = "") -> None:
        if self.first_error is None:
            self.first_error = {
                "file": self.where[0],
                "line": self.where[1],
                "host": host,
                "text": plain(text),
            }

    # -- reading

    def read(self, file: str, stream: BinaryIO) -> None:
        """One log. Several logs make one run: one per rank, and the output of nccl-tests in any of them."""
        self.row_part = ""
        for line in read_lines(stream):
            self.lines += 1
            self.where = (file, line.number)
            if line.damage:
                self.damaged(line.damage)
            if line.text or not line.damage:
                self.take(line.text)

    def take(self, text: str) -> None:
        found = parse(text, self.row_part)
        if found is None:
            self.damaged("has no known form")
            return
        record, test_line, part = found
        if record is not None:
            self.row_part = part or self.row_part
            self.take_record(record)
        elif test_line is not None:
            if self.row_part and not test_line.match[0].startswith(self.row_part):
                self.damaged("stands where a row of the table goes on")
            self.row_part = ""
            self.take_test_line(test_line)

    def take_test_line(self, line: TestLine) -> None:
        kind, match = line
        if kind == "version":
            remember(self.versions, match[1])
        elif kind == "rccl":
            self.doubt("parser_rejected", "the library is RCCL, not NCCL")
        elif kind == "failure":
            self.error(match[0])
            self.fail("runtime_error", plain(match[0]))
        elif kind == "exit":
            code = int(match[1] or match[2] or match[3])
            if code in DEADLINE_STATUS:
                self.doubt("deadline_exceeded", "the launcher reports exit code %d" % code)
            elif code:
                self.error(match[0])
                self.fail("nonzero_exit", "the launcher reports exit code %d" % code)
        elif kind == "lasterror":
            if match[1].strip():
                self.error(match[0])
                self.doubt("nccl_warning", "nccl-tests ends with an error text")
        elif kind == "json":
            self.take_json(match[0])
        else:
            self.table.take(kind, match)
            if kind == "tests" and match[2] != match[3]:
                self.finding("nccl-tests was built with NCCL headers %s and ran with library %s" % (match[2], match[3]))

    def take_json(self, text: str) -> None:
        """Output of nccl-tests -J: no word about the transport. Its `env` may hold secrets and is not kept."""
        self.doubt("ib_transport_not_proven", "the JSON of nccl-tests holds no transport information")
        if re.search(r'"nwrong":(?!0(?:\.0{1,9})?[,}]|null|"nan")\d|"out_of_bounds":\{"count":[1-9]', text, re.A):
            self.fail("correctness_error", "the JSON of nccl-tests counts wrong values")

    def take_record(self, record: Record) -> None:
        self.records += 1
        key = (record.host, record.pid, self.where[0])
        process = self.processes.get(key)
        if process is None:
            if len(self.processes) >= MAX_PROCESSES:
                self.too_many = True
                return
            process = self.processes[key] = Process(*key)
        if record.level == "INFO":
            self.take_info(process, record)
        elif record.level in ("WARN", "ABORT"):
            self.take_warning(record)

    def take_warning(self, record: Record) -> None:
        message = record.message
        if record.level == "WARN" and BENIGN_WARNING.fullmatch(message):
            self.finding(
                "allowed warning at line %d: client reregistration (the subnet manager restarted)" % self.where[1]
            )
            return
        self.error("%s %s" % (record.loc, message) if record.loc else message, record.host)
        text = "%s: %s" % (record.host, plain(message))
        if record.level == "ABORT" or HARD_WARNING.search(message):
            if message.startswith("Mismatched NCCL version"):
                self.fail("nccl_version_mismatch", text)
            else:
                self.fail("transport_failure", text)
        else:
            self.doubt("nccl_warning", text)

    def take_info(self, process: Process, record: Record) -> None:
        message = record.message
        first = message[0]
        if first in "CR" and message.startswith(("Channel ", "Ring ", "Coll ", "CollNet ")):
            self.take_channel(process, message)
        elif TRANSPORT_WORDS.search(message):
            self.damaged("is a transport record of unknown form")
        elif message.startswith("Using network"):
            self.take_network(process, message)
        elif message.startswith("Assigned NET plugin"):
            self.take_assigned(process, message)
        elif message.startswith("NET/"):
            self.take_net(process, record)
        elif message.startswith("NCCL"):
            self.take_version_or_setting(process, message)
        elif "comm 0x" in message:
            self.take_comm(process, message)
        elif "coll channels" in message:
            match = CHANNELS.fullmatch(message)
            if match is None:
                self.doubt("parser_rejected", "a channel count of unknown form")
            else:
                remember(process.counts, (int(match[1]), int(match[3])), repeat=True)
        elif BACKTRACE.fullmatch(message):
            self.take_backtrace(process, message)
        elif PLUGIN.match(message):
            remember(process.plugins, plain(message))
        elif INIT_WORDS.search(message) or "Using network" in message or "NET/IB : Using" in message:
            self.damaged("holds words of the proof in an unknown form")
        elif DEGRADED.search(message):
            self.error(message, record.host)
            self.doubt("nccl_warning", "%s: %s" % (record.host, plain(message)))
        self.take_cause(process, message)

    def take_cause(self, process: Process, message: str) -> None:
        if message.startswith(("Failed to open", "NET/IB", "NCCL_")):
            for form, cause in CAUSES:
                if form.match(message):
                    self.finding(cause)
            if any(form.match(message) for form in DENIED):
                process.denied = process.denied or plain(message, 100)

    def take_network(self, process: Process, message: str) -> None:
        match = USING_NETWORK.fullmatch(message)
        if match is None:
            self.doubt("parser_rejected", "a network name of unknown form")
            return
        remember(process.networks, match[1], repeat=True)
        self.check_network(match[1], process.host, message)

    def take_assigned(self, process: Process, message: str) -> None:
        match = ASSIGNED.fullmatch(message)
        if match is None:
            self.doubt("parser_rejected", "a plugin of unknown form")
            return
        self.check_network(match[1], process.host, message)

    def check_network(self, name: str, host: str, message: str) -> None:
        if IB_NETWORK.fullmatch(name):
            return
        text = "%s: %s" % (host, plain(message))
        if name == "Socket":
            self.error(message, host)
            self.fail("socket_fallback_observed", text)
        elif OTHER_NETWORK.fullmatch(name):
            self.error(message, host)
            self.fail("other_network_observed", text)
        else:
            self.doubt("unknown_network", text)

    def take_net(self, process: Process, record: Record) -> None:
        message = record.message
        if message.startswith("NET/Plugin"):
            remember(process.plugins, plain(message))
            return
        if message.startswith("NET/Socket") and "Using [" in message:
            process.socket_listed = True
            return
        virtual = VIRTUAL.fullmatch(message)
        if virtual is not None:
            if len(process.virtual) < MAX_KEYS:
                process.virtual[int(virtual[1])] = virtual[2]
            return
        pair = QUEUE_PAIR.fullmatch(message)
        if pair is not None:
            index, link = int(pair[1]), LINK[pair[2]]
            if len(process.queue_pairs) < MAX_KEYS:
                known = process.queue_pairs.setdefault(index, link)
                if known != link:
                    process.queue_pairs[index] = "mixed"
            return
        listed = IB_LIST.fullmatch(message)
        if listed is not None:
            process.device_lists += 1
            process.devices, whole = parse_ib_list(listed[1])
            if not whole:
                cut_by_nccl = 1000 <= record.size <= 1024
                process.device_list_cut = "by NCCL at 1023 bytes" if cut_by_nccl else "in transit"
            return
        if DEGRADED.search(message):
            self.error(message, record.host)
            self.doubt("nccl_warning", "%s: %s" % (record.host, plain(message)))

    def take_version_or_setting(self, process: Process, message: str) -> None:
        version = RECORD_VERSION.fullmatch(message)
        if version is not None:
            remember(process.versions, version[1])
            return
        setting = ENVIRONMENT.fullmatch(message)
        if setting is None:
            return
        if len(process.settings) < 64:
            process.settings[setting[1]] = plain(setting[2].rstrip("."), 100)
        if setting[1] == "NCCL_HOSTID":
            self.doubt("topology_mismatch", "NCCL_HOSTID is set, so NCCL's count of nodes means nothing")

    def take_comm(self, process: Process, message: str) -> None:
        match = COMM.fullmatch(message)
        if match is not None:
            function, comm, rank, size, nvml, bus, comm_id, phase = match.groups()
            form = (bool(function), bool(nvml), bool(bus), bool(comm_id))
            fields = {
                "comm": comm,
                "rank": int(rank),
                "size": int(size),
                "id": comm_id,
                "phase": phase,
                "form": form,
            }
            remember(process.comms, fields, repeat=True)
            return
        match = NODES.fullmatch(message)
        if match is not None:
            remember(process.nodes, tuple(int(group) for group in match.groups()), repeat=True)
        elif INIT_WORDS.search(message) or " nNodes " in message:
            self.damaged("is a communicator record of unknown form")
        elif message.endswith("Abort COMPLETE"):
            self.doubt("nccl_warning", "%s: the communicator was aborted" % process.host)

    def take_backtrace(self, process: Process, message: str) -> None:
        match = BACKTRACE.fullmatch(message)
        if match is not None and match[1] == "net.cc" and match[2] == "3" and not process.networks:
            self.finding(
                "allowed backtrace at line %d: a network plugin refused itself before one was chosen" % self.where[1]
            )
            return
        self.error(message, process.host)
        self.doubt("nccl_warning", "%s: backtrace %s" % (process.host, plain(message)))

    def take_channel(self, process: Process, message: str) -> None:
        match = CHANNEL.fullmatch(message) or CHANNEL_2_4.fullmatch(message)
        if match is not None:
            net = VIA_NET.fullmatch(match["via"])
            if net is None:
                self.take_other_path(process, message, match["via"])
            else:
                self.check_network(net[1], process.host, message)
                self.take_net_channel(process, match.groupdict(), net)
        elif message.startswith("Coll"):
            self.doubt(
                "ib_transport_not_proven",
                "%s: a CollNet channel, the reduction may run in the switch" % process.host,
            )
        else:
            rings = RING_LIST.fullmatch(message)
            if rings is not None:
                remember(self.rings, int(rings[1]))
            elif not GRAPH_RING.fullmatch(message):
                self.damaged("is a channel record of unknown form")

    def take_net_channel(self, process: Process, channel: Dict[str, Optional[str]], net: "re.Match[str]") -> None:
        """A channel over a network. All of them have one form, and one label for each rank."""
        network, device, proxy, gdr, _ = net.groups()
        source, target, way = int(channel["source"] or 0), int(channel["target"] or 0), channel["way"] or ""
        connection = channel.get("connection")
        same = self.same("form", (channel["word"], connection is None))
        for rank, label in ((source, channel.get("source_label")), (target, channel.get("target_label"))):
            same = self.same("label of rank %d" % rank, label) and same
        if not same:
            self.damaged("is a channel record unlike the others")
        if proxy is not None or not way:
            self.doubt(
                "ib_transport_not_proven",
                "%s: a channel over another rank's proxy, or without a direction" % process.host,
            )
        key = (int(connection or 0), int(channel["channel"] or 0), way, source, target)
        if key in process.channels:
            self.doubt(
                "topology_mismatch",
                "%s printed a channel twice: two communicators, or a repeated log" % process.host,
            )
        elif len(process.channels) < MAX_KEYS:
            process.channels[key] = Via(network, int(device), gdr is not None)
        else:
            self.doubt("topology_mismatch", "%s printed too many channels" % process.host)

    def same(self, what: str, value: Any) -> bool:
        """Whether this is the value that was seen before."""
        if len(self.constants) >= MAX_PROCESSES and what not in self.constants:
            return False
        return bool(self.constants.setdefault(what, value) == value)

    def take_other_path(self, process: Process, message: str, via: str) -> None:
        text = "%s: %s" % (process.host, plain(message))
        if VIA_MNNVL.fullmatch(via):
            self.error(message, process.host)
            self.fail("nic_bypassed", text)
        elif VIA_LOCAL.fullmatch(via):
            self.error(message, process.host)
            if len(self.local) < 8:
                self.local.append(text)
        else:
            self.damaged("is a transport of unknown form")


def note(notes: Dict[str, List[str]], reason: str, text: str) -> None:
    words = notes.setdefault(reason, [])
    if len(words) < 4 and text not in words:
        words.append(text)


def remember(items: List[Any], item: Any, repeat: bool = False) -> None:
    """Keep a few: what comes once in a healthy run needs no more than proof that it came more often."""
    if len(items) < 16 and (repeat or item not in items):
        items.append(item)


def plain(text: str, limit: int = 240) -> str:
    """Log text fit for a report: printable ASCII, bounded, and nothing that looks like a credential."""
    text = "".join(c if " " <= c <= "~" else "?" for c in text[: limit * 2])
    text = re.sub(
        r"(?i)\b([\w-]*(?:token|secret|password|passwd|apikey|api_key|credential)[\w-]*)(\s*[=:]\s*)\S+",
        r"\1\2[removed]",
        text,
    )
    text = re.sub(r"(?i)\b(bearer|basic)\s+\S{8,}", r"\1 [removed]", text)
    return text if len(text) <= limit else text[: limit - 3] + "..."


# ----------------------------------------------------------------------------------------------------
# Decision
# ----------------------------------------------------------------------------------------------------


class Verdict(NamedTuple):
    outcome: str
    reason: str
    reasons: List[str]
    message: str
    facts: Dict[str, Any]

    def as_dict(self) -> Dict[str, Any]:
        return dict(self._asdict(), parser={"name": NAME, "version": VERSION})


def judge(logs: Iterable[Tuple[str, BinaryIO]], request: Request) -> Verdict:
    """The verdict over the logs of one run, given as (name, binary stream)."""
    evidence = Evidence()
    for name, stream in logs:
        evidence.read(name, stream)
    return decide(evidence, request)


def decide(evidence: Evidence, request: Request) -> Verdict:
    """Any failure proven: failed. Else any doubt: unknown. Else passed."""
    ranks = check_processes(evidence)
    check_versions(evidence, request, ranks)
    check_topology(evidence, ranks)
    check_channels(evidence, ranks)
    check_devices(evidence, request, ranks)
    check_table(evidence, request, ranks)
    check_request(evidence, request)
    facts = describe(evidence, request, ranks)
    for outcome, order, notes in ((FAILED, FAILURES, evidence.failures), (UNKNOWN, DOUBTS, evidence.doubts)):
        reasons = [reason for reason in order if reason in notes]
        if reasons:
            others = [reason for reason in DOUBTS if reason in evidence.doubts] if outcome == FAILED else []
            facts["why"] = {reason: notes[reason] for reason in reasons}
            facts["doubts"] = {reason: evidence.doubts[reason] for reason in others}
            facts["next"] = [order[reason][1] for reason in reasons]
            message = "%s (%s)" % (order[reasons[0]][0], notes[reasons[0]][0])
            return Verdict(outcome, reasons[0], reasons, message, facts)
    facts["next"] = []
    return Verdict(PASSED, OK_REASON, [OK_REASON], sentence(facts), facts)


def check_processes(evidence: Evidence) -> List[Process]:
    """The two processes in the order of their ranks; empty when there are not exactly two with a rank each."""
    processes = list(evidence.processes.values())
    hosts = {process.host for process in processes}
    if evidence.local:
        if len(hosts) > 1:
            evidence.fail("nic_bypassed", evidence.local[0])
        else:
            evidence.doubt("topology_mismatch", "both ranks are on one host: " + evidence.local[0])
    if not evidence.records:
        evidence.doubt("ib_transport_not_proven", "no record of NCCL in the log")
        return []
    if len(processes) != 2 or len(hosts) != 2 or evidence.too_many:
        evidence.doubt(
            "topology_mismatch",
            "%d processes on %d hosts instead of two on two" % (len(processes), len(hosts)),
        )
        return []
    if any(len(process.complete()) == 0 for process in processes):
        evidence.doubt("topology_evidence_incomplete", "a rank has no Init COMPLETE")
        return []
    if any(len(process.complete()) > 1 for process in processes):
        evidence.doubt("topology_mismatch", "more than one communicator")
        return []
    if sorted(process.rank for process in processes) != [0, 1]:
        evidence.doubt("topology_mismatch", "the ranks are not 0 and 1")
        return []
    return sorted(processes, key=lambda process: process.rank)


def version_of(text: str) -> Tuple[int, int, int]:
    numbers = [int(part) for part in text.split(".")] + [0]
    return (numbers[0], numbers[1], numbers[2])


def versions_seen(evidence: Evidence) -> List[str]:
    seen: List[str] = list(evidence.versions)
    for process in evidence.processes.values():
        seen += [version for version in process.versions if version not in seen]
    return seen


def check_versions(evidence: Evidence, request: Request, ranks: List[Process]) -> None:
    seen = versions_seen(evidence)
    if not seen:
        evidence.doubt("untested_nccl_version", "the log does not say which NCCL version ran")
        return
    if len(seen) > 1:
        if ranks and all(len(process.versions) == 1 for process in ranks):
            evidence.fail("nccl_version_mismatch", "NCCL versions " + ", ".join(seen))
        else:
            evidence.doubt("topology_mismatch", "NCCL versions " + ", ".join(seen))
    versions = [version_of(text) for text in seen]
    if not request.accept_untested_nccl and not all(OLDEST_TESTED <= v <= NEWEST_TESTED for v in versions):
        evidence.doubt("untested_nccl_version", "NCCL " + ", ".join(seen))
    if max(versions) >= VERSION_ON_EVERY_RANK and any(len(process.versions) != 1 for process in ranks):
        evidence.doubt("topology_evidence_incomplete", "a rank does not say which NCCL version it ran")
    library = evidence.table.library
    if library and len(seen) == 1 and int(library) != versions[0][0] * 10000 + versions[0][1] * 100 + versions[0][2]:
        evidence.doubt("topology_mismatch", "nccl-tests ran with library %s, the log says NCCL %s" % (library, seen[0]))
    if len(ranks) == 2:
        first, second = ({text.rstrip(". ") for text in process.plugins} for process in ranks)
        if first and second and first != second:
            evidence.doubt("topology_mismatch", "the ranks describe their network plugins differently: two images?")


def check_topology(evidence: Evidence, ranks: List[Process]) -> None:
    if not ranks:
        return
    done = [process.complete()[0] for process in ranks]
    if any(comm["size"] != 2 for comm in done):
        evidence.doubt("topology_mismatch", "the communicator does not have two ranks")
    if done[0]["id"] != done[1]["id"] or done[0]["form"] != done[1]["form"]:
        evidence.doubt("topology_mismatch", "the two ranks are not in one communicator")
    for process in ranks:
        comm = done[process.rank]
        starts = [c for c in process.comms if c["phase"] == "START"]
        if len(starts) > 1 or any(s[k] != comm[k] for s in starts for k in ("comm", "rank", "size", "id")):
            evidence.doubt("topology_mismatch", "rank %d began and completed different communicators" % process.rank)
        expected = (process.rank, 2, 2, 1, 0, 0)
        if len(process.nodes) > 1 or any(nodes != expected for nodes in process.nodes):
            evidence.doubt("topology_mismatch", "rank %d does not count two nodes with one rank each" % process.rank)
        newest = max([version_of(text) for text in versions_seen(evidence)] or [(0, 0, 0)])
        if not process.nodes and newest >= NODE_COUNT_PRINTED:
            evidence.doubt("topology_evidence_incomplete", "rank %d has no record of its node count" % process.rank)
    listed = evidence.table.devices
    if listed:
        if set(listed) != {0, 1} or len({group for _, _, group in listed.values()}) != 1:
            evidence.doubt("topology_mismatch", "nccl-tests does not list one group of two ranks")
        elif any(listed[process.rank][:2] != (process.host, process.pid) for process in ranks):
            evidence.doubt("topology_mismatch", "the result table lists other processes than NCCL's log")


def check_channels(evidence: Evidence, ranks: List[Process]) -> None:
    """Every channel there is, in both directions, printed by both ranks, over the network that was chosen."""
    if not ranks:
        if evidence.records and not any(process.channels for process in evidence.processes.values()):
            evidence.doubt("ib_transport_not_proven", "no channel record")
        return
    version = max([version_of(text) for text in versions_seen(evidence)] or [(0, 0, 0)])
    for process in ranks:
        if len(process.networks) != 1 and not (version < (2, 6, 0) and not process.networks):
            evidence.doubt(
                "ib_transport_not_proven",
                "rank %d says %d times which network it uses" % (process.rank, len(process.networks)),
            )
        if process.socket_listed and version >= (2, 8, 0) and "Socket" not in process.networks:
            evidence.doubt("ib_transport_not_proven", "rank %d also opened NET/Socket" % process.rank)
        if process.denied and process.networks == ["IB"]:
            evidence.doubt("ib_transport_not_proven", "rank %d contradicts itself: %s" % (process.rank, process.denied))
    names = {name for process in ranks for name in process.networks}
    names |= {via.network for process in ranks for via in process.channels.values()}
    if len(names) > 1:
        evidence.doubt(
            "ib_transport_not_proven",
            "the ranks and their channels name different networks: " + ", ".join(sorted(names)),
        )
    counts = {tuple(process.counts) for process in ranks}
    if len(counts) != 1 or (version >= (2, 7, 0) and len(ranks[0].counts) != 1) or len(ranks[0].counts) > 1:
        evidence.doubt("topology_evidence_incomplete", "the ranks do not agree on one number of channels")
        return
    check_collective(evidence, ranks)
    check_point_to_point(evidence, ranks)
    check_gdr_is_uniform(evidence, ranks)


POINT_TO_POINT = ("sendrecv_perf", "alltoall_perf", "gather_perf", "scatter_perf", "hypercube_perf")


def directed(process: Process, connection: int) -> Dict[str, List[int]]:
    """Channels of one connection by direction. A record between other ranks counts as direction `odd`."""
    mine, peer = process.rank, 1 - process.rank
    found: Dict[str, List[int]] = {"send": [], "receive": [], "odd": []}
    for conn, channel, direction, source, target in process.channels:
        if conn == connection:
            ends = {"send": (mine, peer), "receive": (peer, mine)}.get(direction)
            found[direction if ends == (source, target) else "odd"].append(channel)
    return found


def check_collective(evidence: Evidence, ranks: List[Process]) -> None:
    counted = [process.counts[0][0] for process in ranks if process.counts]
    everything = [directed(process, 0) for process in ranks]
    if not any(found["send"] or found["receive"] or found["odd"] for found in everything):
        if evidence.table.name not in POINT_TO_POINT:
            evidence.doubt("ib_transport_not_proven", "no channel record on either rank")
        return
    if not counted and len(evidence.rings) != 1:
        evidence.doubt("topology_evidence_incomplete", "the log does not say how many channels there are")
        return
    total = counted[0] if counted else evidence.rings[0]
    wanted = list(range(total))
    for process in ranks:
        found = everything[process.rank]
        if sorted(found["send"]) != wanted or sorted(found["receive"]) != wanted or found["odd"] or not wanted:
            evidence.doubt(
                "ib_transport_not_proven",
                "rank %d proves %d sending and %d receiving channels of %d"
                % (process.rank, len(found["send"]), len(found["receive"]), total),
            )


def check_point_to_point(evidence: Evidence, ranks: List[Process]) -> None:
    everything = [directed(process, 1) for process in ranks]
    used = any(found["send"] or found["receive"] or found["odd"] for found in everything)
    if any(key[0] > 1 for process in ranks for key in process.channels):
        evidence.doubt("ib_transport_not_proven", "a channel of an unknown connection")
    if not used:
        if evidence.table.name in POINT_TO_POINT:
            evidence.doubt("ib_transport_not_proven", "no point-to-point channel record")
        return
    per_peer = ranks[0].counts[0][1] if ranks[0].counts else 0
    complete = all(
        len(found[way]) == per_peer > 0 and not found["odd"] for found in everything for way in ("send", "receive")
    )
    mirrored = all(sorted(everything[i]["send"]) == sorted(everything[1 - i]["receive"]) for i in (0, 1))
    if not complete or not mirrored:
        evidence.doubt("ib_transport_not_proven", "the point-to-point channels are not complete on both ranks")


def check_gdr_is_uniform(evidence: Evidence, ranks: List[Process]) -> None:
    """One GPU and one HCA give one answer per direction: a suffix that comes and goes is a cut record."""
    for process in ranks:
        seen: Dict[Tuple[int, str, int], bool] = {}
        for (conn, _, direction, _, _), via in process.channels.items():
            if seen.setdefault((conn, direction, via.device), via.gdr) != via.gdr:
                evidence.doubt(
                    "parser_rejected",
                    "rank %d: GPU Direct RDMA differs between channels of one HCA" % process.rank,
                )


def used_ports(process: Process) -> Dict[int, Tuple[Port, ...]]:
    return {index: process.ports(index) for index in sorted({via.device for via in process.channels.values()})}


def check_devices(evidence: Evidence, request: Request, ranks: List[Process]) -> None:
    """Which HCA and which link layer is behind each channel."""
    links = set()
    for process in evidence.processes.values():
        if not any(IB_NETWORK.fullmatch(via.network) for via in process.channels.values()):
            continue
        who = "rank %d" % process.rank if process in ranks else process.host
        if process.device_lists != 1:
            evidence.doubt(
                "ib_transport_not_proven",
                "%s lists its InfiniBand devices %d times" % (who, process.device_lists),
            )
        if process.device_list_cut == "in transit":
            evidence.doubt("parser_rejected", "the device list of %s is cut" % who)
        elif process.device_list_cut:
            evidence.finding("the device list of %s was cut by NCCL itself" % who)
        for index, ports in used_ports(process).items():
            if not ports:
                evidence.doubt("ib_transport_not_proven", "%s: device %d is not in its list" % (who, index))
            for port in ports:
                links.add(port.link)
                text = "%s uses %s:%d/%s" % (who, port.name, port.port, port.link)
                if REFUSED_HCA.fullmatch(port.name):
                    evidence.fail("hca_not_accepted", text)
                elif DOUBTFUL_HCA.fullmatch(port.name):
                    evidence.doubt("ib_transport_not_proven", text + ", which may be iWARP")
                if port.link == "RoCE" and request.link_layer == "InfiniBand":
                    evidence.fail("roce_not_infiniband", text)
                if process.queue_pairs.get(index, port.link) != port.link:
                    evidence.doubt("ib_transport_not_proven", "%s: its queue pairs contradict the link layer" % who)
    if len(links) > 1:
        evidence.doubt("ib_transport_not_proven", "the channels use InfiniBand and RoCE ports together")


def check_table(evidence: Evidence, request: Request, ranks: List[Process]) -> None:
    table = evidence.table
    for text in table.wrong:
        evidence.fail("correctness_error", text)
    if table.average_failed:
        evidence.fail("bandwidth_below_minimum", "nccl-tests marks the average bandwidth FAILED")
    for text in table.missing():
        evidence.doubt("invalid_measurement", text)
    floor = request.min_busbw
    largest = max([row[0] for row in table.rows] or [0])
    if floor is None and largest >= DEFAULT_FLOOR_FROM_BYTES:
        floor = DEFAULT_FLOOR_GBPS
    measured = table.busbw()
    # nranks 1 prints zeros: that is no slow link but no link at all
    if floor and ranks and math.isfinite(measured) and 0 < measured < floor:
        evidence.fail(
            "bandwidth_below_minimum", "%.2f GB/s at %d bytes, the minimum is %g" % (measured, largest, floor)
        )


def check_request(evidence: Evidence, request: Request) -> None:
    """What only the launcher and Kubernetes can say."""
    code = request.exit_code
    if code is None:
        evidence.doubt("missing_required_evidence", "the exit status of the run is not known")
    elif code in DEADLINE_STATUS:
        evidence.doubt("deadline_exceeded", "killed at the deadline (exit status %d)" % code)
    elif code != 0:
        evidence.fail("nonzero_exit", "exit status %d" % code)
    nodes = request.nodes
    if nodes is None or len(nodes) != 2 or not all(nodes):
        evidence.doubt("missing_required_evidence", "the two nodes of the pods are not known")
    elif nodes[0] == nodes[1]:
        evidence.doubt("placement_mismatch", "both pods ran on node %s" % plain(nodes[0]))


# ----------------------------------------------------------------------------------------------------
# Facts for the reader
# ----------------------------------------------------------------------------------------------------


def describe(evidence: Evidence, request: Request, ranks: List[Process]) -> Dict[str, Any]:
    """What was seen, whatever the outcome. A fact that was not observed is null, never false."""
    table = evidence.table
    shown = ranks or list(evidence.processes.values())
    people = [describe_rank(process, request) for process in shown[:4]]
    links = {hca["linkLayer"] for person in people for hca in person["hcas"]}
    gdr = {person["gdr"] for person in people}
    busbw = table.busbw()
    rows = [{"sizeBytes": r[0], "outOfPlaceGBps": finite(r[1][2]), "inPlaceGBps": finite(r[2][2])} for r in table.rows]
    return {
        "ranks": people,
        "network": sole({name for process in shown for name in process.networks}),
        "channels": sole({person["channels"] for person in people}),
        "hcas": sorted({"%s %s:%d" % (p["host"], h["name"], h["port"]) for p in people for h in p["hcas"]}),
        "linkLayer": sole(links),
        "gdr": sole(gdr),
        "ncclVersions": versions_seen(evidence)[:4],
        "test": table.name or None,
        "busbw": rows if len(rows) <= 64 else rows[:32] + rows[-32:],
        "busbwLargestGBps": finite(busbw),
        "averageBusbwGBps": finite(number(table.average)) if table.average else None,
        "minBusbwGBps": request.min_busbw,
        "exitCode": request.exit_code,
        "nodes": [plain(node) for node in request.nodes or ()],
        "firstError": evidence.first_error,
        "findings": evidence.findings,
        "lines": evidence.lines,
        "records": evidence.records,
    }


def describe_rank(process: Process, request: Request) -> Dict[str, Any]:
    known = process.rank if process.rank >= 0 else None
    ways = {way: [via.gdr for key, via in process.channels.items() if key[2] == way] for way in ("send", "receive")}
    received = ways["receive"]
    nodes = request.nodes or ()
    return {
        "rank": known,
        "host": process.host,
        "node": plain(nodes[known]) if known is not None and known < len(nodes) else None,
        "file": plain(process.file),
        "network": sole(set(process.networks)),
        "hcas": [
            {"index": index, "name": port.name, "port": port.port, "linkLayer": port.link}
            for index, ports in used_ports(process).items()
            for port in ports
        ][:16],
        "channels": len({key[1] for key in process.channels if key[0] == 0}),
        # to 2.7 the sending side prints no GDRDMA although the receiving side has it
        "gdr": None if not received or (any(received) and not all(received)) else all(received),
        "gdrSend": None if not ways["send"] else all(ways["send"]),
        "ncclVersion": sole(set(process.versions)),
        "settings": process.settings,
    }


def sole(values: Any) -> Any:
    """The one value of a set, or None when there is none or they differ."""
    return next(iter(values)) if len(values) == 1 else None


def finite(value: float) -> Optional[float]:
    return value if math.isfinite(value) else None


def sentence(facts: Dict[str, Any]) -> str:
    ends = " and ".join(
        "%s (%s)" % (person["node"], ", ".join("%s:%d" % (h["name"], h["port"]) for h in person["hcas"]))
        for person in facts["ranks"]
    )
    gdr = {
        True: "with GPU Direct RDMA",
        False: "without GPU Direct RDMA",
        None: "GPU Direct RDMA on some channels",
    }
    return "%s exchanged data over NET/%s, %s, %d channels each way, %s, %.2f GB/s" % (
        ends,
        facts["network"] or "IB",
        facts["linkLayer"],
        facts["channels"] or 0,
        gdr[facts["gdr"]],
        facts["busbwLargestGBps"],
    )


# ----------------------------------------------------------------------------------------------------
# Command line
# ----------------------------------------------------------------------------------------------------


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> Any:
        self.print_usage(sys.stderr)
        self.exit(USAGE, "%s: %s\n" % (self.prog, message))


def exit_code(text: str) -> Optional[int]:
    return None if text in ("-", "") else int(text)


def bandwidth(text: str) -> float:
    value = float(text)
    if not math.isfinite(value) or value < 0:
        raise ValueError(text)
    return value


def arguments() -> argparse.ArgumentParser:
    parser = Parser(prog="nccl_transport.py", description="Prove the transport of a two-node NCCL run from its logs.")
    commands = parser.add_subparsers(dest="command", required=True)
    judging = commands.add_parser("judge", help="print the verdict as one JSON object; 0 passed, 1 failed, 2 unknown")
    judging.add_argument("--link-layer", choices=("InfiniBand", "any"), default="InfiniBand", help="any accepts RoCE")
    judging.add_argument(
        "--accept-untested-nccl", action="store_true", help="also judge NCCL versions that were not tested"
    )
    judging.add_argument(
        "--exit-code", type=exit_code, metavar="N", help="exit status of the launcher; - when not known"
    )
    judging.add_argument("--nodes", metavar="A,B", help="spec.nodeName of the pods of rank 0 and rank 1")
    judging.add_argument(
        "--min-busbw",
        type=bandwidth,
        metavar="GBPS",
        help="least bus bandwidth of the largest size in GB/s; 0: none; default %g from 64 MiB on" % DEFAULT_FLOOR_GBPS,
    )
    judging.add_argument(
        "logs", nargs="+", metavar="LOG", help="a file per rank, or one with both; - is standard input"
    )
    return parser


def main(argv: Optional[List[str]] = None) -> int:
    options = arguments().parse_args(argv)
    nodes = None if options.nodes is None else tuple(name.strip() for name in options.nodes.split(","))
    request = Request(options.link_layer, options.accept_untested_nccl, options.exit_code, nodes, options.min_busbw)
    evidence = Evidence()
    for name in options.logs:
        try:
            if name == "-":
                evidence.read(name, sys.stdin.buffer)
            else:
                with open(name, "rb") as stream:
                    evidence.read(name, stream)
        except OSError as error:
            print("nccl_transport.py: cannot read %s: %s" % (plain(name), error.strerror), file=sys.stderr)
            return USAGE
    verdict = decide(evidence, request)
    try:
        print(json.dumps(verdict.as_dict(), indent=2, allow_nan=False), flush=True)
    except BrokenPipeError:  # nobody reads on; the exit status still says it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return EXIT_STATUS[verdict.outcome]


if __name__ == "__main__":
    sys.exit(main())
