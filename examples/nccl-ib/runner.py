#!/usr/bin/env python3
"""One rank of the check, in one pod: meets its peer, runs nccl-tests or replays a log, judges, reports.

`runner.py measure` is what the template starts. `runner.py replay` goes the same way with a recorded log instead of
a GPU; it belongs to a template of its own and says `source: replay` in its report. The two are different commands
and never a parameter, so nobody can ask for a replay under the name of the real check.

No SSH and no agent: rank 0 starts MPICH's `mpiexec` with the *manual* launcher, which starts nothing by itself but
prints what each host should run. Each runner starts its own Hydra proxy; rank 1 takes only the port and its number
from what it is told, never a command line. Needs Python 3.9 and nothing else.
"""

from __future__ import annotations

import contextlib
import csv
import hashlib
import io
import json
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, BinaryIO, Dict, Iterator, List, NamedTuple, Optional, Tuple

import nccl_transport

SCHEMA = "tau.validation-report.v1"
DETAILS = {False: "nccl-ib.v1", True: "nccl-ib-replay.v1"}  # by whether it is a replay: the two are never one schema
REPORT_BYTES = 4096
LOG_BYTES = 32 << 20  # of each log: enough for any honest run, and no more is read, kept or sent
SHOWN_BYTES = 96 << 10  # of each log: also printed, since the control plane seals what a pod prints, up to 256 KiB
PORT = 29500
HYDRA_PORTS = "29501:29520"

FIXED = {  # makes a fallback loud instead of silent; read back from the log afterwards
    "NCCL_DEBUG": "INFO",
    "NCCL_DEBUG_SUBSYS": "INIT,BOOTSTRAP,ENV,NET",
    "NCCL_NET": "IB",
    "NCCL_MNNVL_ENABLE": "0",
    "NCCL_P2P_DISABLE": "1",
    "NCCL_SHM_DISABLE": "1",
    "NCCL_COLLNET_ENABLE": "0",
}
ALLOWED = {
    *("NCCL_IB_HCA", "NCCL_IB_GID_INDEX", "NCCL_IB_TC", "NCCL_IB_SL", "NCCL_IB_TIMEOUT", "NCCL_IB_RETRY_CNT"),
    *("NCCL_IB_PKEY", "NCCL_IB_QPS_PER_CONNECTION", "NCCL_IB_ROCE_VERSION_NUM", "NCCL_IB_ADAPTIVE_ROUTING"),
    *("NCCL_IB_PCI_RELAXED_ORDERING", "NCCL_NET_GDR_LEVEL", "NCCL_SOCKET_IFNAME", "NCCL_CROSS_NIC"),
}
SETTING = re.compile(r"(NCCL_[A-Z0-9_]{1,60})=([A-Za-z0-9_.:,^=-]{1,128})", re.A)
SYSTEM_CONF = Path("/etc/nccl.conf")


class Stop(Exception):
    """The run cannot go on. It ends as unknown, with this reason and sentence."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason, self.message = reason, message


# ----------------------------------------------------------------------------------------------------
# What was asked for
# ----------------------------------------------------------------------------------------------------


class Settings(NamedTuple):
    rank: int
    run_id: Optional[str]
    node: str
    rank0: str  # where rank 0 listens
    port: int
    link_layer: str
    min_busbw: float
    sizes: Tuple[int, int, int]  # least and most bytes, factor
    nccl: Dict[str, str]
    recorded: str
    meet_seconds: int
    run_seconds: int
    work: Path
    artifacts: Path


def read_settings(env: Dict[str, str]) -> Settings:
    """Settings from the environment of the pod: what Kubernetes sets, and TAU_PARAM_* of the run."""
    index = env.get("JOB_COMPLETION_INDEX", "")
    if index not in ("0", "1"):
        raise Stop("runtime_error", "JOB_COMPLETION_INDEX must be 0 or 1: an Indexed Job of two pods is needed")
    work = Path(env.get("TAU_WORK_DIR", "/work"))
    layer = env.get("TAU_PARAM_linkLayer", "InfiniBand")
    if layer not in ("InfiniBand", "any"):
        raise Stop("runtime_error", "TAU_PARAM_linkLayer must be InfiniBand or any")
    low, high = integer(env, "minBytes", 8, 4, 1 << 34), integer(env, "maxBytes", 1 << 31, 4, 1 << 36)
    if low > high:
        raise Stop("runtime_error", "TAU_PARAM_minBytes must not be above TAU_PARAM_maxBytes")
    return Settings(
        rank=int(index),
        run_id=run_id_of(env),
        node=env.get("NODE_NAME", ""),
        rank0=env.get("TAU_RANK0_ADDRESS") or rank0_address(socket.getfqdn()),
        port=integer(env, "port", PORT, 1, 65535),
        link_layer=layer,
        min_busbw=integer(env, "minBusBandwidthGBps", 0, 0, 2000),
        sizes=(low, high, integer(env, "stepFactor", 4, 2, 1024)),
        nccl=nccl_environment(env.get("TAU_PARAM_ncclEnvironment", ""), work),
        recorded=env.get("TAU_PARAM_recordedLog", ""),
        meet_seconds=integer(env, "meetSeconds", 300, 1, 3600),
        run_seconds=integer(env, "runSeconds", 480, 1, 86400),
        work=work,
        artifacts=Path(env.get("TAU_ARTIFACT_DIR", "/artifacts")),
    )


def run_id_of(env: Dict[str, str]) -> Optional[str]:
    """The id of the run: told, or read from the pod's host name, <check>-<run id>-<index>."""
    found = re.search(r"-([0-9a-f]{24})-\d+$", env.get("HOSTNAME", ""), re.A)
    run_id = env.get("TAU_RUN_ID") or (found[1] if found else "")
    return run_id if re.fullmatch(r"[0-9a-f]{24}", run_id) else None


