"""Two runners on this machine, as two pods would run them: they meet, measure or replay, judge and report.

There is no GPU here: nccl-tests is a script that prints a recorded log, once under a stand-in for Hydra and once
under the real one where MPICH is installed.
"""

import hashlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from checks.contract.report import Report, parse_report

from .recorded import CORPUS, EXAMPLE, load

runner = load("runner")
RUN = "7d0f3c9a51b2e84466aa91c0"

FAKE_TESTS = """#!{python}
import os, re, sys, time
log = open({log!r}, encoding="utf-8").read()[:{size}].splitlines(keepends=True)
host = "node-" + "ab"[int(os.environ["PMI_RANK"])]
path = os.environ["NCCL_DEBUG_FILE"].replace("%h", host).replace("%p", str(os.getpid()))
open(path, "w").writelines(line for line in log if re.match(host + ":", line))
if os.environ["PMI_RANK"] == "0":
    sys.stdout.writelines(line for line in log if not re.match(r"node-[ab]:", line))
{then}
"""
# Prints what the real one prints, waits for its two proxies, gives them the command and passes on what they say.
FAKE_MPIEXEC = """#!{python}
import json, socket, sys
server = socket.create_server(("127.0.0.1", 0))
port = server.getsockname()[1]
command = sys.argv[sys.argv.index("-ppn") + 2:]
for rank in (0, 1):
    print(f"HYDRA_LAUNCH: /usr/bin/hydra_pmi_proxy --control-port here:{{port}} --rmk user --launcher manual "
          f"--demux poll --pgid 0 --retries 10 --usize -2 --pmi-port 0 --gpus-per-proc -2 --proxy-id {{rank}} ")
print("HYDRA_LAUNCH_END", flush=True)
status = 0
calls = [server.accept()[0] for _ in (0, 1)]
for call in calls:
    call.sendall(json.dumps(command).encode() + b"\\n")
for call in calls:
    said = call.makefile("rb").read()
    head, _, output = said.partition(b"\\n")
    status = status or int(head)
    sys.stdout.buffer.write(output)
sys.exit(status)
"""
FAKE_PROXY = """#!{python}
import json, os, socket, subprocess, sys
host, port = sys.argv[sys.argv.index("--control-port") + 1].rsplit(":", 1)
call = socket.create_connection((host, int(port)))
command = json.loads(call.makefile("rb").readline())
env = dict(os.environ, PMI_RANK=sys.argv[sys.argv.index("--proxy-id") + 1])
done = subprocess.run(command, env=env, stdout=subprocess.PIPE)
call.sendall(str(done.returncode).encode() + b"\\n" + done.stdout)
"""


