"""`tau-check import` and `export` of rdma-validation, up to the verdict that a portal gives the imported result."""

import copy
import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from checks.contract.clock import format_time
from checks.contract.document import digest
from checks.contract.kinds import APPROVED, REVIEWED_BY
from tests.contract.example import Example
from tests.rdma.source import DOCUMENTS, NOW, Source, golden

from .invoke import invoke

DOCS = Path(__file__).parents[2] / "docs" / "coming-from-rdma-validation.md"
AT = ["--now", format_time(NOW)]


def documents(text: str) -> list[dict[str, Any]]:
    """Every JSON document of an output."""
    decoder, found, rest = json.JSONDecoder(), [], text.strip()
    while rest:
        value, end = decoder.raw_decode(rest)
        found.append(value)
        rest = rest[end:].strip()
    return found


def registration() -> dict[str, Any]:
    """The registration that the documentation shows, as the API server would hold it."""
    text = DOCS.read_text()
    check: dict[str, Any] = yaml.safe_load(text.split("```yaml\n")[1].split("```")[0])
    check["metadata"] |= {"uid": "00000000-0000-4000-8000-0000000000aa", "creationTimestamp": "2026-09-01T08:00:00Z"}
    check["metadata"]["annotations"] = {APPROVED: digest(check["spec"]), REVIEWED_BY: "admin@example.org"}
    return check