def integer(env: Dict[str, str], name: str, default: int, low: int, high: int) -> int:
    text = env.get("TAU_PARAM_" + name, "") or str(default)
    if not re.fullmatch(r"\d{1,12}", text, re.A) or not low <= int(text) <= high:
        raise Stop("runtime_error", "TAU_PARAM_%s must be a whole number from %d to %d" % (name, low, high))
    return int(text)


def nccl_environment(text: str, work: Path) -> Dict[str, str]:
    """The whole NCCL environment of a rank: the fixed part, and what the allow-list lets through."""
    extra: Dict[str, str] = {}
    for item in filter(None, (part.strip() for part in text.split(";"))):
        match = SETTING.fullmatch(item)
        if match is None or match[1] not in ALLOWED:
            words = "TAU_PARAM_ncclEnvironment: %r is not NAME=value of %s"
            raise Stop("runtime_error", words % (item[:64], ", ".join(sorted(ALLOWED))))
        extra[match[1]] = match[2]
    return {**extra, **FIXED, "NCCL_DEBUG_FILE": str(work / "nccl.%h.%p.log")}


def rank0_address(fqdn: str) -> str:
    """<job>-1.<service>.<namespace>.svc… -> <job>-0.<service>…: pods of an Indexed Job know each other's names."""
    host, dot, domain = fqdn.partition(".")
    return re.sub(r"-\d+$", "-0", host) + dot + domain


# ----------------------------------------------------------------------------------------------------
# The other rank
# ----------------------------------------------------------------------------------------------------