class Pods:
    """Two runners with a folder each, on two nodes unless said otherwise."""

    def __init__(self, folder: Path, mode: str) -> None:
        self.folder, self.mode = folder, mode
        self.bin = folder / "bin"
        self.bin.mkdir()
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        self.env = {
            "PATH": f"{self.bin}:{os.environ['PATH']}",
            "LD_LIBRARY_PATH": os.environ.get("LD_LIBRARY_PATH", ""),
            "TAU_RUN_ID": RUN,
            "TAU_RANK0_ADDRESS": "127.0.0.1",
            "TAU_PARAM_port": str(port),
            "TAU_PARAM_meetSeconds": "20",
            "TAU_PARAM_maxBytes": "2147483648",
            "TAU_RECORDED_DIR": str(CORPUS),
            "TAU_NCCL_TESTS": str(self.bin / "all_reduce_perf"),
        }
        self.only: list[dict[str, str]] = [{}, {}]
        self.started: list[subprocess.Popen[bytes]] = []

    def script(self, name: str, text: str, **fields: str) -> None:
        path = self.bin / name
        path.write_text(text.format(python=sys.executable, **fields))
        path.chmod(0o755)

    def tests_print(self, log: str | Path, then: str = "", size: int | None = None) -> None:
        path = log if isinstance(log, Path) else next(CORPUS.glob(f"{log}*"))
        self.script("all_reduce_perf", FAKE_TESTS, log=str(path), then=then, size=str(size))

    def stand_in_for_hydra(self) -> None:
        self.script("mpiexec.hydra", FAKE_MPIEXEC)
        self.script("hydra_pmi_proxy", FAKE_PROXY)

    def start(self, rank: int) -> subprocess.Popen[bytes]:
        home = self.folder / f"pod-{rank}"
        env = {
            **self.env,
            "JOB_COMPLETION_INDEX": str(rank),
            "NODE_NAME": f"gpu-{rank}",
            "TAU_WORK_DIR": str(home / "work"),
            "TAU_ARTIFACT_DIR": str(home / "artifacts"),
            "TAU_TERMINATION_LOG": str(home / "report"),
            **self.only[rank],
        }
        home.mkdir()
        command = [sys.executable, str(EXAMPLE / "runner.py"), self.mode]
        with (home / "stdout").open("wb") as stdout:
            process = subprocess.Popen(command, env=env, stdout=stdout, stderr=subprocess.PIPE)
        self.started.append(process)
        return process

    def printed(self, rank: int) -> bytes:
        """What `kubectl logs` would show."""
        return (self.folder / f"pod-{rank}" / "stdout").read_bytes()

    def report(self, rank: int) -> Report:
        data = (self.folder / f"pod-{rank}" / "report").read_bytes()
        found = parse_report(data)
        assert isinstance(found, Report), found
        assert found.rank == rank
        return found

    def run(self) -> tuple[Report, Report]:
        for process in [self.start(rank) for rank in (0, 1)]:
            _, said = process.communicate(timeout=60)
            assert process.returncode == 0, said
            assert b"Traceback" not in said
        return self.report(0), self.report(1)

    def artifact(self, rank: int, name: str) -> bytes:
        """A piece by the name in the report, from where a result looks for it."""
        sha256 = next(item.sha256 for item in self.report(rank).evidence if item.name == name)
        return (self.folder / f"pod-{rank}" / "artifacts" / sha256).read_bytes()


@pytest.fixture
def pods(tmp_path: Path) -> Iterator[Callable[[str], Pods]]:
    made: list[Pods] = []

    def make(mode: str) -> Pods:
        made.append(Pods(tmp_path, mode))
        return made[0]

    yield make
    for process in made[0].started if made else ():
        process.kill()
        process.communicate()


def replay(pods: Callable[[str], Pods], number: str) -> Pods:
    two = pods("replay")
    two.env["TAU_PARAM_recordedLog"] = next(CORPUS.glob(f"{number}*")).name
    return two


@pytest.mark.parametrize(
    ("number", "outcome", "reason"),
    [
        ("003", "passed", "validation_passed"),
        ("027", "failed", "socket_fallback_observed"),
        ("082", "unknown", "deadline_exceeded"),
        ("115", "unknown", "invalid_measurement"),
    ],
)
def test_a_recorded_log_is_replayed_on_both_ranks(
    pods: Callable[[str], Pods], number: str, outcome: str, reason: str
) -> None:
    for report in replay(pods, number).run():
        assert (report.outcome, report.reason) == (outcome, reason)
        assert report.run_id == RUN
        assert report.data["source"] == "replay"
        assert report.details_schema == "nccl-ib-replay.v1"


def test_what_a_pod_prints_holds_the_log_it_judged(pods: Callable[[str], Pods]) -> None:
    two = replay(pods, "003")
    two.run()
    log = next(CORPUS.glob("003*")).read_bytes()
    for rank in (0, 1):
        assert log in two.printed(rank)
        assert two.printed(rank).endswith((two.folder / f"pod-{rank}" / "report").read_bytes() + b"\n")


def test_a_long_log_is_printed_up_to_a_limit_and_kept_whole(pods: Callable[[str], Pods], tmp_path: Path) -> None:
    two, lines = with_index(pods, tmp_path), b"node-a:1:1 [0] NCCL INFO AllReduce: opCount 1\n" * 3_000
    (tmp_path / "recorded" / "003.log").write_bytes(lines)
    two.run()
    assert runner.SHOWN_BYTES < len(two.printed(0)) < runner.SHOWN_BYTES + 8192
    assert b"=== end of recorded-log, cut here" in two.printed(0)
    assert two.artifact(0, "recorded-log") == lines


