"""Forms of NCCL and nccl-tests that are not among the recorded logs, made from the recorded ones.

Each case rewrites a healthy log the way another version, launcher or plugin would have printed it. What still
proves the path must pass; what proves less must not.
"""

import re
from collections.abc import Callable

import pytest

from .recorded import BY_NUMBER, judge

Rewrite = Callable[[str], str]


def text(number: str) -> str:
    return BY_NUMBER[number].data.decode()


def swap(*pairs: tuple[str, str]) -> Rewrite:
    """Replace patterns; each must occur, or the case tests nothing."""

    def rewrite(log: str) -> str:
        for old, new in pairs:
            log, count = re.subn(old, new, log, flags=re.MULTILINE)
            assert count, old
        return log

    return rewrite


def after(pattern: str, line: str) -> Rewrite:
    """Put a line behind the first line that matches."""

    def rewrite(log: str) -> str:
        assert re.search(pattern, log, re.MULTILINE), pattern
        return re.sub(f"^(.*{pattern}.*)$", lambda m: f"{m[1]}\n{line}", log, count=1, flags=re.MULTILINE)

    return rewrite


def prefix(make: Callable[[str], str], only_nccl: bool = False) -> Rewrite:
    def rewrite(log: str) -> str:
        lines = [make(x) + x if "NCCL INFO" in x or not only_nccl else x for x in log.split("\n")[:-1]]
        return "\n".join(lines) + "\n"

    return rewrite


def rank_of(line: str) -> str:
    return "1" if re.match(r"\S*(node-b|worker-1):", line) else "0"


ORIGIN = "node-a:1201:1215 [0] NCCL INFO "
IB_EXT = swap((r"Using network IB$", "Using network IBext_v8"), (r"via NET/IB/", "via NET/IBext_v8/"))
SENDRECV = swap(
    (r"all_reduce_perf", "sendrecv_perf"),
    (r"Channel (\d\d)/0 : (.*via NET/IB/\S+)$", r"Channel \1/1 : \2/Shared"),
)

