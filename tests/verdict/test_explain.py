"""`tau-check explain`, as a person or a pipeline uses it."""

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from checks.cli import commands
from tests.contract.example import DUMP, Example

WEST = ["--cluster", "west-1", "--captured-at", "2026-11-30T08:24:00Z"]
EXAMPLE = ["-f", str(DUMP / "west-1.yaml"), "--evidence", str(DUMP / "evidence")]


def run(*args: str, stdin: str | bytes | None = None) -> Result:
    """The command in this process; the exit code is what it returns."""
    result = CliRunner().invoke(commands, ["explain", *args], input=stdin, standalone_mode=False)
    if isinstance(result.return_value, int):
        result.exit_code = result.return_value
    return result


def program(*args: str, stdin: bytes = b"", **environ: str) -> "subprocess.CompletedProcess[bytes]":
    """The command as a program of its own."""
    code = "from checks.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, "explain", *args],
        input=stdin,
        capture_output=True,
        check=False,
        env={**os.environ, **environ},
    )


def as_list(example: Example) -> str:
    """What `kubectl get … -o json` prints."""
    return json.dumps(
        {"apiVersion": "v1", "items": example.objects, "kind": "List", "metadata": {"resourceVersion": ""}}
    )


def test_the_example_is_passed() -> None:
    result = run(*EXAMPLE)
    assert result.exit_code == 0
    assert "Passed  team-vision/ib-pair on west-1  (proved)" in result.stdout
    assert result.stdout.count("✓") == 17 and "✗" not in result.stdout
    assert result.stderr == ""


@pytest.mark.parametrize(
    ("change", "code", "state"),
    [
        (lambda example: None, 0, "Passed"),
        (lambda example: example.fail(), 1, "Failed"),
        (lambda example: example.drop(example.node), 2, "Stale"),
        (lambda example: example.drop(example.result), 2, "Unknown"),
        (lambda example: example.again(), 2, "Running"),
        (lambda example: example.objects.clear(), 2, None),
    ],
    ids=["Passed", "Failed", "Stale", "Unknown", "Running", "no check at all"],
)
def test_the_exit_code_is_the_worst_state(
    tmp_path: Path, change: Callable[[Example], Any], code: int, state: str | None
) -> None:
    example = Example()
    change(example)
    dump, evidence = example.write(tmp_path)
    result = run("-f", str(dump), "--evidence", str(evidence), "-o", "json")
    assert result.exit_code == code
    assert [check["state"] for check in json.loads(result.stdout)["checks"]] == ([state] if state else [])


def test_json_and_yaml_say_the_same() -> None:
    as_json, as_yaml = run(*EXAMPLE, "-o", "json"), run(*EXAMPLE, "-o", "yaml")
    document = json.loads(as_json.stdout)
    assert yaml.safe_load(as_yaml.stdout) == document
    assert document["asOf"] == "2026-11-30T08:24:00Z"
    (check,) = document["checks"]
    assert {key: check[key] for key in ("cluster", "namespace", "name", "state", "reason")} == {
        "cluster": "west-1",
        "namespace": "team-vision",
        "name": "ib-pair",
        "state": "Passed",
        "reason": "proved",
    }
    assert check["lastVerdict"]["state"] == "Passed"
    assert {clause["holds"] for clause in check["proof"]} == {"holds"}
    assert all(clause.keys() == {"clause", "says", "holds", "detail", "source"} for clause in check["proof"])


def test_a_clause_that_does_not_hold_says_why_and_what_to_do() -> None:
    result = run("-f", str(DUMP / "west-1.yaml"), "-o", "json")
    (fault,) = [clause for clause in json.loads(result.stdout)["checks"][0]["proof"] if clause["holds"] != "holds"]
    assert (fault["clause"], fault["reason"]) == ("evidence", "evidence_unverified")
    assert "Wait for the next verification" in fault["nextStep"]
    table = run("-f", str(DUMP / "west-1.yaml")).stdout
    assert "Next: Wait for the next verification" in table and "✗ All required evidence" in table


def test_now_moves_the_capture() -> None:
    assert run(*EXAMPLE, "--now", "2026-12-01T05:12:00Z").exit_code == 0
    late = run(*EXAMPLE, "--now", "2026-12-01T05:12:00.000001Z")
    assert late.exit_code == 2 and "Stale" in late.stdout and "The last sealed verdict was Passed" in late.stdout
    assert "As of 2026-12-01T05:12:00.000001Z" in late.stdout


def test_standard_input_a_list_gzip_and_several_files(tmp_path: Path) -> None:
    example, evidence = Example(), EXAMPLE[2:]
    assert run("-f", "-", *WEST, *evidence, stdin=as_list(example)).exit_code == 0
    packed = tmp_path / "dump.json.gz"
    packed.write_bytes(gzip.compress(as_list(example).encode()))
    assert run("-f", str(packed), *WEST, *evidence).exit_code == 0
    nodes, rest = tmp_path / "nodes.yaml", tmp_path / "rest.json"
    nodes.write_text(yaml.safe_dump_all(example.all("Node")))
    rest.write_text(json.dumps([item for item in example.objects if item["kind"] != "Node"]))
    assert run("-f", str(rest), "-f", str(nodes), *WEST, *evidence).exit_code == 0
    assert run("-f", str(rest), str(nodes), *WEST, *evidence).exit_code == 0
    assert run("-f", str(rest), *WEST, *evidence).exit_code == 2


