"""What `manage.py load_dump` does with the files people give it."""

import copy
import gzip
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from checks.assembly import verdicts
from checks.dump import read_files
from checks.models import Check, Cluster, Evidence, Node, Result, Run, Step
from checks.snapshot import DumpError, snapshots
from checks.sync.dump_load import load

from .conftest import EVIDENCE, EXAMPLE, example_objects, named, seal

pytestmark = pytest.mark.django_db
NOW = datetime(2030, 1, 1, tzinfo=UTC)
CAPTURED = datetime(2026, 11, 30, 8, 24, tzinfo=UTC)
Write = Callable[..., Path]


def verdict_of(name: str = "ib-pair", now: datetime = NOW) -> tuple[str, str]:
    """State and reason of a check, evaluated from its rows."""
    check = Check.objects.select_related("cluster").get(name=name)
    verdict = verdicts([check], now)[check.pk]
    return str(verdict.state), str(verdict.reason)


def test_the_example_is_passed_as_of_its_capture_however_late_it_is_read() -> None:
    load([EXAMPLE], evidence=EVIDENCE)
    assert verdict_of() == ("Passed", "proved")


def test_without_its_evidence_nothing_is_passed() -> None:
    load([EXAMPLE])
    assert verdict_of() == ("Unknown", "evidence_unverified")


def test_loading_twice_changes_nothing() -> None:
    load([EXAMPLE], evidence=EVIDENCE)
    tables = (Cluster, Check, Run, Result, Evidence, Node, Step)
    hidden = {"load", "id", "subject", "revision", "fleet_revision"}
    before = [[{k: v for k, v in row.items() if k not in hidden} for row in t.objects.values()] for t in tables]
    again = load([EXAMPLE], evidence=EVIDENCE)
    after = [[{k: v for k, v in row.items() if k not in hidden} for row in t.objects.values()] for t in tables]
    assert after == before
    assert set(again.counts) - {"gone"} == {"unchanged"}


@pytest.mark.parametrize("form", ["list.json", "documents.yaml", "packed.yaml.gz"])
def test_each_form_that_kubectl_prints_is_read(form: str, write: Write, tmp_path: Path) -> None:
    if form.endswith("gz"):
        path = tmp_path / form
        path.write_bytes(gzip.compress(EXAMPLE.read_bytes()))
    else:
        path = write(example_objects(), form)
    assert load([path], evidence=EVIDENCE).objects == 10
    assert verdict_of() == ("Passed", "proved")


def test_objects_that_a_complete_dump_no_longer_holds_are_gone_and_their_history_stays(write: Write) -> None:
    load([EXAMPLE], evidence=EVIDENCE)
    later = example_objects()
    later[0]["capturedAt"] = "2026-11-30T09:00:00Z"
    later.remove(named(later, "TauValidationResult"))
    later.remove(named(later, "Node"))
    load([write(later)], evidence=EVIDENCE)
    assert Result.objects.get().gone_at == datetime(2026, 11, 30, 9, tzinfo=UTC)
    assert Node.objects.filter(gone_at=None).count() == 1
    assert verdict_of() == ("Stale", "target_gone")


def test_a_deleted_result_proves_nothing_any_more(write: Write) -> None:
    load([EXAMPLE], evidence=EVIDENCE)
    later = example_objects()
    later.remove(named(later, "TauValidationResult"))
    load([write(later)], evidence=EVIDENCE)
    assert verdict_of() == ("Unknown", "result_missing")


def test_a_deleted_failure_stays_failed(write: Write) -> None:
    objects = example_objects()
    envelope = named(objects, "TauValidationResult")["spec"]["envelope"]
    envelope["outcome"] = envelope["targets"]["observed"][0]["outcome"] = "failed"
    envelope["reason"] = "socket_fallback_observed"
    seal(objects)
    load([write(objects)], evidence=EVIDENCE)
    assert verdict_of() == ("Failed", "socket_fallback_observed")
    objects.remove(named(objects, "TauValidationResult"))
    load([write(objects)], evidence=EVIDENCE)
    assert verdict_of() == ("Failed", "socket_fallback_observed")