HEALTHY: dict[str, tuple[str, Rewrite]] = {
    "HPC-X plugin": ("009", IB_EXT),
    "HPC-X plugin with SHARP ports": ("009", swap((r"mlx5_4:1/IB", "mlx5_4:1/IB/SHARP"))),
    "merged ports of 2.20 to 2.23": (
        "002",
        swap((r"\[0\]mlx5_0:1/IB", "[0]={[0] mlx5_0:1/IB, [1] mlx5_1:1/IB}")),
    ),
    "virtual device of 2.24": (
        "018",
        swap(
            (r"\[0\]mlx5_0:1/IB \[RO\]", "[0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]"),
            (
                r"^(node-.:\d+:\d+ \[0\] NCCL INFO )(Using network IB)$",
                r"\1NET/IB : Made virtual device [2] name=mlx5_0+mlx5_1 speed=800000 ndevs=2\n\1\2",
            ),
            (r"via NET/IB/0", "via NET/IB/2"),
        ),
    ),
    "rails and planes of 2.30": (
        "020",
        swap((r"\[0\]mlx5_0:1/IB", "[0]mlx5_0:1:0:1/IB [1]mlx5_1:1::1/IB [2]mlx5_2:2:3/IB")),
    ),
    "InfiniBand not switched off": (
        "018",
        after("Bootstrap", "node-a:1201:1201 [0] NCCL INFO NCCL_IB_DISABLE set by environment to 0."),
    ),
    "IPv6 bootstrap": (
        "018",
        swap((r"eth0:10\.0\.0\.(\d)<0>", r"eth0:fe80::5054:ff:fe12:345\1%eth0<0>")),
    ),
    "bonded ports": ("018", swap((r"mlx5_0:1/IB", "mlx5_bond_0:1/IB"))),
    "NVLS, PXN and symmetric memory mentioned": (
        "018",
        after(
            "Using network IB",
            ORIGIN
            + "NVLS multicast support is not available on dev 0\n"
            + ORIGIN
            + "P2P Chunksize set to 131072\n"
            + ORIGIN
            + "threadThresholds 8/8/64 | 16/8/64 | 512 | 512\n"
            + ORIGIN
            + "TUNER/Plugin: Could not find: libnccl-tuner.so. Using internal tuner plugin.\n"
            + ORIGIN
            + "DMA-BUF is available on GPU device 0\n"
            + ORIGIN
            + "NET/OFI Plugin selected, but no provider found",
        ),
    ),
    "no relaxed ordering, old spelling": ("001", swap((r"/IB \[RO\]; OOB", "/IB ; OOB"))),
    "OOB field empty": ("001", swap((r"; OOB eth0:10\.0\.0\.[12]<0>", "; OOB :"))),
    "queue pairs with LID": (
        "001",
        after("Trees", ORIGIN + "NET/IB: NCCL Dev 0 IbDev 0 Port 1 qpn 305 mtu 5 LID 4 (0x0)"),
    ),
    "calls, traces and collectives": (
        "001",
        after(
            "Trees",
            "node-a:1201:1215 NCCL CALL ncclAllReduce(7f2a)\n"
            "node-a:1201:1215 [0] 12.345678 ncclTopo:12 NCCL TRACE comm\n"
            + ORIGIN
            + "AllReduce: opCount 0 sendbuff 0x7f2a count 2\n"
            + ORIGIN
            + "Ring 00 : 1 -> 0 -> 1\n"
            + ORIGIN
            + " 0 : NET/0 GPU/0 NET/0\n"
            + ORIGIN
            + "+ NET[25.0] - NET/0-0 (0/0/25.0)",
        ),
    ),
    "teardown": (
        "001",
        after(
            "Launch mode",
            ORIGIN
            + "comm 0x55d0a1b2c340 rank 0 nranks 2 cudaDev 0 busId 1b000 - Destroy COMPLETE\n"
            + ORIGIN
            + "[Service thread] Connection closed by localRank 0",
        ),
    ),
    "a plugin that refuses itself": ("001", after("Bootstrap", ORIGIN.replace("1215", "1201") + "net.cc:55 -> 3")),
    "ring list cut by NCCL": ("003", swap((r"Channel 00/04 : 0 1$", "Channel 00/04 : 0 1..."))),
    "step in bytes": (
        "001",
        swap(
            (r"maxBytes 2147483648 step: 128\(factor\)", "maxBytes 16 step: 8(bytes)"),
            (r"\n +(1024|131072|16777216|2147483648) .*", ""),
            (
                r"(float +sum.*)$",
                r"\1\n          16             4     float     sum      -1    18.00    0.00    0.00      0"
                r"    18.40    0.00    0.00      0",
            ),
            (r"0\.00    0\.00      0", "0.01    0.01      0"),
            (r"bandwidth    : 10\.6109", "bandwidth    : 0.01"),
        ),
    ),
    "footer padded by 2.17.7": (
        "020",
        swap(
            (r"# Out of bounds values :", "# Out of bounds values  :"),
            (r"Avg bus bandwidth    :", "Avg bus bandwidth     :"),
        ),
    ),
    "empty last error of nccl-tests": ("020", after("Avg bus", "#\n# error: ")),
    "CRLF line ends": ("001", swap((r"$(?=\n)", "\r"))),
    "byte order mark of UTF-8": ("001", lambda log: "\ufeff" + log),
    "colours": ("001", prefix(lambda _: "\x1b[36m\x1b[0m")),
    "torch": ("001", prefix(lambda x: f"[rank{rank_of(x)}]: ")),
    "torchrun --tee": ("001", prefix(lambda x: f"[default{rank_of(x)}]:")),
    "srun -l": ("001", prefix(lambda x: f"{rank_of(x)}: ")),
    "rcall": ("001", prefix(lambda x: f"[{rank_of(x)}] ")),
    "pdsh": ("001", prefix(lambda x: f"node-{'ab'[int(rank_of(x))]}: ")),
    "kubectl --prefix": ("001", prefix(lambda x: f"[pod/nccl-{rank_of(x)}/rank] ")),
    "kubectl timestamps and mpirun": ("001", prefix(lambda x: f"2026-01-02T03:04:05.1Z: [1,{rank_of(x)}]<stdout>:")),
    "Ray with colours": (
        "001",
        prefix(lambda _: "\x1b[36m(RayWorkerWrapper pid=1, ip=10.0.0.1)\x1b[0m ", only_nccl=True),
    ),
    "timestamps with offset": ("020", prefix(lambda _: "2026-01-02T03:04:05.123456789+01:00 ", only_nccl=True)),
    "timestamps with names": ("020", prefix(lambda _: "[Fri Jan  2 03:04:05 PM 2026 UTC] ", only_nccl=True)),
    "point to point only": ("003", SENDRECV),
    "a log of 2.27 under HPC-X": ("013", IB_EXT),
}


