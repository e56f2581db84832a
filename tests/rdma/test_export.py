"""Back to the fixed contract, where nothing is lost; otherwise a sentence says what would be."""

import copy
from pathlib import Path

import pytest

from checks.contract.document import canonical
from checks.rdma import export_document, import_document
from tests.contract.example import Example

from .source import NOW, Source, golden


@pytest.mark.parametrize("name", ["socket-fail", "missing-unknown"])
def test_a_round_trip_gives_the_same_document(name: str) -> None:
    envelope = import_document(golden(name), None, None, NOW).envelope
    export = export_document(envelope)
    assert export.document is not None, export.says
    assert canonical(export.document) == canonical(golden(name))


def test_a_round_trip_of_a_pass_whose_evidence_was_read_gives_the_same_document(tmp_path: Path) -> None:
    source = Source(tmp_path)
    export = export_document(source.read().envelope)
    assert export.document == source.document


def test_an_unknown_is_not_exported_as_the_pass_its_source_stated() -> None:
    export = export_document(import_document(golden("pass"), None, None, NOW).envelope)
    assert export.document is None
    assert "/outcome unknown (missing_required_evidence)" in export.says


def test_a_result_of_our_own_names_what_has_no_place_there() -> None:
    export = export_document(Example().envelope)
    assert export.document is None
    for word in ("nccl-ib.v1", "/check ib-pair", "bootID", "/run/trigger", "/times/queued"):
        assert word in export.says


def test_an_envelope_whose_details_say_something_else_is_not_exported(tmp_path: Path) -> None:
    source = Source(tmp_path)
    envelope = copy.deepcopy(source.read().envelope)
    assert envelope is not None
    envelope["targets"]["observed"][0]["uid"] = "another-node"
    export = export_document(envelope)
    assert export.document is None and "/targets/observed/0/uid" in export.says


def test_an_unsound_envelope_is_a_problem_and_no_loss() -> None:
    export = export_document({"schema": "tau.validation-result.v1"})
    assert export.document is None and export.problems and not export.lost
