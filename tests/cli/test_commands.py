"""init, diff, status, completion, and the reference that is written from them."""

import json
import os
import subprocess
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from checks.cli import commands
from checks.cli.reference import reference
from checks.sample import write_dumps
from tests.contract.example import DUMP, Example
from tests.sample.conftest import NOW

from .invoke import invoke

DOCS = Path(__file__).parents[2] / "docs"
IMAGE = "registry.example/tools@sha256:" + "4e" * 32


@pytest.mark.parametrize(
    "options",
    [[], ["--count", "1", "--image", IMAGE, "--namespace", "team-search", "--title", "Path (cold)", "--queue", "q"]],
)
def test_a_new_check_is_valid_as_it_is(tmp_path: Path, options: list[str]) -> None:
    folder = tmp_path / "storage-path"
    answer = invoke("init", "storage-path", "--directory", folder, *options)
    assert answer.exit_code == 0
    checked = invoke("validate", folder)
    assert checked.exit_code == 0, checked.stdout
    assert "note:" not in checked.stderr
    assert {path.name for path in folder.iterdir()} == {"template.yaml", "check.yaml", "README.md"}


@pytest.mark.parametrize(
    ("path", "outcome"), [("/proc/meminfo", "passed"), ("/nowhere/at/all", "failed"), ("/unreadable", "unknown")]
)
def test_the_shell_of_a_new_check_writes_a_valid_report(tmp_path: Path, path: str, outcome: str) -> None:
    invoke("init", "storage-path", "--directory", tmp_path / "new")
    template = yaml.safe_load((tmp_path / "new" / "template.yaml").read_text())
    script = template["spec"]["job"]["spec"]["template"]["spec"]["containers"][0]["command"][2]
    log = tmp_path / "termination-log"
    script = script.replace("/dev/termination-log", str(log)).replace(
        "[ ! -r", "[ ! -r" if outcome != "unknown" else "[ -e"
    )
    environ = {"JOB_COMPLETION_INDEX": "1", "TAU_RUN_ID": "7d0f3c9a51b2e84466aa91c0"}
    where = str(tmp_path) if outcome == "unknown" else path
    subprocess.run(["/bin/sh", "-c", script], check=True, env={**os.environ, **environ, "TAU_PARAM_path": where})
    assert json.loads(log.read_text())["outcome"] == outcome
    assert json.loads(log.read_text())["rank"] == 1
    assert invoke("validate", "-", stdin=log.read_bytes()).exit_code == 0


def test_init_overwrites_nothing(tmp_path: Path) -> None:
    (tmp_path / "check.yaml").write_text("mine")
    assert invoke("init", "storage-path", "--directory", tmp_path).exit_code == 65
    assert (tmp_path / "check.yaml").read_text() == "mine"
    assert not (tmp_path / "template.yaml").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["Storage_Path"],
        ["a" * 23],
        ["x", "--image", "busybox:latest"],
        ["x", "--title", "a\nkind: Secret"],
        ["x", "--owner", "o: {}"],
        ["x", "--namespace", "../etc"],
        ["x", "--count", "0"],
    ],
)
def test_init_refuses_what_would_not_be_valid(tmp_path: Path, arguments: list[str]) -> None:
    assert invoke("init", *arguments, "--directory", tmp_path / "new").exit_code == 64
    assert not (tmp_path / "new").exists()


def written(example: Example, folder: Path) -> Path:
    folder.mkdir()
    return example.write(folder)[0]


def test_nothing_changed_is_0_and_says_so() -> None:
    answer = invoke("diff", DUMP / "west-1.yaml", DUMP / "west-1.yaml")
    assert (answer.exit_code, answer.stdout) == (0, "No registration and no template changed.\n")


def test_a_changed_registration_is_shown_with_its_lines_and_digests(tmp_path: Path) -> None:
    example = Example()
    example.check["spec"]["results"]["freshForSeconds"] = 3600
    after = written(example, tmp_path / "after")
    answer = invoke("diff", DUMP / "west-1.yaml", after)
    assert answer.exit_code == 1
    assert "TauValidationCheck team-vision/ib-pair changed: spec digest sha256:c29377f65f9e…" in answer.stdout
    assert "-    freshForSeconds: 86400" in answer.stdout and "+    freshForSeconds: 3600" in answer.stdout
    assert (
        invoke("diff", DUMP / "west-1.yaml", after, "-o", "name").stdout == "TauValidationCheck/team-vision/ib-pair\n"
    )


def test_approval_alone_is_a_change_and_runs_and_results_are_none(tmp_path: Path) -> None:
    example = Example()
    example.drop(example.run)
    example.drop(example.result)
    example.check["status"] = {}
    assert invoke("diff", DUMP / "west-1.yaml", written(example, tmp_path / "less")).exit_code == 0
    example.check["metadata"]["annotations"]["tau.azure.com/reviewed-by"] = "mallory@example.org"
    answer = invoke("diff", DUMP / "west-1.yaml", written(example, tmp_path / "more"))
    assert answer.exit_code == 1
    assert "the spec is the same, its approval is not" in answer.stdout
    assert "+  tau.azure.com/reviewed-by: mallory@example.org" in answer.stdout