class Peer:
    """A connection to the other rank: a line of JSON, then the bytes it announces. Every wait has an end."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.stream = connection.makefile("rb")

    def send(self, kind: str, body: bytes = b"", **fields: Any) -> None:
        head = json.dumps({"kind": kind, "size": len(body), **fields}).encode() + b"\n"
        try:
            self.connection.settimeout(60)
            self.connection.sendall(head + body)
        except OSError as error:
            raise Stop("peer_lost", "the other rank cannot be reached: %s" % error.__class__.__name__) from error

    def receive(self, kind: str, seconds: float, limit: int = 0) -> Tuple[Dict[str, Any], bytes]:
        """The next message, which must be of this kind; (fields, body)."""
        try:
            self.connection.settimeout(max(seconds, 0.1))
            fields = json.loads(self.stream.readline(65536))
            size = fields["size"]
            if fields["kind"] != kind or not isinstance(size, int) or not 0 <= size <= limit:
                raise ValueError(kind)
            body = self.stream.read(size)
            if len(body) != size:
                raise ValueError("cut")
        except (OSError, ValueError, KeyError, TypeError) as error:
            why = "was silent for too long" if isinstance(error, socket.timeout) else "broke off or spoke out of turn"
            raise Stop("peer_lost", "the other rank %s (waiting for %s)" % (why, kind)) from error
        return fields, body


def meet(settings: Settings) -> Peer:
    """Rank 0 waits for rank 1; rank 1 calls until rank 0 answers. Both give up after the same time."""
    end = time.monotonic() + settings.meet_seconds
    if settings.rank == 0:
        family = socket.AF_INET6 if socket.has_dualstack_ipv6() else socket.AF_INET
        dual = family == socket.AF_INET6
        with socket.create_server(("", settings.port), family=family, dualstack_ipv6=dual) as server:
            server.settimeout(settings.meet_seconds)
            try:
                return Peer(server.accept()[0])
            except OSError as error:
                words = "rank 1 did not come within %d s: is its pod running, and may it reach port %d?"
                raise Stop("rendezvous_failed", words % (settings.meet_seconds, settings.port)) from error
    while True:
        try:
            return Peer(socket.create_connection((settings.rank0, settings.port), timeout=5))
        except OSError as error:
            if time.monotonic() > end:
                words = "%s:%d did not answer within %d s (%s): headless Service, DNS, NetworkPolicy"
                name = error.__class__.__name__
                raise Stop(
                    "rendezvous_failed", words % (settings.rank0, settings.port, settings.meet_seconds, name)
                ) from error
            time.sleep(1)


def greet(settings: Settings, peer: Peer) -> Tuple[str, str]:
    """The nodes of rank 0 and rank 1. The two must be of one run."""
    peer.send("hello", rank=settings.rank, run=settings.run_id, node=settings.node)
    told, _ = peer.receive("hello", 30)
    if told.get("rank") != 1 - settings.rank or told.get("run") != settings.run_id:
        raise Stop("identity_mismatch", "the other pod is not the other rank of this run")
    nodes = [settings.node, str(told.get("node", ""))[:253]]
    return (nodes[0], nodes[1]) if settings.rank == 0 else (nodes[1], nodes[0])


# ----------------------------------------------------------------------------------------------------
# nccl-tests, started on both sides without SSH
# ----------------------------------------------------------------------------------------------------

LAUNCH = re.compile(r"HYDRA_LAUNCH: \S+ --control-port \S+:(\d{1,5}) (.{0,300}?)--proxy-id ([01])\s*", re.A)
PROXY_OPTIONS = re.compile(r"(?:--(?:rmk user|launcher manual|demux (?:poll|select)|pgid 0|retries \d{1,3}"
                           r"|usize -?\d{1,3}|pmi-port \d|gpus-per-proc -?\d{1,3}) )*", re.A)  # fmt: skip


class Program:
    """A process group that is always stopped, with its output in a bounded file."""

    def __init__(self, command: List[str], env: Dict[str, str], output: Path) -> None:
        self.process = subprocess.Popen(
            command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            start_new_session=True,
        )  # fmt: skip
        self.lines: List[str] = []
        self.launched = threading.Event()
        self.reader = threading.Thread(target=self.keep, args=(output,), daemon=True)
        self.reader.start()

    def keep(self, output: Path) -> None:
        """Lines of the launcher go to `lines`, everything else to the file, up to its limit."""
        left = LOG_BYTES
        with output.open("wb") as file:
            for line in self.process.stdout or ():
                if line.startswith(b"HYDRA_LAUNCH"):
                    self.lines.append(line.decode("ascii", "replace"))
                    if line.startswith(b"HYDRA_LAUNCH_END"):
                        self.launched.set()
                elif left > 0:
                    file.write(line[:left])
                    left -= len(line)
        self.launched.set()

    def wait(self, seconds: float) -> Optional[int]:
        """Its exit status; None when it is still running."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            status = self.process.wait(max(seconds, 0))
            self.reader.join(10)
            return status
        return None

    def stop(self) -> None:
        """Ask first: Hydra then ends the ranks it started, which are in sessions of their own."""
        self.process.terminate()
        self.wait(5)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def rank_environment(settings: Settings) -> Dict[str, str]:
    """All that a rank of nccl-tests gets to see: nothing of the pod's own environment but where things are."""
    home = settings.work / "home"
    home.mkdir(parents=True, exist_ok=True)
    kept = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH") if name in os.environ}
    # MPI only starts the ranks: over TCP, so that it neither needs InfiniBand nor gets in the way of it
    mpi = {"MPIEXEC_PORT_RANGE": HYDRA_PORTS, "UCX_TLS": "tcp,self", "FI_PROVIDER": "tcp"}
    return {**kept, **mpi, "HOME": str(home), "LC_ALL": "C", **settings.nccl}


