"""What never changes once it is written, tried field by field on a real API server."""

from typing import Any

import pytest

from tests.cluster.bed.control import ControlPlane
from tests.deploy import objects
from tests.deploy.attempts import PLURALS, patch_refusal

pytestmark = pytest.mark.cluster

Object = dict[str, Any]

IMMUTABLE = {
    "a field of the template": (0, "/spec/deadlines/runSeconds", 61, "A template never changes"),
    "a field deep in the template's job": (
        0,
        "/spec/job/spec/template/spec/volumes/0/emptyDir/medium",
        "Memory",
        "A template never changes",
    ),
    "the default of a parameter": (0, "/spec/parameters/0/default", 1, "A template never changes"),
    "who asked for a run": (2, "/spec/requestedBy", "eve", "What was asked for never changes"),
    "a parameter of a run": (2, "/spec/parameters/limit", 8, "What was asked for never changes"),
    "the outcome of a result": (3, "/spec/envelope/outcome", "failed", "A sealed result never changes"),
    "a field of the check's own in a result": (
        3,
        "/spec/envelope/details/data/gdr",
        True,
        "A sealed result never changes",
    ),
    "null to a value in a result": (
        3,
        "/spec/envelope/targets/observed/0/uid",
        "00000000-0000-4000-8000-000000000011",
        "A sealed result never changes",
    ),
    "a new field in a result": (3, "/spec/envelope/note", "x", "A sealed result never changes"),
}


@pytest.mark.parametrize(("index", "pointer", "value", "sentence"), IMMUTABLE.values(), ids=IMMUTABLE.keys())
def test_a_spec_that_never_changes_does_not(
    guarded: ControlPlane,
    namespace: str,
    one_of_each: list[Object],
    index: int,
    pointer: str,
    value: Any,
    sentence: str,
) -> None:
    item = one_of_each[index]
    target = f"{PLURALS[item['kind']]}/{item['metadata']['name']}"
    who = [f"--as={objects.CONTROLLER}", "--as-group=system:masters"] if index == 3 else []
    change = [{"op": "add", "path": pointer, "value": value}]
    assert sentence in patch_refusal(guarded, target, namespace, change, *who)
    assert guarded.get(target, "--namespace", namespace)["spec"] == item["spec"]


def test_labels_of_immutable_objects_may_change(
    guarded: ControlPlane, namespace: str, one_of_each: list[Object]
) -> None:
    for item in one_of_each[:3]:
        target = f"{PLURALS[item['kind']]}/{item['metadata']['name']}"
        assert patch_refusal(guarded, target, namespace, {"metadata": {"labels": {"seen": "yes"}}}) == ""


def test_a_sealed_run_stays_sealed_and_keeps_its_result(
    guarded: ControlPlane, namespace: str, one_of_each: list[Object]
) -> None:
    run = f"validationruns/{one_of_each[2]['metadata']['name']}"
    sealed = {"status": {"phase": "Sealed", "resultRef": {"name": "a", "uid": "1"}}}
    assert patch_refusal(guarded, run, namespace, sealed, f"--as={objects.CONTROLLER}", subresource="status") == ""
    reopened = patch_refusal(
        guarded, run, namespace, {"status": {"phase": "Running"}}, f"--as={objects.CONTROLLER}", subresource="status"
    )
    assert "A sealed run stays sealed." in reopened
    other = patch_refusal(
        guarded,
        run,
        namespace,
        {"status": {"resultRef": {"uid": "2"}}},
        f"--as={objects.CONTROLLER}",
        subresource="status",
    )
    assert "The result of a run is named once." in other