@pytest.mark.parametrize("case", HEALTHY)
def test_a_healthy_run_passes_in_every_known_form(case: str) -> None:
    number, rewrite = HEALTHY[case]
    verdict = judge(rewrite(text(number)).encode())
    assert verdict.outcome == "passed", verdict


ONE_SEND = r"^(node-a\S+ \[0\] NCCL INFO Channel 00/0 : 0\S+ -> 1\S+ \[send\] via NET/IB/0\S*)$"
FIRST_LARGE = r"717\.1   23\.40   23\.40      0"

NOT_PROVEN: dict[str, tuple[str, Rewrite, str, str]] = {
    "a proxy of another rank": ("018", swap((r"\[send\] via NET/IB/0", "[send] via NET/IB/0(1)")), "unknown", ""),
    "a suffix of a fork": ("001", swap((ONE_SEND, r"\1 comm 0x55d0 nRanks 2")), "unknown", "parser_rejected"),
    "no device index": (
        "001",
        swap((ONE_SEND, ORIGIN + "Channel 00/0 : 0[1b000] -> 1[1b000] [send] via NET/IB/GDRDMA")),
        "unknown",
        "parser_rejected",
    ),
    "digits that are not ASCII": (
        "001",
        swap((r"Channel 00/0 :", "Channel \u0660\u0660/0 :")),
        "unknown",
        "parser_rejected",
    ),
    "a device that is not listed": (
        "001",
        swap((ONE_SEND, ORIGIN + "Channel 00/0 : 0[1b000] -> 1[1b000] [send] via NET/IB/7")),
        "unknown",
        "ib_transport_not_proven",
    ),
    "an unknown connection": (
        "001",
        after("Connected all trees", ORIGIN + "Channel 00/3 : 0[1b000] -> 1[1b000] [send] via NET/IB/0"),
        "unknown",
        "ib_transport_not_proven",
    ),
    "half of the point to point channels": (
        "017",
        swap((r"^node-b\S+ \[0\] NCCL INFO Channel 01/1 : 1.*\n", "")),
        "unknown",
        "ib_transport_not_proven",
    ),
    "soft RoCE": ("004", swap((r"rocep1s0f0:1", "rxe0:1")), "failed", "hca_not_accepted"),
    "soft iWARP": ("004", swap((r"rocep1s0f0:1", "siw0:1")), "failed", "hca_not_accepted"),
    "iWARP": ("004", swap((r"rocep1s0f0:1", "i40iw0:1")), "failed", "hca_not_accepted"),
    "perhaps iWARP": ("004", swap((r"rocep1s0f0:1", "irdma0:1")), "unknown", "ib_transport_not_proven"),
    "RoCE against InfiniBand": (
        "002",
        swap((r"(worker-1\S+ .*)mlx5_0:1/IB", r"\1mlx5_0:1/RoCE")),
        "unknown",
        "ib_transport_not_proven",
    ),
    "queue pairs that say RoCE": (
        "001",
        after("Trees", ORIGIN + "NET/IB: NCCL Dev 0 IbDev 0 Port 1 qpn 305 mtu 5 GID 3 (0/0)"),
        "unknown",
        "ib_transport_not_proven",
    ),
    "a cut device list": (
        "001",
        swap((r"mlx5_0:1/IB \[RO\]; OOB eth0:10.0.0.1<0>", "mlx5_0:1/IB [RO]; OO")),
        "unknown",
        "parser_rejected",
    ),
    "an unknown plugin": (
        "009",
        swap((r"Using network IB$", "Using network gIB"), (r"via NET/IB/", "via NET/gIB/")),
        "unknown",
        "unknown_network",
    ),
    "a plugin whose name begins alike": (
        "009",
        swap((r"Using network IB$", "Using network IBP"), (r"via NET/IB/", "via NET/IBP/")),
        "unknown",
        "unknown_network",
    ),
    "Libfabric under its old name": (
        "009",
        swap((r"Using network IB$", "Using network AWS Libfabric"), (r"via NET/IB/", "via NET/AWS Libfabric/")),
        "failed",
        "other_network_observed",
    ),
    "TCPX": (
        "009",
        swap((r"Using network IB$", "Using network GPUDirectTCPX_v7"), (r"via NET/IB/", "via NET/GPUDirectTCPX_v7/")),
        "failed",
        "other_network_observed",
    ),
    "two names on one rank": (
        "009",
        swap((r"(node-a\S+ \[0\] NCCL INFO Using network) IB$", r"\1 IBext")),
        "unknown",
        "ib_transport_not_proven",
    ),
    "NVLink between nodes": (
        "020",
        swap((r"\[(?:send|receive)\] via NET/IB/0/GDRDMA", "via P2P/MNNVL")),
        "failed",
        "nic_bypassed",
    ),
    "one channel over shared memory": (
        "001",
        swap((ONE_SEND, ORIGIN + "Channel 00 : 0[1b000] -> 1[1b000] via SHM/direct/direct")),
        "failed",
        "nic_bypassed",
    ),
    "SHARP": (
        "001",
        after("Connected all trees", ORIGIN + "CollNet 00/0 : 0 [send] via COLLNET/SHARP/0/GDRDMA"),
        "unknown",
        "ib_transport_not_proven",
    ),
    "another plugin assigned than the network named": (
        "003",
        swap((r"(node-b.*)Assigned NET plugin IB to comm", r"\1Assigned NET plugin Socket to comm")),
        "failed",
        "socket_fallback_observed",
    ),
    "an unknown plugin assigned": (
        "003",
        swap((r"(node-b.*)Assigned NET plugin IB to comm", r"\1Assigned NET plugin UCX to comm")),
        "unknown",
        "unknown_network",
    ),
    "no device found, and one used": (
        "018",
        after("Using network IB", "node-a:1201:1215 [0] NCCL INFO NET/IB : No device found."),
        "unknown",
        "ib_transport_not_proven",
    ),
    "no verbs library, and verbs used": (
        "018",
        after("Using network IB", "node-a:1201:1215 [0] NCCL INFO Failed to open libibverbs.so[.1]"),
        "unknown",
        "ib_transport_not_proven",
    ),
    "InfiniBand switched off, and used": (
        "018",
        after("Bootstrap", "node-a:1201:1201 [0] NCCL INFO NCCL_IB_DISABLE set by environment to 1."),
        "unknown",
        "ib_transport_not_proven",
    ),
    "sockets asked for, and InfiniBand used": (
        "018",
        after("Bootstrap", "node-a:1201:1201 [0] NCCL INFO NCCL_NET set by environment to Socket."),
        "unknown",
        "ib_transport_not_proven",
    ),
    "a failed completion that is only mentioned": (
        "018",
        after("Using network IB", "node-a:1201:1215 [0] NCCL INFO NET/IB: Got completion from peer status=12"),
        "unknown",
        "nccl_warning",
    ),
    "a channel inside another record": (
        "018",
        after("Using network IB", "node-a:1201:1215 [0] NCCL INFO CC Off, workvia NET/Socket/0FifoBytes 1048576"),
        "unknown",
        "parser_rejected",
    ),
    "the name of the network inside another record": (
        "018",
        after("Using network IB", "node-a:1201:1215 [0] NCCL INFO CC Off,Using network Socket"),
        "unknown",
        "parser_rejected",
    ),
    "a socket list beside IB": (
        "001",
        after("Bootstrap", ORIGIN + "NET/Socket : Using [0]eth0:10.0.0.1<0>"),
        "unknown",
        "ib_transport_not_proven",
    ),
    "host id set by hand": (
        "001",
        after("Bootstrap", ORIGIN + "NCCL_HOSTID set by environment to x"),
        "unknown",
        "topology_mismatch",
    ),
    "equal host names": ("001", swap((r"node-b", "node-a")), "unknown", "topology_mismatch"),
    "a third rank": (
        "001",
        after("Connected all trees", "node-c:1:1 [0] NCCL INFO Connected all rings"),
        "unknown",
        "topology_mismatch",
    ),
    "nccl-tests of other processes": ("001", swap((r"Pid   2201", "Pid   2202")), "unknown", "topology_mismatch"),
    "two communicators": (
        "002",
        swap((r"(worker-1.*commId 0x8f3a5c7d9e1b204)6", r"\g<1>7")),
        "unknown",
        "topology_mismatch",
    ),
    "a split communicator": (
        "002",
        after(
            "Init COMPLETE",
            "nccl-worker-0:1201:1215 [0] NCCL INFO ncclCommSplit comm 0x1 rank 0 nranks 2"
            " cudaDev 0 nvmlDev 0 busId 1b000"
            " parent 0x2 splitCount 1 color 1 key 0 - Init START",
        ),
        "unknown",
        "parser_rejected",
    ),
    "one node": ("002", swap((r"nNodes 2 localRanks 1", "nNodes 1 localRanks 2")), "unknown", "topology_mismatch"),
    "an NVLink domain": ("002", swap((r"MNNVL 0", "MNNVL 1")), "unknown", "topology_mismatch"),
    "no node count although the version prints it": (
        "002",
        swap((r"^.*nNodes 2.*\n", "")),
        "unknown",
        "topology_evidence_incomplete",
    ),
    "a version on one rank only": (
        "002",
        swap((r"^nccl-worker-1\S+ \[0\] NCCL INFO NCCL version.*\n", "")),
        "unknown",
        "topology_evidence_incomplete",
    ),
    "two versions": ("002", swap((r"(worker-1.*NCCL version 2\.22)\.3", r"\1.2")), "failed", "nccl_version_mismatch"),
    "a version newer than tested": (
        "002",
        swap((r"NCCL version 2\.22\.3", "NCCL version 2.31.0")),
        "unknown",
        "untested_nccl_version",
    ),
    "a version older than tested": (
        "001",
        swap((r"NCCL version 2\.12\.12", "NCCL version 2.7.8")),
        "unknown",
        "untested_nccl_version",
    ),
    "no version": ("001", swap((r"^NCCL version.*\n", "")), "unknown", "untested_nccl_version"),
    "another library than the log says": (
        "020",
        swap((r"nccl-library=23007", "nccl-library=23006")),
        "unknown",
        "topology_mismatch",
    ),
    "images that differ": (
        "009",
        swap((r"(node-b.*No plugin found), using.*", r"\1 (libnccl-net.so), using internal implementation")),
        "unknown",
        "topology_mismatch",
    ),
    "validation off": ("001", swap((r"validation: 1", "validation: 0")), "unknown", "invalid_measurement"),
    "memory too small": (
        "001",
        after("Using devices", "# Reducing maxBytes to 1024 due to memory limitation"),
        "unknown",
        "invalid_measurement",
    ),
    "a row too few": ("001", swap((r"^ +131072 .*\n", "")), "unknown", "invalid_measurement"),
    "not a number": ("001", swap((FIRST_LARGE, "717.1     nan     nan      0")), "unknown", "invalid_measurement"),
    "infinite": ("001", swap((FIRST_LARGE, "0.00     inf     inf      0")), "unknown", "invalid_measurement"),
    "not validated in one place": (
        "001",
        swap((FIRST_LARGE, "717.1   23.40   23.40    N/A")),
        "unknown",
        "invalid_measurement",
    ),
    "one wrong value": ("001", swap((FIRST_LARGE, "717.1   23.40   23.40      1")), "failed", "correctness_error"),
    "wrong by the footer": ("001", swap((r"values : 0 OK", "values : 3 FAILED")), "failed", "correctness_error"),
    "wrong by the old column": ("010", swap((r"2e-07$", "1e+00")), "failed", "correctness_error"),
    "average too low for nccl-tests": (
        "001",
        swap((r"10\.6109 ", "10.6109 FAILED")),
        "failed",
        "bandwidth_below_minimum",
    ),
    "a last error": ("020", after("Avg bus", "#\n# error: unhandled system error"), "unknown", "nccl_warning"),
    "not concluded": ("020", swap((r"^# Collective test concluded.*\n", "")), "unknown", "invalid_measurement"),
    "a deduplicated record": (
        "001",
        swap((r"Using network IB$", "Using network IB [repeated 2x across cluster]")),
        "unknown",
        "parser_rejected",
    ),
    "words in front of a record": (
        "001",
        swap((r"^(node-a\S+ \[0\] NCCL INFO Using network IB)$", r"he said: \1")),
        "unknown",
        "parser_rejected",
    ),
    "a name in front of another host's record": (
        "001",
        swap((r"^(node-a\S+ \[0\] NCCL INFO Using network IB)$", r"note: \1")),
        "unknown",
        "parser_rejected",
    ),
    "the end of an init record behind another record": (
        "020",
        swap((r"^(node-b\S+ \[0\] NCCL INFO RAS client listening socket at \S+)$", r"\1- Init COMPLETE")),
        "unknown",
        "parser_rejected",
    ),
    "the end of an init record that lost its dash": (
        "020",
        swap((r"^(node-b\S+ \[0\] NCCL INFO RAS client listening socket at \S+)$", r"\1Init START")),
        "unknown",
        "parser_rejected",
    ),
    "a row behind a torn name of a GPU": (
        "001",
        swap((r"^(#\s+Rank\s+0 .*NVIDIA \w+).*$", r"\1         1024           256     float     sum      -1    18.02")),
        "unknown",
        "parser_rejected",
    ),
    "a log of RCCL": (
        "001",
        after("Using devices", "RCCL version : 2.21.5-HEAD:9a0e6a1"),
        "unknown",
        "parser_rejected",
    ),
    "box drawing": ("001", prefix(lambda _: "\u2502 "), "unknown", "parser_rejected"),
    "an exit code of the launcher": ("001", after("Avg bus", "  Exit code:    3"), "failed", "nonzero_exit"),
    "a job killed by its launcher": (
        "001",
        after("Avg bus", "srun: error: node-a: task 0: Exited with exit code 137"),
        "unknown",
        "deadline_exceeded",
    ),
    "a test timeout": ("001", after("Avg bus", "node-a: Test timeout (60s) common.cu:312"), "failed", "runtime_error"),
    "a crash": ("001", after("Avg bus", "Segmentation fault (core dumped)"), "failed", "runtime_error"),
    "a communicator that was aborted": (
        "001",
        after("Launch mode", ORIGIN + "comm 0x55d0a1b2c340 rank 0 nranks 2 cudaDev 0 busId 1b000 - Abort COMPLETE"),
        "unknown",
        "nccl_warning",
    ),
    "recovered from a dead port": (
        "001",
        after("Launch mode", ORIGIN + "NET/IB: Port recovery succeeded on device 1"),
        "unknown",
        "nccl_warning",
    ),
    "a backtrace": (
        "001",
        after("Launch mode", ORIGIN + "transport/net.cc:1298 (sendProxyProgress) -> 6 [Progress Thread]"),
        "unknown",
        "nccl_warning",
    ),
}