def with_index(pods: Callable[[str], Pods], tmp_path: Path) -> Pods:
    """A replay from a folder of recorded logs of its own, which holds 003.log."""
    (tmp_path / "recorded").mkdir()
    (tmp_path / "recorded" / "INDEX.tsv").write_text("file\texit_code\n003.log\t0\n")
    (tmp_path / "recorded" / "003.log").write_bytes(next(CORPUS.glob("003*")).read_bytes())
    two = pods("replay")
    two.env |= {"TAU_RECORDED_DIR": str(tmp_path / "recorded"), "TAU_PARAM_recordedLog": "003.log"}
    return two


def test_two_ranks_that_replay_different_logs_are_of_two_images(pods: Callable[[str], Pods], tmp_path: Path) -> None:
    two = with_index(pods, tmp_path)
    two.only[1] = {"TAU_RECORDED_DIR": str(CORPUS), "TAU_PARAM_recordedLog": next(CORPUS.glob("018*")).name}
    assert [(report.outcome, report.reason) for report in two.run()] == [("unknown", "identity_mismatch")] * 2


def test_every_file_a_report_names_is_there_with_that_hash(pods: Callable[[str], Pods]) -> None:
    two = replay(pods, "003")
    for report in two.run():
        assert {item.name for item in report.evidence} == {"recorded-log", f"verdict-{report.rank}"}
        for item in report.evidence:
            data = two.artifact(report.rank, item.name)
            assert (hashlib.sha256(data).hexdigest(), len(data)) == (item.sha256, item.size_bytes)


def test_two_pods_on_one_node_do_not_pass(pods: Callable[[str], Pods]) -> None:
    two = replay(pods, "003")
    two.env["NODE_NAME"] = "gpu-0"
    two.only = [{"NODE_NAME": "gpu-0"}, {"NODE_NAME": "gpu-0"}]
    assert [report.reason for report in two.run()] == ["placement_mismatch"] * 2


def test_pods_of_two_runs_do_not_talk_to_each_other(pods: Callable[[str], Pods]) -> None:
    two = replay(pods, "003")
    two.only[1] = {"TAU_RUN_ID": "0" * 24}
    assert [report.reason for report in two.run()] == ["identity_mismatch"] * 2


@pytest.mark.parametrize("rank", [0, 1])
def test_a_rank_that_is_alone_says_so_in_time(pods: Callable[[str], Pods], rank: int) -> None:
    two = replay(pods, "003")
    two.env["TAU_PARAM_meetSeconds"] = "1"
    two.start(rank).communicate(timeout=30)
    report = two.report(rank)
    assert (report.outcome, report.reason) == ("unknown", "rendezvous_failed")
    assert report.message


def test_a_rank_that_is_told_to_end_still_reports(pods: Callable[[str], Pods]) -> None:
    two = replay(pods, "003")
    process = two.start(0)
    time.sleep(0.5)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=30)
    assert two.report(0).reason == "deadline_exceeded"


@pytest.mark.parametrize(
    "wrong",
    [
        {"TAU_PARAM_linkLayer": "Ethernet"},
        {"TAU_PARAM_minBytes": "-1"},
        {"TAU_PARAM_minBytes": "1024", "TAU_PARAM_maxBytes": "8"},
        {"TAU_PARAM_ncclEnvironment": "NCCL_IB_DISABLE=1"},
        {"TAU_PARAM_ncclEnvironment": "LD_PRELOAD=/tmp/x"},
        {"TAU_PARAM_ncclEnvironment": "NCCL_IB_HCA=mlx5 LD_PRELOAD=x"},
        {"JOB_COMPLETION_INDEX": "2"},
        {"JOB_COMPLETION_INDEX": ""},
    ],
)
def test_a_wrong_parameter_is_named_in_the_report(pods: Callable[[str], Pods], wrong: dict[str, str]) -> None:
    two = replay(pods, "003")
    two.only[0] = wrong
    two.start(0).communicate(timeout=30)
    report = two.report(0)
    assert (report.outcome, report.reason) == ("unknown", "runtime_error")
    assert next(iter(wrong)) in report.message