def test_a_deleted_newest_run_never_brings_an_older_verdict_back(write: Write) -> None:
    load([EXAMPLE], evidence=EVIDENCE)
    objects = example_objects()
    newer = {**named(objects, "TauValidationRun"), "status": {"phase": "Sealed"}}
    newer["metadata"] = newer["metadata"] | {
        "name": "ib-pair-2",
        "uid": "u2",
        "creationTimestamp": "2026-11-30T07:00:00Z",
    }
    load([write([*objects, newer])], evidence=EVIDENCE)
    assert verdict_of() == ("Unknown", "result_missing")
    load([write(objects)], evidence=EVIDENCE)
    assert verdict_of() == ("Unknown", "result_missing")


def test_an_older_resource_version_never_overwrites_a_newer_one(write: Write) -> None:
    objects = example_objects()
    named(objects, "Node")["metadata"]["resourceVersion"] = "100"
    load([write(objects)], evidence=EVIDENCE)
    named(objects, "Node")["metadata"] |= {"resourceVersion": "99", "uid": "another"}
    assert load([write(objects)], evidence=EVIDENCE).counts["older"] == 1
    assert verdict_of() == ("Passed", "proved")


def test_an_older_capture_marks_nothing_gone_and_sets_no_clock_back(write: Write) -> None:
    load([EXAMPLE], evidence=EVIDENCE)
    earlier = [item for item in example_objects() if item["kind"] != "Node"]
    earlier[0]["capturedAt"] = "2026-11-30T08:00:00Z"
    load([write(earlier)])
    assert Node.objects.filter(gone_at=None).count() == 2
    assert Cluster.objects.get().captured_at == datetime(2026, 11, 30, 8, 24, tzinfo=UTC)


def test_a_broken_document_is_named_and_the_others_are_loaded(write: Write) -> None:
    path = write(example_objects())
    path.write_text(
        path.read_text() + "---\nkind: [unclosed\n---\napiVersion: v1\nkind: Node\nmetadata: {name: gpu-99}\n"
    )
    done = load([path], evidence=EVIDENCE)
    assert len(done.problems) == 1
    assert "object 11" in done.problems[0]
    assert Node.objects.filter(name="gpu-99").exists()
    assert verdict_of() == ("Unknown", "source_unavailable")


def test_a_malformed_object_is_a_row_and_changes_nothing_about_the_others(write: Write) -> None:
    objects = example_objects()
    bad: dict[str, object] = {"apiVersion": "tau.azure.com/v1alpha1", "kind": "TauValidationCheck"}
    bad |= {"metadata": {"name": "bad", "namespace": "team-vision"}, "spec": {"title": ["not", "text"], "launch": 7}}
    load([write([*objects, bad])], evidence=EVIDENCE)
    assert verdict_of("bad") == ("Unknown", "registration_invalid")
    assert verdict_of() == ("Passed", "proved")


def test_text_that_no_database_takes_is_kept_out_of_columns(write: Write) -> None:
    objects = example_objects()
    named(objects, "TauValidationCheck")["spec"]["title"] = "a\x00b\ud800c"
    load([write(objects, "dump.json")], evidence=EVIDENCE)
    assert Check.objects.get().title == "a\ufffdb?c"
    assert verdict_of()[0] == "Unknown"


def test_nothing_is_written_where_a_dump_does_not_say_what_it_is(write: Write) -> None:
    with pytest.raises(DumpError, match="--cluster"):
        load([write(example_objects()[1:])])
    assert not Check.objects.exists()
    assert not Cluster.objects.exists()


def test_a_stored_word_never_makes_a_verdict_pass(write: Write) -> None:
    objects = example_objects()
    named(objects, "TauValidationResult")["spec"]["envelope"]["message"] = "changed after sealing"
    load([write(objects)], evidence=EVIDENCE)
    Step.objects.update(state="Passed", reason="proved")
    Result.objects.update(state="Passed", outcome="passed")
    Check.objects.update(last_state="Passed", review="approved")
    assert verdict_of() == ("Unknown", "digest_mismatch")