def command_line(settings: Settings) -> List[str]:
    low, high, factor = (str(size) for size in settings.sizes)
    binary = os.environ.get("TAU_NCCL_TESTS", "/opt/nccl-tests/all_reduce_perf")
    return [binary, "-b", low, "-e", high, "-f", factor, "-g", "1", "-c", "1", "-w", "5", "-n", "20"]


def proxy_command(host: str, line: str, proxy: int) -> List[str]:
    """The proxy to start, rebuilt from a launch line of which only known parts are believed."""
    match = LAUNCH.fullmatch(line)
    if match is None or int(match[3]) != proxy or not PROXY_OPTIONS.fullmatch(match[2]):
        raise Stop("runtime_error", "mpiexec printed a launch line of unknown form")
    where = shutil.which("hydra_pmi_proxy")
    if where is None:
        raise Stop("runtime_error", "hydra_pmi_proxy (MPICH) is not in this image")
    return [where, "--control-port", "%s:%s" % (host, match[1]), *match[2].split(), "--proxy-id", str(proxy)]


def lift_memlock() -> Optional[int]:
    """RDMA pins memory: as much as the node allows. The limit in bytes, None when there is none."""
    _, hard = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (hard, hard))
    return None if hard == resource.RLIM_INFINITY else hard


def run_tests(settings: Settings, peer: Peer) -> int:
    """The test on both sides; the exit status that both ranks know. 124: stopped at the deadline."""
    env = rank_environment(settings)
    end = time.monotonic() + settings.run_seconds
    output = settings.work / "output.log"
    if settings.rank == 1:
        told, _ = peer.receive("launch", 60)
        proxy = Program(proxy_command(settings.rank0, str(told.get("line", "")), 1), env, output)
        try:
            told, _ = peer.receive("finished", end + 60 - time.monotonic())
        finally:
            proxy.stop()
        return int(told.get("status", -1))
    if shutil.which("mpiexec.hydra") is None:
        raise Stop("runtime_error", "mpiexec.hydra (MPICH) is not in this image")
    mpiexec = ["mpiexec.hydra", "-launcher", "manual", "-genvnone", "-hosts", "rank-0,rank-1", "-n", "2", "-ppn", "1"]
    launcher = Program([*mpiexec, *command_line(settings)], env, output)
    programs = [launcher]
    try:
        launcher.launched.wait(30)
        lines = [line for line in launcher.lines if line.startswith("HYDRA_LAUNCH: ")]
        if len(lines) != 2:
            raise Stop("runtime_error", "mpiexec did not print two launch lines")
        peer.send("launch", line=lines[1])
        programs.append(Program(proxy_command("127.0.0.1", lines[0], 0), env, settings.work / "proxy.log"))
        status = launcher.wait(end - time.monotonic())
    finally:
        for program in programs:
            program.stop()
    status = 124 if status is None else status
    peer.send("finished", status=status)
    return status


def run_replay(settings: Settings) -> Tuple[int, Path]:
    """A recorded log and the exit status it was recorded with. The name must be in the list of recorded logs.

    Both ranks read it, each from its own image, as both ranks of a measurement have a log.
    """
    folder = Path(os.environ.get("TAU_RECORDED_DIR", "/opt/recorded"))
    with (folder / "INDEX.tsv").open(encoding="utf-8", newline="") as index:
        rows = {row["file"]: row for row in csv.DictReader(index, delimiter="\t", quoting=csv.QUOTE_NONE)}
    if settings.recorded not in rows:
        raise Stop("runtime_error", "TAU_PARAM_recordedLog names no recorded log")
    status = rows[settings.recorded]["exit_code"]
    return (int(status) if status != "-" else UNKNOWN_STATUS), folder / settings.recorded


UNKNOWN_STATUS = -1000


# ----------------------------------------------------------------------------------------------------
# Logs: bounded, scrubbed, exchanged, kept
# ----------------------------------------------------------------------------------------------------

SECRET_NAME = re.compile(r"TOKEN|SECRET|PASSW|CREDENTIAL|API_?KEY|ACCESS_KEY|PRIVATE", re.A)
SECRET_TEXT = re.compile(
    rb"(?i)((?:bearer|basic)\s+|(?:token|secret|password|passwd|credential|api_?key|signature|sig)[\w-]*\s*[=:]\s*)"
    rb"[^\s,;&]{6,}|(?<![A-Z0-9])AKIA[A-Z0-9]{16}(?![A-Z0-9])|(?<=://)[^/\s:@]+:[^/\s:@]+(?=@)"
)