class Installation:
    """A cluster in which the check of the documentation is registered and approved, and the files to import."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "evidence").mkdir()
        self.source = Source(folder / "evidence")
        self.check = registration()
        example = Example()
        namespace = copy.deepcopy(example.namespace)
        namespace["metadata"].update(name="taugrid-rdma-diagnostic", labels={"tau.azure.com/workspace": "taugrid-rdma"})
        self.nodes = [copy.deepcopy(example.node) for _ in range(2)]
        for node, letter in zip(self.nodes, "ab", strict=True):
            node["metadata"].update(name=f"h200-{letter}", uid=f"node-uid-{letter}")
        head = example.head | {"metadata": {"name": "h200-validation"}, "capturedAt": format_time(NOW)}
        self.objects = [head, namespace, example.policy, example.binding, *self.nodes, self.check]

    def imported(self, *args: object) -> Any:
        """`tau-check import … --check --result` of the document."""
        (self.folder / "check.json").write_text(json.dumps(self.check))
        (self.folder / "source.json").write_text(json.dumps(self.source.document))
        where = ["--check", self.folder / "check.json", "--result", *AT]
        return invoke("import", "rdma-validation", self.folder / "source.json", *where, *args)

    def explained(self, *args: object, now: str = format_time(NOW)) -> dict[str, Any]:
        """What `tau-check explain` says once the imported result is published."""
        answer = self.imported(*args)
        assert answer.exit_code == 0, answer.output
        result = json.loads(answer.stdout)
        result["metadata"] |= {
            "uid": "result-uid",
            "creationTimestamp": result["spec"]["envelope"]["times"]["observed"],
        }
        dump = self.folder / "dump.json"
        dump.write_text("\n".join(map(json.dumps, [*self.objects, result])))
        evidence = self.folder / "evidence"
        said = invoke("explain", "-f", dump, "--evidence", evidence, "--now", now, "-o", "json")
        checks: list[dict[str, Any]] = json.loads(said.stdout)["checks"]
        assert len(checks) == 1
        return checks[0]


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    return Installation(tmp_path)


def test_an_imported_pass_with_its_evidence_is_passed_in_the_portal(installation: Installation) -> None:
    said = installation.explained("--evidence", installation.folder / "evidence")
    assert (said["state"], said["reason"]) == ("Passed", "proved"), said["message"]


def test_without_evidence_it_is_unknown_and_says_so(installation: Installation) -> None:
    said = installation.explained()
    assert (said["state"], said["reason"]) == ("Unknown", "missing_required_evidence")


def test_the_live_node_is_compared_and_a_replaced_one_makes_it_stale(installation: Installation) -> None:
    installation.nodes[0]["metadata"]["uid"] = "node-uid-new"
    said = installation.explained("--evidence", installation.folder / "evidence")
    assert (said["state"], said["reason"]) == ("Stale", "target_replaced")


def test_after_a_day_it_is_stale_and_exactly_at_a_day_it_is_not(installation: Installation) -> None:
    evidence = ("--evidence", installation.folder / "evidence")
    until = installation.source.document["valid_until"].replace("123456789", "123456")
    assert installation.explained(*evidence, now=until)["state"] == "Passed"
    later = format_time(NOW + timedelta(days=1))
    assert installation.explained(*evidence, now=later)["reason"] == "expired"


def test_a_socket_fallback_is_failed_in_the_portal(installation: Installation) -> None:
    installation.source.document = golden("socket-fail")
    said = installation.explained()
    assert (said["state"], said["reason"]) == ("Failed", "socket_fallback_observed")


def test_a_check_that_is_launched_from_a_template_takes_no_import(installation: Installation) -> None:
    template = {"name": "nccl-ib-pair", "digest": "sha256:" + "0" * 64, "parameters": {}, "queue": "jobqueue"}
    installation.check["spec"]["launch"] = {"template": template}
    answer = installation.imported()
    assert answer.exit_code == 65 and "/spec/launch" in answer.stderr


def test_one_malformed_document_does_not_stop_the_others(tmp_path: Path) -> None:
    bad = golden("pass") | {"status": "running"}
    listed = tmp_path / "list.json"
    listed.write_text(json.dumps([golden("socket-fail"), bad, golden("missing-unknown")]))
    answer = invoke("import", "rdma-validation", listed, DOCUMENTS / "pass.golden.json", tmp_path / "none.json", *AT)
    assert answer.exit_code == 65
    assert [item["outcome"] for item in documents(answer.stdout)] == ["failed", "unknown", "unknown"]
    assert "object 2: /status" in answer.stderr
    assert "No such file" in answer.stderr


def test_what_was_lowered_is_told_and_output_stays_one_document(tmp_path: Path) -> None:
    answer = invoke("import", "rdma-validation", DOCUMENTS / "pass.golden.json", "-o", "yaml", *AT)
    assert answer.exit_code == 0
    assert "pass, imported as unknown (missing_required_evidence)" in answer.stderr
    assert yaml.safe_load(answer.stdout)["outcome"] == "unknown"


def test_export_undoes_import_also_through_yaml_and_standard_input() -> None:
    for output in ("json", "yaml"):
        path = DOCUMENTS / "socket-fail.golden.json"
        imported = invoke("import", "rdma-validation", path, "-o", output, *AT).stdout
        exported = invoke("export", "rdma-validation", "-", stdin=imported)
        assert exported.exit_code == 0, exported.stderr
        assert json.loads(exported.stdout) == golden("socket-fail")


def test_export_of_our_own_result_names_what_would_be_lost_and_ends_with_2() -> None:
    answer = invoke("export", "rdma-validation", Path("examples/dump/west-1.yaml"))
    assert answer.exit_code == 2 and answer.stdout == ""
    assert "lost would be: /details of schema nccl-ib.v1" in answer.stderr


def test_hostile_text_of_a_source_does_not_reach_the_terminal(tmp_path: Path) -> None:
    document = golden("socket-fail")
    document["errors"][0]["message"] = "\x1b]0;owned\x07"
    path = tmp_path / "hostile.json"
    path.write_text(json.dumps(document))
    assert "\x1b" not in invoke("import", "rdma-validation", path, *AT).stderr


def test_result_without_check_is_wrong_usage() -> None:
    assert invoke("import", "rdma-validation", DOCUMENTS / "pass.golden.json", "--result").exit_code == 64
