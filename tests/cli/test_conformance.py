"""Every rule of the contract has a bad example that breaks it, and only it; good ones keep all."""

import json
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from checks.cli.conforming import RULES
from tests.cli.invoke import invoke as run

EXAMPLES = Path(__file__).parents[2] / "examples" / "conformance"
BAD = sorted((EXAMPLES / "bad").glob("*.yaml"))
GOOD = EXAMPLES / "good" / "path-there.yaml"
UNREADABLE = 65


def rules(*words: str | Path) -> tuple[int, dict[str, Any]]:
    """The exit code, and each rule's line by its id."""
    done = run("conformance", *map(str, words), "-o", "json")
    return done.exit_code, {each["rule"]: each for each in json.loads(done.stdout)["rules"]}


def broken(found: dict[str, Any]) -> list[str]:
    return [name for name, each in found.items() if each["kept"] is False]


@pytest.mark.parametrize("file", BAD, ids=lambda file: file.stem)
def test_a_bad_example_breaks_its_rule_and_no_other(file: Path) -> None:
    code, found = rules("-f", file)
    assert broken(found) == [file.stem], found
    assert code == UNREADABLE
    assert found[file.stem]["faults"]


def test_every_rule_has_a_bad_example() -> None:
    assert [file.stem for file in BAD] == sorted(rule.id for rule in RULES)


def test_the_good_example_keeps_every_rule() -> None:
    code, found = rules("-f", GOOD)
    assert code == 0
    assert {name: each["kept"] for name, each in found.items()} == {rule.id: True for rule in RULES}


def test_a_check_with_its_own_controller_keeps_what_can_be_looked_at() -> None:
    code, found = rules("-f", EXAMPLES / "good" / "own-controller.yaml")
    assert (code, broken(found)) == (0, [])
    assert found["images-by-digest"]["kept"] is None and found["report-there"]["kept"] is None


def test_the_examples_are_what_their_script_writes() -> None:
    made = runpy.run_path(str(EXAMPLES / "make.py"))["files"]()
    there = {str(path.relative_to(EXAMPLES)): path.read_text() for path in EXAMPLES.glob("*/*.yaml")}
    assert there == made


@pytest.mark.parametrize("files", [GOOD, EXAMPLES / "bad" / "report-there.yaml"])
def test_a_command_that_is_tried_here_says_what_its_pods_would(files: Path, tmp_path: Path) -> None:
    documents = [each for each in yaml.safe_load_all(files.read_text()) if each["kind"] != "Pod"]
    (tmp_path / "check.yaml").write_text(yaml.safe_dump_all(documents))
    done = run("conformance", "-f", str(tmp_path), "--try")
    assert done.exit_code == 0, done.output
    assert 'rank 1 ended with 0 and said: {"schema":"tau.validation-report.v1","rank":1' in done.output
    assert "not looked at" not in "".join(line for line in done.output.splitlines() if "report-" in line)


@pytest.mark.parametrize(
    ("script", "rule"),
    [
        ("exit 0", "report-there"),
        ("echo fine > /dev/termination-log", "report-is-json"),
        ("head -c 5000 /dev/zero | tr '\\0' x > /dev/termination-log", "report-fits"),
        ("SAY; exit 3", "passed-ends-with-0"),
        ("JOB_COMPLETION_INDEX=7; SAY", "report-of-its-rank"),
    ],
)
def test_a_command_that_does_wrong_is_found_out(script: str, rule: str, tmp_path: Path) -> None:
    template, check = [each for each in yaml.safe_load_all(GOOD.read_text()) if each["kind"] != "Pod"]
    container = template["spec"]["job"]["spec"]["template"]["spec"]["containers"][0]
    container["command"][2] = script.replace("SAY", container["command"][2]) + "\n: /dev/termination-log"
    (tmp_path / "check.yaml").write_text(yaml.safe_dump_all([template, check]))
    done = run("conformance", "-f", str(tmp_path), "--try")
    assert done.exit_code == UNREADABLE
    lines = [line.split()[1] for line in done.output.splitlines() if line.startswith("BROKEN")]
    assert lines == ["template-pinned", rule]


@pytest.mark.parametrize(
    ("change", "words"),
    [({"command": []}, "has no command"), ({"command": ["/runner"]}, "does not name /dev/termination-log")],
)
def test_a_command_that_cannot_be_tried_here(change: dict[str, Any], words: str, tmp_path: Path) -> None:
    template, check = [each for each in yaml.safe_load_all(GOOD.read_text()) if each["kind"] != "Pod"]
    template["spec"]["job"]["spec"]["template"]["spec"]["containers"][0].update(change)
    (tmp_path / "check.yaml").write_text(yaml.safe_dump_all([template, check]))
    done = run("conformance", "-f", str(tmp_path), "--try")
    assert (done.exit_code, words in done.stderr) == (UNREADABLE, True)