def scrub(data: bytes, env: Dict[str, str]) -> bytes:
    """Without values of secret-looking variables of this pod, and without text that looks like a credential."""
    for name, value in env.items():
        if SECRET_NAME.search(name.upper()) and len(value) >= 6:
            data = data.replace(value.encode(), b"[removed]")
    return SECRET_TEXT.sub(lambda match: (match[1] or b"") + b"[removed]", data)


def own_logs(settings: Settings) -> Iterator[Tuple[str, bytes]]:
    """The NCCL log of this rank, and on rank 0 the output of nccl-tests."""
    for path in sorted(settings.work.glob("nccl.*.log"))[:4]:
        yield "nccl-log-%d" % settings.rank, head(path)
    if settings.rank == 0:
        yield "nccl-tests-output", head(settings.work / "output.log")


def head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(LOG_BYTES)


def exchange(settings: Settings, peer: Peer, logs: List[Tuple[str, bytes]]) -> List[Tuple[str, bytes]]:
    """All logs of the run in one order, so that both ranks judge the same bytes. Rank 0 speaks first."""
    theirs: List[Tuple[str, bytes]] = []
    for turn in (0, 1):
        if turn == settings.rank:
            peer.send("logs", count=len(logs))
            for name, data in logs:
                peer.send("log", data, name=name)
        else:
            told, _ = peer.receive("logs", 60)
            for _ in range(min(int(told.get("count", 0)), 8)):
                fields, data = peer.receive("log", 60, LOG_BYTES + 4096)
                theirs.append((str(fields.get("name", ""))[:63], data))
    return logs + theirs if settings.rank == 0 else theirs + logs


def only_one(logs: List[Tuple[str, bytes]]) -> List[Tuple[str, bytes]]:
    """The log that both ranks replay, once. Two different ones are no recording of one run."""
    if len(logs) != 2 or logs[0] != logs[1]:
        raise Stop("identity_mismatch", "the two ranks replay different logs: are their images the same?")
    return logs[:1]


def keep(settings: Settings, files: List[Tuple[str, bytes]]) -> List[Dict[str, Any]]:
    """Files on the artifact volume under their sha256, where results look for them; what the report says of them."""
    settings.artifacts.mkdir(parents=True, exist_ok=True)
    evidence = []
    for name, data in files:
        digest = hashlib.sha256(data).hexdigest()
        target = settings.artifacts / digest
        if not target.exists():  # both ranks may write one piece: a half written one is never seen under its name
            part = settings.artifacts / (".%s.%d" % (digest, settings.rank))
            part.write_bytes(data)
            part.chmod(0o644)
            part.replace(target)
        evidence.append({"name": name, "sha256": digest, "sizeBytes": len(data)})
    return evidence


def show(logs: List[Tuple[str, bytes]]) -> None:
    """The beginning of each log on standard output: for `kubectl logs`, and for the record of the control plane."""
    for name, data in logs:
        print("=== %s, %d bytes" % (name, len(data)), flush=True)
        sys.stdout.buffer.write(data[:SHOWN_BYTES])
        print("\n=== end of %s" % (name if len(data) <= SHOWN_BYTES else name + ", cut here"), flush=True)


# ----------------------------------------------------------------------------------------------------
# Verdict and report
# ----------------------------------------------------------------------------------------------------


def environment_faults(facts: Dict[str, Any], wanted: Dict[str, str]) -> List[str]:
    """Where NCCL says it read another setting than the one it was given, or one that it was not given at all."""
    faults = []
    for rank in facts["ranks"]:
        for name, value in rank["settings"].items():
            if name not in wanted:
                faults.append("rank %s read %s, which was not set" % (rank["rank"], name))
            elif name != "NCCL_DEBUG_FILE" and value != wanted[name]:
                faults.append("rank %s read another value of %s" % (rank["rank"], name))
    return faults


def judge(
    settings: Settings, status: int, nodes: Tuple[str, str], logs: List[Tuple[str, bytes]], replayed: bool
) -> Any:
    """The verdict, and not passed when the environment was not the one that makes a fallback loud."""
    known = None if status == UNKNOWN_STATUS else status
    request = nccl_transport.Request(settings.link_layer, False, known, nodes, settings.min_busbw)
    streams: List[Tuple[str, BinaryIO]] = [(name, io.BytesIO(data)) for name, data in logs]
    verdict = nccl_transport.judge(streams, request)
    faults = [] if replayed else environment_faults(verdict.facts, settings.nccl)
    if not replayed and SYSTEM_CONF.exists():
        faults.append("%s exists in the image" % SYSTEM_CONF)
    if faults and verdict.outcome == nccl_transport.PASSED:
        reason = "environment_mismatch"
        return verdict._replace(outcome="unknown", reason=reason, reasons=[reason], message="; ".join(faults[:4]))
    return verdict


