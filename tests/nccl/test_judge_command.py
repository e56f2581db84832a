"""The command line other tools rely on: one JSON object and an exit status."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from .recorded import BY_NUMBER, CORPUS, EXAMPLE


def run(*arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, str(EXAMPLE / "nccl_transport.py"), *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, check=False, timeout=60)


def log(number: str) -> str:
    return str(CORPUS / BY_NUMBER[number].file)


KNOWN = ("--exit-code", "0", "--nodes", "node-a,node-b")


@pytest.mark.parametrize(
    ("arguments", "status", "outcome"),
    [
        ((*KNOWN, log("001")), 0, "passed"),
        ((*KNOWN, "--link-layer", "InfiniBand", log("001")), 0, "passed"),
        ((*KNOWN, log("004")), 1, "failed"),
        ((*KNOWN, "--link-layer", "any", log("004")), 0, "passed"),
        ((*KNOWN, "--min-busbw", "100", log("001")), 1, "failed"),
        ((*KNOWN, log("010")), 2, "unknown"),
        ((*KNOWN, "--accept-untested-nccl", log("010")), 0, "passed"),
        ((*KNOWN, log("027")), 1, "failed"),
        ((log("001"),), 2, "unknown"),
        (("--exit-code", "-", "--nodes", "a,b", log("001")), 2, "unknown"),
        (("--exit-code", "0", "--nodes", "a", log("001")), 2, "unknown"),
        (("--exit-code", "-9", "--nodes", "a,b", log("001")), 2, "unknown"),
    ],
)
def test_the_exit_status_says_the_outcome(arguments: tuple[str, ...], status: int, outcome: str) -> None:
    done = run("judge", *arguments)
    report = json.loads(done.stdout)
    assert (done.returncode, report["outcome"]) == (status, outcome), done.stderr
    assert set(report) >= {"outcome", "reason", "reasons", "message", "facts"}
    assert report["reasons"][0] == report["reason"]
    assert done.stderr == b""


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("judge",),
        ("judge", "--link-layer", "Ethernet", log("001")),
        ("judge", "--exit-code", "zero", log("001")),
        ("judge", "--min-busbw", "nan", log("001")),
        ("judge", "--min-busbw", "-1", log("001")),
        ("judge", "/no/such/log"),
        ("judge", str(CORPUS)),
        ("frobnicate", log("001")),
    ],
)
def test_wrong_usage_is_64_with_words_and_without_a_verdict(arguments: tuple[str, ...]) -> None:
    done = run(*arguments)
    assert done.returncode == 64
    assert done.stdout == b""
    assert done.stderr
    assert b"Traceback" not in done.stderr


def test_a_log_can_come_from_standard_input() -> None:
    assert run("judge", *KNOWN, "-", stdin=BY_NUMBER["001"].data).returncode == 0


def test_an_empty_log_proves_nothing(tmp_path: Path) -> None:
    (tmp_path / "empty.log").touch()
    done = run("judge", *KNOWN, str(tmp_path / "empty.log"))
    assert (done.returncode, json.loads(done.stdout)["reason"]) == (2, "untested_nccl_version")


def test_the_facts_answer_what_one_asks_at_night() -> None:
    facts = json.loads(run("judge", *KNOWN, log("003")).stdout)["facts"]
    first = facts["ranks"][0]
    assert (first["rank"], first["host"], first["node"]) == (0, "node-a", "node-a")
    assert first["hcas"] == [{"index": 11, "name": "mlx5_11", "port": 1, "linkLayer": "InfiniBand"}]
    assert (facts["linkLayer"], facts["gdr"], facts["channels"]) == ("InfiniBand", True, 4)
    assert facts["busbw"][-1] == {"sizeBytes": 2147483648, "outOfPlaceGBps": 48.58, "inPlaceGBps": 48.73}
    assert (facts["busbwLargestGBps"], facts["averageBusbwGBps"]) == (48.58, 20.2431)
    assert facts["ncclVersions"] == ["2.27.5"]
    assert facts["firstError"] is None


def test_a_fact_that_was_not_observed_is_null() -> None:
    facts = json.loads(run("judge", *KNOWN, log("102")).stdout)["facts"]
    assert facts["linkLayer"] is None
    assert facts["gdr"] is None
    assert facts["channels"] is None


def test_a_failure_names_its_first_error_and_the_next_step() -> None:
    facts = json.loads(run("judge", *KNOWN, log("047")).stdout)["facts"]
    assert facts["firstError"]["line"] == 32
    assert facts["firstError"]["host"] == "node-a"
    assert "ibv_modify_qp" in facts["firstError"]["text"]
    assert any("GID index" in step for step in facts["next"])


def test_a_reader_who_goes_away_changes_no_exit_status() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, str(EXAMPLE / "nccl_transport.py"), "judge", *KNOWN, log("001")]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, check=False, timeout=60)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")