def test_the_order_of_objects_does_not_matter_and_twice_is_once() -> None:
    example = Example()
    example.objects = [*reversed(example.objects), *example.objects]
    assert run("-f", "-", *WEST, *EXAMPLE[2:], stdin=as_list(example)).exit_code == 0


def test_of_two_copies_the_newer_resource_version_counts() -> None:
    example = Example()
    old = json.loads(json.dumps(example.node))
    old["metadata"] |= {"resourceVersion": "9", "uid": "another"}
    example.node["metadata"]["resourceVersion"] = "10"
    for objects in ([old, *example.objects], [*example.objects, old]):
        example.objects = objects
        assert run("-f", "-", *WEST, *EXAMPLE[2:], stdin=as_list(example)).exit_code == 0
    old["metadata"]["resourceVersion"] = "11"
    assert run("-f", "-", *WEST, *EXAMPLE[2:], stdin=as_list(example)).exit_code == 2


@pytest.mark.parametrize(
    ("args", "stdin", "says"),
    [
        ([], None, "there is no kubeconfig: set KUBECONFIG"),
        (["-f", "-", "--captured-at", "2026-11-30T08:24:00Z"], "kind: Node", "say --cluster NAME"),
        (["-f", "-", "--cluster", "west-1"], "kind: Node", "say --captured-at TIME"),
        (["-f", "-"], "kind: TauDump\ncapturedAt: 2026-11-30T08:24:00Z", "say --cluster NAME"),
        (["-f", "-"], "kind: TauDump\nmetadata: {name: a}\ncapturedAt: today", "say --captured-at TIME"),
        ([*EXAMPLE, "--now", "today"], None, "not a time in UTC"),
        ([*EXAMPLE, "--now", "2026-11-30T08:24:00+01:00"], None, "not a time in UTC"),
        ([*EXAMPLE, "-o", "xml"], None, "'xml' is not one of"),
        ([*EXAMPLE, "--evidence", "/nowhere"], None, "does not exist"),
        ([*EXAMPLE, "--wrong"], None, "No such option"),
    ],
)
def test_wrong_usage_is_64_and_says_what_is_missing(args: list[str], stdin: str | None, says: str) -> None:
    result = program(*args, stdin=(stdin or "").encode())
    assert result.returncode == 64
    assert says in result.stderr.decode() and b"Traceback" not in result.stderr and result.stdout == b""


def test_two_times_of_one_cluster_are_wrong_usage() -> None:
    example = Example()
    later = example.head | {"capturedAt": "2026-11-30T09:24:00Z"}
    text = "\n".join(json.dumps(item) for item in (example.head, *example.objects, later))
    result = run("-f", "-", stdin=text)
    assert result.exit_code == 64 and "at another time" in result.stderr


CUT = gzip.compress(b"kind: Node\n" * 5000, mtime=0)