def test_an_image_without_mpich_is_named_as_the_cause(pods: Callable[[str], Pods]) -> None:
    two = pods("measure")
    two.env["PATH"] = str(two.bin)
    reports = two.run()
    assert (reports[0].outcome, reports[0].reason) == ("unknown", "runtime_error")
    assert "MPICH" in reports[0].message
    assert (reports[1].outcome, reports[1].reason) == ("unknown", "peer_lost")


def test_a_recorded_log_must_be_one_of_the_list(pods: Callable[[str], Pods]) -> None:
    two = replay(pods, "003")
    two.env["TAU_PARAM_recordedLog"] = "../../../../etc/passwd"
    assert {report.outcome for report in two.run()} == {"unknown"}


HYDRA = shutil.which("mpiexec.hydra") and shutil.which("hydra_pmi_proxy")
LAUNCHERS = [
    "stand-in",
    pytest.param("MPICH", marks=pytest.mark.skipif(not HYDRA, reason="mpiexec.hydra (package mpich) is not installed")),
]


@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_a_measurement_without_ssh_passes_on_both_ranks(pods: Callable[[str], Pods], launcher: str) -> None:
    two = pods("measure")
    if launcher == "stand-in":
        two.stand_in_for_hydra()
    two.tests_print("020")
    two.env["TAU_PARAM_ncclEnvironment"] = "NCCL_IB_HCA=mlx5;NCCL_IB_SL=1"
    reports = two.run()
    assert [report.outcome for report in reports] == ["passed", "passed"], reports
    for report in reports:
        assert report.data["source"] == "nccl-tests"
        assert report.details_schema == "nccl-ib.v1"
        assert report.data["transport"] == "NET/IB"
        assert report.data["pairs"] == [{"from": "gpu-0", "to": "gpu-1", "value": 48.88}]
    assert reports[0].data == reports[1].data
    assert [item.name for item in reports[0].evidence] == ["nccl-log-0", "nccl-tests-output", "verdict-0"]
    assert [item.name for item in reports[1].evidence] == ["nccl-log-1", "verdict-1"]
    assert b"node-b" in two.artifact(1, "nccl-log-1")


@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_a_measurement_that_fails_is_failed_on_both_ranks(pods: Callable[[str], Pods], launcher: str) -> None:
    two = pods("measure")
    if launcher == "stand-in":
        two.stand_in_for_hydra()
    two.tests_print("020", then="sys.exit(3)")
    for report in two.run():
        assert (report.outcome, report.reason) == ("failed", "nonzero_exit")


@pytest.mark.parametrize("size", [None, 3_001, 0], ids=["whole log", "torn log", "no log"])
@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_a_measurement_that_hangs_ends_at_its_deadline(
    pods: Callable[[str], Pods], launcher: str, size: int | None
) -> None:
    two = pods("measure")
    if launcher == "stand-in":
        two.stand_in_for_hydra()
    two.tests_print("020", then="sys.stdout.flush(); time.sleep(600)", size=size)
    two.env["TAU_PARAM_runSeconds"] = "3"
    began = time.monotonic()
    for report in two.run():
        assert (report.outcome, report.reason) == ("unknown", "deadline_exceeded")
    assert time.monotonic() - began < 40
    left = [path for path in Path("/proc").glob("[0-9]*/cmdline") if str(two.bin).encode() in read(path)]
    assert not left, "a rank outlived its run"


def read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_a_rank_of_nccl_tests_sees_nothing_of_the_pods_environment(
    pods: Callable[[str], Pods], launcher: str, tmp_path: Path
) -> None:
    two = pods("measure")
    if launcher == "stand-in":
        two.stand_in_for_hydra()
    seen = tmp_path / "seen"
    two.tests_print("020", then=f"open({str(seen)!r} + os.environ['PMI_RANK'], 'w').write(repr(dict(os.environ)))")
    two.env.update(API_TOKEN="hunter2hunter2", NCCL_IB_DISABLE="1")
    two.run()
    for rank in (0, 1):
        environment = Path(f"{seen}{rank}").read_text()
        assert "hunter2" not in environment
        assert "NCCL_IB_DISABLE" not in environment
        for name, value in runner.FIXED.items():
            assert f"'{name}': '{value}'" in environment


