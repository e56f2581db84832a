"""The dumps as files: the same twice, quickly written, with everything a fleet page needs, honest in their logs."""

import json
import subprocess
import sys
from collections import Counter
from datetime import timedelta
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from click.testing import CliRunner

from checks.contract.clock import parse_time
from checks.contract.document import digest, digest_of
from checks.contract.kinds import APPROVED, CHECK, TEMPLATE, TemplateSpec
from checks.contract.parsing import parse
from checks.sample import CLUSTERS, write_dumps, write_earlier
from checks.sample.__main__ import main
from checks.sample.logs import nccl_log
from checks.sample.nodes import SIGNALS, machines

from .conftest import NOW, explain

Object = dict[str, Any]


def objects(path: Path) -> list[Object]:
    return [json.loads(text) for text in path.read_text().splitlines()]


def contents(folder: Path) -> dict[str, bytes | str]:
    files = (path for path in folder.rglob("*") if path.is_symlink() or path.is_file())
    return {
        str(path.relative_to(folder)): str(path.readlink()) if path.is_symlink() else path.read_bytes()
        for path in files
    }


@pytest.fixture(scope="session")
def everything(fleet: Path) -> dict[str, list[Object]]:
    return {cluster: objects(fleet / f"{cluster}.json") for cluster in CLUSTERS}


def test_two_samples_of_the_same_time_are_the_same_bytes(fleet: Path, tmp_path: Path) -> None:
    write_dumps(tmp_path, NOW)
    assert contents(tmp_path) == contents(fleet)


def test_writing_again_over_an_older_sample_leaves_no_evidence_of_it_in_the_way(tmp_path: Path) -> None:
    write_dumps(tmp_path, NOW - timedelta(days=3))
    paths = write_dumps(tmp_path, NOW)
    assert explain(paths, tmp_path / "evidence")["west-1", "team-vision", "ib-pair"].verdict.reason == "proved"


def test_a_sample_is_written_within_two_seconds_of_work(tmp_path: Path) -> None:
    begin = process_time()
    write_dumps(tmp_path, NOW)
    assert process_time() - begin < 2


def test_no_time_lies_in_the_future_but_where_a_clock_is_wrong(everything: dict[str, list[Object]]) -> None:
    late = [
        item["metadata"]["name"]
        for found in everything.values()
        for item in found
        if any(at and at > NOW for at in map(parse_time, _past_times(item)))
    ]
    assert [name.rpartition("-")[0].rpartition("-")[0] for name in late] == ["storage-cold"]