def details(verdict: Any, nodes: Tuple[str, str], source: str) -> Dict[str, Any]:
    """`details.data` of the result (nccl-ib.v1): what the portal shows. Not observed is null."""
    facts = verdict.facts
    network = facts["network"]
    return {
        "source": source,
        "transport": network and "NET/" + network,
        "linkLayer": facts["linkLayer"],
        "socketFallback": True if "socket_fallback_observed" in verdict.reasons else False if network else None,
        "gdr": facts["gdr"],
        "hcas": facts["hcas"][:8],
        "channels": facts["channels"],
        "ncclVersions": facts["ncclVersions"],
        "busBandwidthGBps": facts["busbwLargestGBps"],
        "pairs": [{"from": nodes[0], "to": nodes[1], "value": facts["busbwLargestGBps"]}],
        "reasons": verdict.reasons,
        "firstError": facts["firstError"],
        "busBandwidthBySize": [{"sizeBytes": r["sizeBytes"], "GBps": r["outOfPlaceGBps"]} for r in facts["busbw"]],
    }


def report(rank: int, run_id: Optional[str], outcome: str, reason: str, message: str, **rest: Any) -> bytes:
    """At most 4096 bytes. What does not fit is left out, the least important first; the files have it all."""
    body: Dict[str, Any] = {"schema": SCHEMA, "rank": rank, "outcome": outcome, "reason": reason}
    body.update({"message": message[:512], **({"runID": run_id} if run_id else {}), **rest})
    data = body.get("data", {})
    for droppable in (None, "busBandwidthBySize", "firstError", "hcas", "reasons", *list(data)):
        data.pop(droppable, None)
        encoded = json.dumps(body, separators=(",", ":"), allow_nan=False).encode()
        if len(encoded) <= REPORT_BYTES:
            break
    return encoded


def take_part(settings: Settings, replayed: bool) -> bytes:
    """The whole part of this rank; the report."""
    settings.work.mkdir(parents=True, exist_ok=True)
    peer = meet(settings)
    nodes = greet(settings, peer)
    memlock: Optional[int] = None
    if replayed:
        status, path = run_replay(settings)
        mine = [("recorded-log", head(path))]
    else:
        memlock = lift_memlock()
        status = run_tests(settings, peer)
        mine = list(own_logs(settings))
    mine = [(name, scrub(data, dict(os.environ))) for name, data in mine]
    show(mine)
    logs = exchange(settings, peer, mine)
    if replayed:
        logs = only_one(logs)
    verdict = judge(settings, status, nodes, logs, replayed)
    source = "replay" if replayed else "nccl-tests"
    whole = json.dumps({**verdict.as_dict(), "source": source}, indent=2, allow_nan=False).encode()
    evidence = keep(settings, [*mine, ("verdict-%d" % settings.rank, whole)])
    data = {**details(verdict, nodes, source), "memlockBytes": memlock}
    return report(
        settings.rank,
        settings.run_id,
        verdict.outcome,
        verdict.reason,
        verdict.message,
        evidence=evidence,
        detailsSchema=DETAILS[replayed],
        data=data,
    )


def main(argv: List[str]) -> int:
    if argv not in (["measure"], ["replay"]):
        print("usage: runner.py measure|replay", file=sys.stderr)
        return 64
    signal.signal(signal.SIGTERM, terminated)
    env = dict(os.environ)
    rank, run_id = (1 if env.get("JOB_COMPLETION_INDEX") == "1" else 0), run_id_of(env)
    replayed = argv == ["replay"]
    try:
        text = take_part(read_settings(env), replayed)
    except Stop as stop:
        text = report(rank, run_id, "unknown", stop.reason, stop.message, detailsSchema=DETAILS[replayed])
    except (OSError, ValueError, KeyError) as error:
        words = "the runner failed: %s" % error.__class__.__name__
        text = report(rank, run_id, "unknown", "runtime_error", words, detailsSchema=DETAILS[replayed])
    target = Path(env.get("TAU_TERMINATION_LOG", "/dev/termination-log"))
    target.write_bytes(text)
    print(text.decode())
    return 0


def terminated(_signal: int, _frame: Any) -> None:
    raise Stop("deadline_exceeded", "the pod was told to end before the run was complete")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