def test_a_new_skeleton_keeps_every_rule_and_can_be_tried(tmp_path: Path) -> None:
    assert run("init", "storage-path", "--directory", str(tmp_path / "new")).exit_code == 0
    done = run("conformance", "-f", str(tmp_path / "new"), "--try")
    assert done.exit_code == 0, done.output
    assert "0 broken" in done.output


@pytest.fixture
def engine(tmp_path: Path) -> Path:
    """A stand-in for podman that reads the same words, and runs the command on this machine instead of in an image."""
    template = next(yaml.safe_load_all(GOOD.read_text()))
    container = template["spec"]["job"]["spec"]["template"]["spec"]["containers"][0]
    (tmp_path / "own-script").write_text(container["command"][2])  # what the image runs by itself
    program = tmp_path / "engine"
    program.write_text(
        """#!/bin/sh
[ "$1" = run ] || exit 125
shift
entry=sh; volume=
while [ $# -gt 0 ]; do
  case "$1" in
    --rm|--read-only) shift ;;
    --env) export "$2"; shift 2 ;;
    --volume) volume=${2%%:*}; shift 2 ;;
    --entrypoint) entry=$2; shift 2 ;;
    --name|--network|--cap-drop|--security-opt|--user) shift 2 ;;
    --*) exit 125 ;;
    *) break ;;
  esac
done
case "$1" in *missing*) exit 125 ;; esac
shift
[ $# -gt 0 ] || set -- -c "$(cat "${0%/*}/own-script")"
script=$(printf '%s' "$2" | sed "s#/dev/termination-log#$volume#g")
exec "$entry" "$1" "$script"
"""
    )
    program.chmod(0o755)
    return program


def test_ranks_are_run_in_their_image_by_an_engine(engine: Path, tmp_path: Path) -> None:
    documents = [each for each in yaml.safe_load_all(GOOD.read_text()) if each["kind"] != "Pod"]
    file = tmp_path / "check.yaml"
    file.write_text(yaml.safe_dump_all(documents))
    code, found = rules("-f", file, "--engine", engine)
    assert (code, broken(found)) == (0, [])
    assert all(each["kept"] for each in found.values())


def test_an_image_alone_is_judged_by_what_it_reports(engine: Path) -> None:
    code, found = rules("--image", IMAGE, "--engine", engine)
    assert (code, broken(found)) == (0, [])
    assert {name for name, each in found.items() if each["kept"]} >= {"report-there", "report-fields"}
    assert found["images-by-digest"]["kept"] is None


def test_an_image_that_cannot_be_run(engine: Path) -> None:
    for words, sentence in (
        (["--image", "missing", "--engine", str(engine)], "could not run missing (exit code 125)"),
        (["--image", "some", "--engine", "no-such-program"], "there is no program no-such-program"),
    ):
        done = run("conformance", *words)
        assert (done.exit_code, sentence in done.stderr) == (UNREADABLE, True), done.output


@pytest.mark.parametrize("words", [[], ["--image", "some"], ["-f", str(GOOD), "--image", "some"]])
def test_usage(words: list[str]) -> None:
    assert run("conformance", *words).exit_code == 64


IMAGE = "registry.example/check@sha256:" + "0" * 64


@pytest.mark.parametrize(
    "command",
    [
        ["storage-path/prepare.py", IMAGE, "demo"],
        ["nccl-ib/render.py", "--image", IMAGE, "--namespace", "demo"],
        ["nccl-ib/render.py", "--image", IMAGE, "--namespace", "demo", "--replay"],
    ],
    ids=["storage-path", "nccl-ib", "nccl-ib replay"],
)
def test_the_checks_that_come_along_break_nothing(command: list[str], tmp_path: Path) -> None:
    script, *words = command
    printed = subprocess.run(
        [sys.executable, str(EXAMPLES.parent / script), *words], check=True, capture_output=True, timeout=120
    )
    (tmp_path / "check.yaml").write_bytes(printed.stdout)
    code, found = rules("-f", tmp_path)
    assert (code, broken(found)) == (0, [])
    assert found["template-pinned"]["kept"] and found["restricted-pods"]["kept"]


def test_what_there_is_nothing_to_say_about(tmp_path: Path) -> None:
    (tmp_path / "node.yaml").write_text("apiVersion: v1\nkind: Node\nmetadata: {name: a}\n")
    for words, sentence in (
        (["-f", str(tmp_path / "node.yaml")], "no registration, no template and no pod"),
        (["-f", str(tmp_path / "nowhere.yaml")], "No such file"),
        (["-f", str(GOOD), "-f", str(GOOD)], "more than one TauValidationTemplate"),
    ):
        done = run("conformance", *words)
        assert (done.exit_code, sentence in done.stderr) == (UNREADABLE, True), done.output