def _past_times(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [t for key, item in value.items() if key not in ("validUntil", "deadlineAt") for t in _past_times(item)]
    if isinstance(value, list):
        return [t for item in value for t in _past_times(item)]
    return [value] if isinstance(value, str) else []


def test_there_are_sixty_nodes_in_several_sites_and_pools_with_every_signal(
    everything: dict[str, list[Object]],
) -> None:
    nodes = [item for found in everything.values() for item in found if item["kind"] == "Node"]
    sites = {(n["metadata"]["labels"]["unbounded-cloud.io/site"]) for n in nodes}
    pools = {(n["metadata"]["labels"]["kubernetes.azure.com/agentpool"]) for n in nodes}
    assert len(nodes) >= 60 and len(sites) >= 4 and len(pools) >= 4
    assert (
        len({n["metadata"]["uid"] for n in nodes})
        == len({n["status"]["nodeInfo"]["bootID"] for n in nodes})
        == len(nodes)
    )
    seen = Counter(tuple(c["type"] for c in n["status"]["conditions"]) for n in nodes)
    assert seen == {("Ready", *SIGNALS): len(nodes) - 1, ("Ready",): 1}


def test_nodes_are_ready_faulty_silent_and_cordoned(everything: dict[str, list[Object]]) -> None:
    nodes = [item for found in everything.values() for item in found if item["kind"] == "Node"]
    conditions = [c for n in nodes for c in n["status"]["conditions"]]
    faults = {c["type"] for c in conditions if c["type"] != "Ready" and c["status"] == "True"}
    silent = [c for c in conditions if (NOW - (parse_time(c["lastHeartbeatTime"]) or NOW)) > timedelta(minutes=15)]
    assert faults == {"IBLinkDown", "XIDError79", "GPUECCDoubleVolatile", "GPUThermalViolation"}
    assert silent
    assert [c["status"] for c in conditions if c["type"] == "Ready"].count("Unknown") == 2
    assert sum("unschedulable" in n["spec"] for n in nodes) == 2


def test_the_use_of_a_queue_is_that_of_its_workloads_and_fits_into_its_nodes(
    everything: dict[str, list[Object]],
) -> None:
    for cluster, found in everything.items():
        queues = {q["metadata"]["name"]: q["status"] for q in found if q["kind"] == "ClusterQueue"}
        work = [w for w in found if w["kind"] == "Workload"]
        admitted = Counter[str]()
        for item in work:
            for assigned in item["status"].get("admission", {}).get("podSetAssignments", ()):
                admitted[item["metadata"]["namespace"]] += int(assigned["resourceUsage"]["nvidia.com/gpu"])
        used = {name: int(q["flavorsUsage"][0]["resources"][0]["total"]) for name, q in queues.items()}
        assert used == dict(admitted)
        waiting = Counter(w["metadata"]["namespace"] for w in work if "admission" not in w["status"])
        assert {name: q["pendingWorkloads"] for name, q in queues.items()} == {name: waiting[name] for name in queues}
        assert sum(used.values()) < sum(
            int(n["status"]["allocatable"]["nvidia.com/gpu"]) for n in found if n["kind"] == "Node"
        ), cluster


def test_every_template_keeps_the_contract(everything: dict[str, list[Object]], tmp_path: Path) -> None:
    earlier = [item for path in write_earlier(tmp_path, NOW) for item in objects(path)]
    found = [item for item in (*earlier, *(i for f in everything.values() for i in f)) if item["kind"] == TEMPLATE]
    assert len(found) > 10
    assert [problem for item in found for problem in parse(TemplateSpec, item["spec"]).problems] == []


def test_what_was_approved_and_is_different_now_is_in_the_earlier_dumps(fleet: Path, tmp_path: Path) -> None:
    earlier = {
        digest(item["spec"]) for path in write_earlier(tmp_path, NOW) for item in objects(path) if "spec" in item
    }
    west = {i["metadata"]["name"]: i for i in objects(fleet / "west-1.json") if i["kind"] == CHECK}
    east = {i["metadata"]["name"]: i for i in objects(fleet / "east-1.json") if i["kind"] == CHECK}
    changed = west["checkpoint-cold"]
    assert changed["metadata"]["annotations"][APPROVED] in earlier
    assert digest(changed["spec"]) not in earlier
    pinned = [east[name]["spec"]["launch"]["template"]["digest"] for name in ("gpu-soak", "nvlink-ring")]
    assert set(pinned) <= earlier


def test_evidence_is_named_by_its_bytes_but_where_a_story_needs_otherwise(fleet: Path) -> None:
    files = list((fleet / "evidence").iterdir())
    other = [path for path in files if path.is_symlink() or digest_of(path.read_bytes()) != f"sha256:{path.name}"]
    assert len(files) > 200
    assert len(other) == 3  # changed, cut, and not readable


@pytest.mark.parametrize(
    ("speed", "more", "outcome"),
    [
        pytest.param(47.8, {}, ("passed", ["validation_passed"]), id="a healthy pair passes"),
        pytest.param(3.1, {"transport": "Socket"}, ("failed", ["socket_fallback_observed"]), id="sockets fail"),
        pytest.param(47.7, {"wrong": 18}, ("failed", ["correctness_error"]), id="wrong data fails"),
    ],
)
def test_the_transport_judge_agrees_with_the_logs(
    speed: float, more: dict[str, Any], outcome: tuple[str, list[str]], tmp_path: Path
) -> None:
    there = machines("west-1")
    log = tmp_path / "ranks.log"
    log.write_text(nccl_log((there["gpu-03"], there["gpu-12"]), speed, **more))
    program = Path(__file__).parents[2] / "examples" / "nccl-ib" / "nccl_transport.py"
    command = [sys.executable, str(program), "judge", "--nodes", "gpu-03,gpu-12", "--exit-code", "0", str(log)]
    said = json.loads(subprocess.run(command, capture_output=True, text=True, check=False).stdout)
    assert (said["outcome"], said["reasons"][:1]) == outcome


def test_the_program_writes_a_sample_that_can_be_explained(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, [str(tmp_path / "sample")])
    assert done.exit_code == 0
    assert f"tau-check explain -f {tmp_path}/sample/*.json" in done.output
    assert {path.name for path in (tmp_path / "sample").iterdir()} == {*(f"{c}.json" for c in CLUSTERS), "evidence"}
