"""`tau-check validate`: every problem at once, each with its file, line and field."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from checks.contract.document import canonical
from tests.contract.example import DUMP, Example

from .invoke import invoke

EXAMPLES = Path(__file__).parents[2] / "examples"
TEMPLATE = """\
apiVersion: tau.azure.com/v1alpha1
kind: TauValidationTemplate
metadata:
  name: path
spec:
  allowedWorkspaces: {}
  deadlines:
    queueSeconds: 600
    runSeconds: 0
    cleanupSeconds: 60
  colour: blue
  job:
    spec:
      template:
        spec:
          automountServiceAccountToken: false
          containers:
          - name: look
            image: busybox:latest
            securityContext:
              runAsNonRoot: true
              allowPrivilegeEscalation: false
              capabilities: {drop: [ALL]}
              seccompProfile: {type: RuntimeDefault}
"""


def problems(*files: object) -> list[dict[str, Any]]:
    """The problems of files, as JSON."""
    answer = invoke("validate", *files, "-o", "json")
    found: list[dict[str, Any]] = json.loads(answer.stdout)["problems"]
    assert answer.exit_code == (65 if found else 0)
    return found


def test_the_published_example_is_valid() -> None:
    answer = invoke("validate", DUMP / "west-1.yaml")
    assert answer.exit_code == 0
    assert answer.stdout.count(" is valid") == 4
    assert "left alone: Namespace, Node, TauDump" in answer.stderr


@pytest.mark.parametrize("name", ["install/template.yaml", "install/check.yaml"])
def test_the_examples_to_install_are_valid(name: str) -> None:
    assert problems(EXAMPLES / name) == []


def test_all_problems_of_a_template_are_told_at_once_with_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "template.yaml"
    path.write_text(TEMPLATE)
    found = {item["field"]: (item["line"], item["expected"]) for item in problems(path)}
    assert found["/spec/deadlines/runSeconds"] == (9, "at least 1")
    assert found["/spec/colour"][0] == 11
    assert found["/spec/job"][0] == 12 and "by digest" in found["/spec/job"][1]
    assert set(found) == {"/spec/deadlines/runSeconds", "/spec/colour", "/spec/job"}
    text = invoke("validate", path).stdout
    assert f"{path}:9: TauValidationTemplate path: /spec/deadlines/runSeconds" in text


def test_several_documents_and_lists_keep_their_lines(tmp_path: Path) -> None:
    first, second = TEMPLATE.replace("  colour: blue\n", ""), TEMPLATE.replace("path", "other")
    path = tmp_path / "both.yaml"
    path.write_text(f"{first}---\n# a word\n---\n{second}")
    lines = {(item["name"], item["field"]): item["line"] for item in problems(path)}
    assert lines["path", "/spec/deadlines/runSeconds"] == 9
    assert lines["other", "/spec/colour"] == first.count("\n") + 3 + 11
    lines_of_json = tmp_path / "lines.json"
    lines_of_json.write_text("\n".join(json.dumps(yaml.safe_load(text)) for text in (first, second)))
    assert {(item["name"], item["line"]) for item in problems(lines_of_json)} == {("path", 1), ("other", 2)}
    listed = tmp_path / "list.json"
    items = [yaml.safe_load(first), yaml.safe_load(second)]
    listed.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}, indent=1))
    rows = listed.read_text().splitlines()
    for item in problems(listed):
        assert item["field"].rpartition("/")[2] in rows[item["line"] - 1]


def test_a_folder_stands_for_its_files_and_gzip_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(TEMPLATE)
    (tmp_path / "notes.txt").write_text("not read")
    assert {Path(item["file"]).name for item in problems(tmp_path)} == {"a.yaml"}
    packed = tmp_path / "b.gz"
    packed.write_bytes(gzip.compress(TEMPLATE.encode()))
    assert {item["line"] for item in problems(packed)} == {9, 11, 12}


def changed(change: Callable[[Example], Any], tmp_path: Path) -> set[str]:
    example = Example()
    change(example)
    path, _ = example.write(tmp_path)
    return {item["field"] for item in problems(path)}


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (lambda e: e.check["spec"].pop("title"), "/spec/title"),
        (lambda e: e.check["spec"]["schedule"].update(cron="61 * * * *"), "/spec/schedule/cron"),
        (lambda e: e.check["spec"]["schedule"].update(timeZone="Mars/Olympus"), "/spec/schedule/timeZone"),
        (lambda e: e.check["metadata"].update(name="Not A Name"), "/metadata/name"),
        (lambda e: e.check.update(apiVersion="tau.azure.com/v9"), "/apiVersion"),
        (lambda e: e.template["spec"].update(description="changed"), "/spec/launch/template/digest"),
        (
            lambda e: e.check["spec"]["launch"]["template"]["parameters"].update(linkLayer="carrier pigeon"),
            "/spec/launch/template/parameters",
        ),
        (lambda e: e.run["spec"].update(runID="7"), "/spec/runID"),
        (lambda e: e.run["status"].update(queuedAt=7), "/status/queuedAt"),
        (lambda e: e.result["spec"].update(digest="sha256:" + "0" * 64), "/spec/digest"),
        (lambda e: e.envelope.pop("outcome"), "/spec/envelope/outcome"),
        (lambda e: e.envelope["times"].update(created="2027-01-01T00:00:00Z"), "/spec/envelope/times/queued"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_each_kind_has_its_problems_named(tmp_path: Path, change: Callable[[Example], Any], field: str) -> None:
    assert field in changed(change, tmp_path)


def test_a_rule_across_fields_is_told_beside_a_broken_field(tmp_path: Path) -> None:
    def change(example: Example) -> None:
        example.check["spec"].update(version="9.9", colour="blue")

    assert changed(change, tmp_path) >= {"/spec", "/spec/colour"}


def test_a_registration_alone_is_not_compared_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "check.json"
    path.write_text(json.dumps(Example().check))
    answer = invoke("validate", path)
    assert answer.exit_code == 0
    assert "TauValidationTemplate nccl-ib-pair is not among the files" in answer.stderr


def test_reports_and_envelopes_are_read_bare(tmp_path: Path) -> None:
    good = {"schema": "tau.validation-report.v1", "rank": 0, "outcome": "passed", "reason": "validation_passed"}
    assert invoke("validate", "-", stdin=json.dumps(good)).exit_code == 0
    long = good | {"data": {"text": "x" * 5000}}
    answer = invoke("validate", "-", stdin=json.dumps(long | {"rank": "0"}))
    assert answer.exit_code == 65
    assert "at most 4096 bytes" in answer.stdout and "/rank" in answer.stdout
    envelope = Example().envelope
    assert invoke("validate", "-", stdin=canonical(envelope)).exit_code == 0
    envelope["targets"]["observed"].pop()
    answer = invoke("validate", "-", stdin=canonical(envelope))
    assert "/outcome: found another outcome, expected unknown" in answer.stdout


@pytest.mark.parametrize("content", ["{", "a: [", "kind: Pod\nkind: Pod\n", ""])
def test_what_cannot_be_read_is_65_and_said(tmp_path: Path, content: str) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(content)
    answer = invoke("validate", path)
    assert answer.exit_code == 65
    assert answer.stdout or "no document of the contract" in answer.stderr


def test_a_file_that_is_not_there_does_not_stop_the_others(tmp_path: Path) -> None:
    answer = invoke("validate", tmp_path / "none.yaml", DUMP / "west-1.yaml")
    assert answer.exit_code == 65
    assert "none.yaml: file: the document: found No such file or directory" in answer.stdout
    assert answer.stdout.count(" is valid") == 4


def test_no_secret_and_no_control_character_is_repeated(tmp_path: Path) -> None:
    example = Example()
    example.check["spec"]["password"] = "hunter2hunter2"
    example.check["metadata"]["name"] = "\x1b]0;owned"
    path = tmp_path / "check.json"
    path.write_text(json.dumps(example.check))
    answer = invoke("validate", path)
    assert answer.exit_code == 65
    assert "hunter2" not in answer.output and "\x1b" not in answer.output