@pytest.mark.parametrize("case", NOT_PROVEN)
def test_what_proves_less_does_not_pass(case: str) -> None:
    number, rewrite, outcome, reason = NOT_PROVEN[case]
    verdict = judge(rewrite(text(number)).encode(), accept_untested_nccl=number == "010")
    assert verdict.outcome == outcome, verdict
    assert reason in ("", verdict.reason), verdict.reasons


def test_before_2_7_the_ring_list_says_how_many_channels_there_must_be() -> None:
    log = text("010")
    for lost in (r"^.*(Ring|Channel) 01.*\n", r"^.*Channel 0.*\n", r"^.*Ring 01.*\n"):
        verdict = judge(swap((lost, ""))(log).encode(), accept_untested_nccl=True)
        assert verdict.outcome == "unknown", lost


def split_by_rank(log: str) -> tuple[str, str, str]:
    """Records of rank 0, records of rank 1, everything else: what NCCL_DEBUG_FILE makes of a run."""
    parts = {"a": "", "b": "", "": ""}
    for line in log.splitlines(keepends=True):
        host = re.match(r"node-([ab]):", line)
        parts[host[1] if host else ""] += line
    return parts["a"], parts["b"], parts[""]


@pytest.mark.parametrize("number", ["001", "009", "018", "020"])
def test_a_log_per_rank_and_the_output_of_nccl_tests_make_one_run(number: str) -> None:
    first, second, output = (part.encode() for part in split_by_rank(text(number)))
    assert judge(first, second, output).outcome == "passed"
    assert judge(output, second, first).outcome == "passed"
    assert judge(first + output, second).outcome == "passed"