@pytest.mark.parametrize(
    ("stdin", "says"),
    [
        (b"", "there is no object in it"),
        (b"---\n---\n", "there is no object in it"),
        (b"just words", "not an object"),
        (b"[1, 2]", "not an object"),
        (b"{", "no JSON"),
        (b'{"a": 1,}', "a comma with nothing behind it"),
        (b'{"a": 1, "a": 2}', "a key stands twice"),
        (b'{"a": {"b": 1, "b": 2}}', "a key stands twice"),
        (b'{"items": [], "items": []}', "a key stands twice"),
        (b"{[1]: 2}", "a key that is not a string"),
        (b'{"a": ' + b"9" * 5000 + b"}", "endless digits"),
        (b"[" * 100_000, "too many levels"),
        (b"a: {b: 1, b: 2}", "a key stands twice"),
        (b"a: &x 1\nb: *x", "an anchor, alias or tag"),
        (b"a: !!python/object:os.system x", "an anchor, alias or tag"),
        (b"a: b: c", "no YAML at line 1"),
        (b"\x00\x01", "no YAML"),
        ("kind: Node".encode("utf-16"), "no YAML"),
        (b"a: '" + b"x" * 9_000_000, "a line that is too long"),
        (CUT[:20], "cannot be read to its end"),
        (CUT[:10] + b"\xff" * 10 + CUT[20:], "cannot be read to its end"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_unreadable_input_is_65_and_says_why(stdin: bytes, says: str) -> None:
    result = run("-f", "-", *WEST, stdin=stdin)
    assert result.exit_code == 65
    assert says in result.stderr and result.exception is None and result.stdout == ""


@pytest.mark.parametrize("name", ["nowhere.yaml", "."])
def test_a_file_that_cannot_be_opened_is_65(name: str, tmp_path: Path) -> None:
    result = run("-f", str(tmp_path / name))
    assert result.exit_code == 65 and str(tmp_path) in result.stderr


@pytest.mark.parametrize(
    "more",
    [
        "---\na: b: c\n",
        "---\nitems:\n- kind: Node\n",
        "---\napiVersion: tau.azure.com/v1beta1\nkind: TauValidationRun\nmetadata: {name: x}\n",
    ],
    ids=["one document is no YAML", "a list is cut", "a version of the future"],
)
def test_what_was_not_read_leaves_nothing_proven(more: str) -> None:
    result = run("-f", "-", *EXAMPLE[2:], stdin=(DUMP / "west-1.yaml").read_text() + more)
    assert result.exit_code == 2
    assert "not read: standard input, object" in result.stderr
    assert "source_unavailable" in result.stdout


def test_a_dump_that_calls_itself_incomplete_proves_nothing() -> None:
    text = (DUMP / "west-1.yaml").read_text().replace("complete: true", "complete: false", 1)
    result = run("-f", "-", *EXAMPLE[2:], stdin=text)
    assert result.exit_code == 2 and "source_unavailable" in result.stdout


def test_a_plain_file_is_not_of_the_cluster_of_the_file_before(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
    head, plain = tmp_path / "a" / "dump.yaml", tmp_path / "b" / "dump.yaml"
    head.write_text((DUMP / "west-1.yaml").read_text())
    plain.write_text("apiVersion: v1\nkind: Node\nmetadata: {name: gpu-99}\n")
    assert run("-f", str(head), "-f", str(plain)).exit_code == 64


HOSTILE = '\x1b[31m\x9b2J\u202e[bold red]:skull:\\ <script>alert(1)</script>"\n\ud800'


def hostile() -> bytes:
    example = Example()
    example.envelope["message"] = HOSTILE.replace("\ud800", "")
    example.envelope["reason"] = "x"
    example.fail()
    example.envelope["message"] = HOSTILE.replace("\ud800", "")
    example.check["metadata"]["annotations"]["tau.azure.com/reviewed-by"] = HOSTILE
    example.result["metadata"]["name"] = HOSTILE
    example.run["metadata"]["name"] = HOSTILE
    example.seal()
    stray = json.loads(json.dumps(example.run))
    stray["metadata"] |= {"namespace": HOSTILE, "uid": HOSTILE}
    stray["spec"]["checkRef"]["name"] = HOSTILE + "\\"
    example.objects.append(stray)
    return as_list(example).encode()


@pytest.mark.parametrize("output", ["table", "json", "yaml"])
@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_hostile_text_is_shown_and_does_nothing(output: str, encoding: str) -> None:
    result = program("-f", "-", *WEST, "-o", output, stdin=hostile(), PYTHONIOENCODING=encoding)
    assert result.returncode in (1, 2), result.stderr
    assert result.stderr == b""
    text = result.stdout.decode(encoding)
    assert all(character.isprintable() or character == "\n" for character in text)
    if output == "table":
        assert r"\x1b[31m\x9b2J\u202e[bold red]:skull:\ <script>" in text
    if output == "json":
        assert any(check["namespace"] == HOSTILE for check in json.loads(text)["checks"])


def test_problems_do_nothing_to_the_terminal_either() -> None:
    version = "tau.azure.com/\\u001b[31m"
    result = program("-f", "-", *WEST, stdin=f'{{"kind": "TauValidationRun", "apiVersion": "{version}"}}'.encode())
    assert rb"TauValidationRun in tau.azure.com/\x1b[31m" in result.stderr and b"\x1b" not in result.stderr


def test_a_reader_that_goes_away_is_no_verdict() -> None:
    for output in ("table", "json"):
        code = "from checks.cli import main; main()"
        with subprocess.Popen(
            [sys.executable, "-c", code, "explain", *EXAMPLE, "-o", output],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process:
            assert process.stdout is not None and process.stderr is not None
            process.stdout.close()
            assert process.stderr.read() == b""
            assert process.wait() == 141


def test_help_says_what_a_dump_is_and_gives_examples() -> None:
    result = program("--help")
    text = result.stdout.decode()
    assert result.returncode == 0
    for words in ("kubectl get", "--evidence", "--captured-at", "gzip", "Examples:", "table|json|yaml"):
        assert words in text
    assert "Exit codes: 0 every check is Passed, 1 a check is Failed, 2 something is not proven" in " ".join(
        CliRunner().invoke(commands, ["--help"]).output.split()
    )


def test_neither_django_nor_a_cluster_client_is_loaded() -> None:
    code = (
        "import sys; from checks.cli import commands; commands.main(sys.argv[1:], standalone_mode=False);"
        "assert not {'django', 'kubernetes', 'rest_framework'} & {name.partition('.')[0] for name in sys.modules}"
    )
    result = subprocess.run([sys.executable, "-c", code, "explain", *EXAMPLE], capture_output=True, check=False)
    assert result.returncode == 0, result.stderr