def test_a_setting_that_nccl_read_otherwise_leaves_the_run_unknown(pods: Callable[[str], Pods], tmp_path: Path) -> None:
    record = "node-a:1201:1201 [0] NCCL INFO NCCL_ALGO set by environment to Tree\n"
    log = next(CORPUS.glob("020*")).read_text()
    log = log.replace("node-a:1201:1201 [0] NCCL INFO cuda", record + "node-a:1201:1201 [0] NCCL INFO cuda", 1)
    (tmp_path / "changed.log").write_text(log)
    two = pods("measure")
    two.stand_in_for_hydra()
    two.tests_print(tmp_path / "changed.log")
    for report in two.run():
        assert (report.outcome, report.reason) == ("unknown", "environment_mismatch")
        assert "NCCL_ALGO" in report.message


def test_secrets_do_not_reach_artifacts_or_reports(pods: Callable[[str], Pods]) -> None:
    two = pods("measure")
    two.stand_in_for_hydra()
    leak = "print('login hunter2hunter2 password=geheim99 https://user:geheim99@host/ AKIAABCDEFGHIJKLMNOP')"
    two.tests_print("020", then=leak + " if os.environ['PMI_RANK'] == '0' else None")
    two.env["STORE_SECRET"] = "hunter2hunter2"
    two.run()
    everything = b"".join(
        path.read_bytes()
        for rank in (0, 1)
        for path in (two.folder / f"pod-{rank}").rglob("*")
        if path.is_file() and "work" not in path.parts
    )
    for secret in (b"hunter2", b"geheim99", b"AKIAABCDEFGHIJKLMNOP"):
        assert secret not in everything
    assert b"[removed]" in everything


def test_a_report_never_exceeds_what_the_kubelet_keeps() -> None:
    data = {
        "busBandwidthBySize": [{"sizeBytes": i, "GBps": 1.0} for i in range(500)],
        "firstError": {"text": "x" * 3000},
        "reasons": ["a"],
        "source": "nccl-tests",
    }
    text = runner.report(0, RUN, "passed", "validation_passed", "m" * 5000, evidence=[], data=data)
    found = parse_report(text)
    assert isinstance(found, Report)
    assert found.data["source"] == "nccl-tests"
    assert isinstance(
        parse_report(runner.report(0, None, "unknown", "x", "\u0001" * 5000, data={"a": "b" * 9000})), Report
    )


@pytest.mark.parametrize(
    "line",
    [
        "HYDRA_LAUNCH: /bin/sh --control-port h:1 -c evil --proxy-id 1",
        "HYDRA_LAUNCH: x --control-port h:1 --rmk user --launcher ssh --proxy-id 1",
        "HYDRA_LAUNCH: x --control-port h:1 --rmk user --proxy-id 0",
        "rm -rf /",
        "",
    ],
)
def test_rank_1_starts_nothing_but_a_proxy(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "hydra_pmi_proxy").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(runner.Stop):
        runner.proxy_command("host", line, 1)
    good = "HYDRA_LAUNCH: /usr/bin/x --control-port job-0:29501 --rmk user --launcher manual --proxy-id 1 \n"
    assert runner.proxy_command("host", good, 1) == [
        *(str(tmp_path / "hydra_pmi_proxy"), "--control-port", "host:29501"),
        *("--rmk", "user", "--launcher", "manual", "--proxy-id", "1"),
    ]


def test_rank_1_finds_rank_0_by_the_names_an_indexed_job_gives() -> None:
    name = "ib-pair-7d0f-1.peers.team-vision.svc.cluster.local"
    assert runner.rank0_address(name) == "ib-pair-7d0f-0.peers.team-vision.svc.cluster.local"
    assert runner.rank0_address("ib-pair-1") == "ib-pair-0"


def test_wrong_usage_is_64() -> None:
    done = subprocess.run([sys.executable, str(EXAMPLE / "runner.py"), "pass"], capture_output=True, check=False)
    assert done.returncode == 64


def test_what_the_runner_sends_is_json_a_reader_of_the_contract_takes() -> None:
    text = runner.report(1, RUN, "failed", "transport_failure", "\u2028 \U0001f600", data={"gdr": None})
    assert json.loads(text)["data"] == {"gdr": None}
    assert isinstance(parse_report(text), Report)