@pytest.mark.parametrize("number", ["001", "020"])
def test_a_run_with_one_log_missing_does_not_pass(number: str) -> None:
    parts = [part.encode() for part in split_by_rank(text(number))]
    for missing in range(3):
        assert judge(*(part for place, part in enumerate(parts) if place != missing)).outcome == "unknown"
    assert judge(*parts, parts[0]).outcome == "unknown", "one rank twice"


def test_equal_pids_in_two_pods_are_two_processes() -> None:
    assert judge(text("001").replace("2201", "1201").encode()).outcome == "passed"


@pytest.mark.parametrize("group", [0, 1])
@pytest.mark.parametrize("number", ["001", "020"])
@pytest.mark.parametrize("stamp", ["", "2026-01-02T03:04:05.123Z "])
def test_a_record_inside_a_table_row_is_put_aside(number: str, group: int, stamp: str) -> None:
    """stdout is shared: NCCL prints while a row is only half written."""
    lines = text(number).splitlines(keepends=True)
    record = next(place for place, line in enumerate(lines) if "Channel 01/0" in line)
    row = next(place for place, line in enumerate(lines) if re.match(r" +1024 ", line))
    cut = 52 + group * (len(lines[row].rstrip("\n")) - 52) // 2
    broken = lines[row][:cut] + lines[record] + lines[row][cut:]
    assert record != row
    woven = [*lines[:row], broken, *lines[row + 1 :]]
    woven.pop(record)
    log = "".join(stamp + line for line in "".join(woven).splitlines(keepends=True))
    assert judge(log.encode()).outcome == "passed"
    lost = "".join(woven).replace(lines[row][cut:], "\n")
    assert judge(lost.encode()).outcome == "unknown"