def test_added_and_removed_objects_are_named(tmp_path: Path) -> None:
    example = Example()
    example.drop(example.template)
    less = written(example, tmp_path / "less")
    gone = json.loads(invoke("diff", DUMP / "west-1.yaml", less, "-o", "json").stdout)
    assert [(item["kind"], item["change"], item["digestAfter"]) for item in gone] == [
        ("TauValidationTemplate", "removed", None)
    ]
    came = json.loads(invoke("diff", less, DUMP / "west-1.yaml", "-o", "json").stdout)
    assert [item["change"] for item in came] == ["added"]


def test_diff_of_what_cannot_be_read_is_65(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text("a: [")
    assert invoke("diff", DUMP / "west-1.yaml", tmp_path / "bad.yaml").exit_code == 65
    assert invoke("diff", DUMP / "west-1.yaml", tmp_path / "none.yaml").exit_code == 65
    assert invoke("diff", "-", "-").exit_code == 64


def test_status_is_one_line_per_check_and_the_worst_first(tmp_path: Path) -> None:
    west = write_dumps(tmp_path, NOW)[0]
    options = ["-f", west, "--evidence", tmp_path / "evidence"]
    answer = invoke("status", *options)
    assert answer.exit_code == 1
    head, titles, *rows = answer.stdout.splitlines()
    assert " Failed" in head and titles.split() == ["STATE", "REASON", "CHECK", "CLUSTER", "MESSAGE"]
    assert rows[0].startswith("Failed") and rows[-1].startswith("Passed")
    said = json.loads(invoke("status", *options, "-o", "json").stdout)
    assert len(said["checks"]) == len(rows) == sum(said["summary"].values())
    explained = json.loads(invoke("explain", *options, "-o", "json").stdout)["checks"]
    assert {(c["name"], c["namespace"], c["state"], c["reason"], c["message"]) for c in said["checks"]} == {
        (c["name"], c["namespace"], c["state"], c["reason"], c["message"]) for c in explained
    }
    assert len(invoke("status", *options, "-o", "name").stdout.splitlines()) == len(rows)


def evidence(example: Example, folder: Path, *options: object) -> tuple[int, dict[str, tuple[str, str]]]:
    """Exit code, and (state, why) of each piece by name."""
    folder.mkdir(exist_ok=True)
    dump, files = example.write(folder)
    answer = invoke("evidence", "-f", dump, "--evidence", files, "-o", "json", *options)
    listed = json.loads(answer.stdout)["checks"][0]["evidence"]
    return answer.exit_code, {item["name"]: (item["state"], item["why"]) for item in listed or []}


def test_evidence_that_was_read_is_verified_and_what_differs_says_how(tmp_path: Path) -> None:
    example = Example()
    code, pieces = evidence(example, tmp_path / "whole", "--check", "team-vision/ib-pair")
    assert code == 0 and len(pieces) == 5 and {state for state, _ in pieces.values()} == {"verified"}
    sha256 = {item["name"]: item["sha256"] for item in example.envelope["evidence"]}
    assert example.evidence is not None
    example.evidence[sha256["logs"]] += b"!"
    code, pieces = evidence(example, tmp_path / "longer")
    assert code == 2 and pieces["logs"] == ("mismatch", "77 bytes instead of 76")
    del example.envelope["evidence"][0]
    example.seal()
    code, pieces = evidence(example, tmp_path / "without")
    assert code == 2 and pieces["manifest"] == ("missing", "the result does not list it")


def test_evidence_nobody_read_is_not_verified_and_no_result_is_not_sound(tmp_path: Path) -> None:
    answer = invoke("evidence", "-f", DUMP / "west-1.yaml")
    assert answer.exit_code == 2
    assert answer.stdout.count("unverified  ") == 5 and "(required): it was not read" in answer.stdout
    example = Example()
    example.drop(example.result)
    assert evidence(example, tmp_path) == (2, {})
    assert invoke("evidence", "-f", DUMP / "west-1.yaml", "--check", "a/b").exit_code == 64


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script_of_that_shell(shell: str) -> None:
    answer = invoke("completion", shell)
    assert answer.exit_code == 0
    assert "tau-check" in answer.stdout and f"_TAU_CHECK_COMPLETE={shell}_complete" in answer.stdout


def test_the_shell_is_told_the_commands() -> None:
    environ = {"_TAU_CHECK_COMPLETE": "bash_complete", "COMP_WORDS": "tau-check va", "COMP_CWORD": "1"}
    answer = CliRunner(env=environ).invoke(commands, prog_name="tau-check", complete_var="_TAU_CHECK_COMPLETE")
    assert answer.stdout == "plain,validate\n"


def test_the_reference_is_what_the_commands_say() -> None:
    assert (DOCS / "cli.md").read_text() == reference(), "make cli-reference"


def test_every_command_has_an_example() -> None:
    for section in reference().split("\n## ")[1:]:
        if "\nCommands:" not in section:
            assert "Examples:" in section, section.splitlines()[0]