def test_stored_steps_say_what_evaluation_says() -> None:
    load([EXAMPLE], evidence=EVIDENCE)
    Cluster.objects.update(captured_at=None)
    for step in Step.objects.all():
        for at in (step.since, (step.until or NOW) - timedelta(microseconds=1)):
            Cluster.objects.update(heartbeat_at=at)
            assert verdict_of(now=at) == (step.state, step.reason)


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ([str(EXAMPLE), "--evidence", str(EVIDENCE)], 0, "west-1: 10 objects: 9 created"),
        (["/nowhere/dump.yaml"], 2, "No such file"),
        ([str(EXAMPLE), "--captured-at", "yesterday"], 2, "not a time in UTC"),
        ([str(EXAMPLE), "--evidence", "/nowhere"], 2, "not a folder"),
    ],
)
def test_exit_codes_and_sentences(arguments: list[str], code: int, said: str) -> None:
    out = StringIO()
    try:
        call_command("load_dump", *arguments, stdout=out, stderr=out)
        found: Any = 0
    except CommandError as error:
        found = error.returncode
        out.write(str(error))
    assert (found, said in out.getvalue()) == (code, True), out.getvalue()


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("TauValidationCheck", "registration_invalid"),
        ("TauValidationTemplate", "registration_invalid"),
        ("TauValidationRun", "result_missing"),
        ("TauValidationResult", "identity_mismatch"),
        ("Node", "target_replaced"),
        ("Namespace", "identity_mismatch"),
        ("ValidatingAdmissionPolicy", "publisher_unverified"),
        ("ValidatingAdmissionPolicyBinding", "publisher_unverified"),
    ],
)
def test_two_different_copies_of_which_neither_is_newer_prove_nothing(kind: str, expected: str, write: Write) -> None:
    objects = example_objects()
    other = copy.deepcopy(named(objects, kind))
    other["metadata"].setdefault("labels", {})["copy"] = "two"
    if kind == "Namespace":
        del other["metadata"]["labels"]["tau.azure.com/gpu"]
    if kind == "Node":
        other["metadata"]["uid"] = "another"
    load([write([*objects, other])], evidence=EVIDENCE)
    found = verdict_of()
    assert found[0] != "Passed"
    assert found[1] in (expected, "registration_invalid")
    explained = next(iter(snapshots(read_files([write([*objects, other])]), "", None)[0].explain(CAPTURED, EVIDENCE)))
    assert found == (str(explained.verdict.state), str(explained.verdict.reason))
    load([write(objects)], evidence=EVIDENCE)
    assert verdict_of() == ("Passed", "proved")


def test_a_check_of_the_same_name_elsewhere_does_not_keep_one_alive(write: Write) -> None:
    objects = example_objects()
    twin = copy.deepcopy(named(objects, "TauValidationCheck"))
    twin["metadata"] |= {"namespace": "team-speech", "uid": "twin"}
    load([write([*objects, twin])], evidence=EVIDENCE)
    load([write(objects)], evidence=EVIDENCE)
    assert Check.objects.get(namespace="team-speech").gone_at is not None
    assert Check.objects.get(namespace="team-vision").gone_at is None


def test_a_result_that_names_no_check_belongs_to_the_check_of_its_run(write: Write) -> None:
    objects = example_objects()
    del named(objects, "TauValidationResult")["spec"]["envelope"]["check"]
    load([write(objects)], evidence=EVIDENCE)
    assert Check.objects.get().name == "ib-pair"
    assert verdict_of() == ("Unknown", "malformed_result")


@pytest.mark.parametrize("left_out", [0, 1, 2])
def test_a_dump_that_was_cut_between_two_documents_is_not_complete(left_out: int, write: Write) -> None:
    objects = example_objects()
    named(objects, "TauDump")["objects"] = len(objects) - 1
    path = write(objects[: len(objects) - left_out])
    said = load([path], evidence=EVIDENCE).problems
    (snapshot,) = snapshots(read_files([path]), "", None)
    assert Cluster.objects.get().complete == snapshot.complete == (left_out == 0)
    assert said == snapshot.problems
    assert bool(said) == bool(left_out)
    if left_out:
        there = len(objects) - 1
        assert f"has {there - left_out} of its {there} objects; the file may be cut" in said[0]
        assert verdict_of()[1] == "source_unavailable"