def test_a_list_that_nccl_cut_at_its_own_limit_still_names_the_devices_before_the_cut() -> None:
    log = BY_NUMBER["121"].data
    assert judge(log).outcome == "unknown"
    verdict = judge(log.replace(b"NET/IB/58/", b"NET/IB/3/"))
    assert verdict.outcome == "passed"
    assert {hca["name"] for rank in verdict.facts["ranks"] for hca in rank["hcas"]} == {"mlx5_bond_003"}


@pytest.mark.parametrize(
    ("floor", "outcome"), [(None, "passed"), (0, "passed"), (24.0, "passed"), (24.01, "failed"), (400, "failed")]
)
def test_the_bandwidth_of_the_largest_size_is_held_against_the_minimum(floor: float | None, outcome: str) -> None:
    verdict = judge(text("001").encode(), min_busbw=floor)
    assert verdict.outcome == outcome
    assert verdict.reason in ("validation_passed", "bandwidth_below_minimum")


def test_a_run_slower_than_any_infiniband_fails_unless_the_gate_is_turned_off() -> None:
    log = BY_NUMBER["077"].data
    assert judge(log).reason == "bandwidth_below_minimum"
    assert judge(log, min_busbw=0).outcome == "passed"
    small = swap((r"2147483648", "33554432"), (r" 16777216 ", " 262144 "))(log.decode()).encode()
    assert judge(small).reason != "bandwidth_below_minimum", "small messages say nothing about a link"


@pytest.mark.parametrize("code", [124, 137, 143, -9, -15])
def test_a_kill_from_outside_is_no_verdict_about_the_transport(code: int) -> None:
    verdict = judge(text("001").encode(), exit_code=code)
    assert (verdict.outcome, verdict.reason) == ("unknown", "deadline_exceeded")


def test_a_kill_explains_the_log_it_tore() -> None:
    log = text("001").encode()
    for size in range(0, len(log), 97):
        verdict = judge(log[:size], exit_code=124)
        assert (verdict.outcome, verdict.reason) == ("unknown", "deadline_exceeded"), size
