"""The four kinds on a real API server: what they keep, what they refuse and with which sentence, what kubectl shows."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.cluster.bed import chart
from tests.cluster.bed.control import ControlPlane
from tests.deploy import objects
from tests.deploy.attempts import patch_refusal, refusal

pytestmark = pytest.mark.cluster

Object = dict[str, Any]
ME = "taugrid-bed-admin"


def parameter(**fields: Any) -> Object:
    return objects.template(parameters=[{"name": "size", **fields}])


def launched(**launch: Any) -> Object:
    return objects.check("default", launch=launch)


def renamed(item: Object, name: str) -> Object:
    return item | {"metadata": item["metadata"] | {"name": name}}


def second_attempt(kind: str, name: str) -> Object:
    if kind == "run":
        return objects.run("default", ME, name=name, attempt=2)
    identity = objects.envelope("default")["run"] | {"attempt": 2}
    return objects.result("default", name=name, envelope=objects.envelope("default", run=identity))


ADMITTED: dict[str, Object] = {
    "a template": objects.template(),
    "an enum with values": parameter(type="enum", values=["a", "b"], default="a"),
    "an integer within its bounds": parameter(type="integer", minimum=0, maximum=2, default=1),
    "a template for every workspace": objects.template(allowedWorkspaces={}),
    "a check launched from a template": objects.check("default"),
    "a check with its own controller": launched(controller={"name": "storage.example.org/paths"}),
    "a check with the longest name": objects.check("default", "a" * 22),
    "a check every twelve hours": objects.check(
        "default", schedule={"cron": "0 */12 * * *", "timeZone": "Europe/Berlin"}
    ),
    "a run": objects.run("default", ME),
    "a second attempt of a run": second_attempt("run", f"ib-pair-{objects.RUN_ID}-2"),
}

DENIED: dict[str, tuple[Object, str]] = {
    "an enum without values": (parameter(type="enum"), "An enum needs at least one entry in values"),
    "values beside another type": (parameter(type="string", values=["a"]), "no other type has any"),
    "bounds of a string": (parameter(type="string", minimum=1), "Only an integer has minimum and maximum."),
    "bounds the wrong way round": (
        parameter(type="integer", minimum=2, maximum=1),
        "minimum must not be above maximum.",
    ),
    "the length of an integer": (parameter(type="integer", maxLength=3), "Only a string has maxLength and pattern."),
    "two parameters of one name": (
        objects.template(parameters=[{"name": "a", "type": "string"}, {"name": "a", "type": "string"}]),
        "spec.parameters[1]: Duplicate value",
    ),
    "a template that does not say where": (
        {
            **objects.template(),
            "spec": {k: v for k, v in objects.template()["spec"].items() if k != "allowedWorkspaces"},
        },
        "spec.allowedWorkspaces: Required value",
    ),
    "an operator without values": (
        objects.template(allowedWorkspaces={"matchExpressions": [{"key": "a", "operator": "In"}]}),
        "In and NotIn need values",
    ),
    "an exception without a reason": (
        objects.template(exceptions=[{"rule": "capabilities.add", "value": "IPC_LOCK"}]),
        "spec.exceptions[0].why: Required value",
    ),
    "two ways to launch": (
        launched(template={"name": "a", "digest": objects.DIGEST}, controller={"name": "b"}),
        "Exactly one of template and controller",
    ),
    "no way to launch": (launched(), "Exactly one of template and controller"),
    "a template by tag": (launched(template={"name": "a", "digest": "v1"}), "spec.launch.template.digest"),
    "a check with a name too long": (objects.check("default", "a" * 23), "at most 22 characters"),
    "a check whose name no Service could have": (objects.check("default", "1-check"), "starts with a letter"),
    "a version that cannot count": (objects.check("default", version="2"), "results.versions must contain"),
    "half a schedule": (objects.check("default", schedule={"cron": "0 * * * *"}), "timeZone: Required value"),
    "a resource without an amount": (
        objects.check("default", targets={"count": 1, "resource": "nvidia.com/gpu"}),
        "resource and perTarget belong together",
    ),
    "a binding that does not exist": (
        objects.check("default", targets={"count": 1, "bindTo": ["serial"]}),
        'supported values: "uid", "bootID"',
    ),
    "a run with a free name": (renamed(objects.run("default", ME), "mine"), "CHECK-RUNID"),
    "a run named after another attempt": (second_attempt("run", f"ib-pair-{objects.RUN_ID}-3"), "CHECK-RUNID-ATTEMPT"),
    "a run id in capitals": (objects.run("default", ME, runID="A" * 24), "spec.runID"),
    "a result with a free name": (objects.result("default", name="mine"), "CHECK-RUNID-ATTEMPT"),
    "a result named after another attempt": (
        second_attempt("result", f"ib-pair-{objects.RUN_ID}-1"),
        "CHECK-RUNID-ATTEMPT",
    ),
    "an outcome outside the three": (
        objects.result("default", envelope=objects.envelope("default", outcome="skipped")),
        'supported values: "passed", "failed", "unknown"',
    ),
    "evidence behind a signed address": (
        objects.result(
            "default",
            envelope=objects.envelope(
                "default",
                evidence=[{"name": "logs", "uri": "https://a.example/l?sig=1", "sha256": "0" * 64, "sizeBytes": 1}],
            ),
        ),
        "spec.envelope.evidence[0].uri",
    ),
    "a time that is not UTC": (
        objects.result("default", envelope=objects.envelope("default", validUntil="2026-12-01T05:12:00+01:00")),
        "spec.envelope.validUntil",
    ),
    "more targets than an envelope holds": (
        objects.result(
            "default",
            envelope=objects.envelope(
                "default",
                targets={
                    "requested": {"count": 513},
                    "observed": [{"kind": "Node", "name": f"n{i}", "outcome": "passed"} for i in range(513)],
                },
            ),
        ),
        "must have at most 512 items",
    ),
}


@pytest.mark.parametrize("item", ADMITTED.values(), ids=ADMITTED.keys())
def test_a_sound_object_is_admitted(guarded: ControlPlane, item: Object) -> None:
    assert refusal(guarded, item) == ""


@pytest.mark.parametrize(("item", "sentence"), DENIED.values(), ids=DENIED.keys())
def test_an_unsound_object_is_refused_with_a_sentence(guarded: ControlPlane, item: Object, sentence: str) -> None:
    assert sentence in refusal(guarded, item)


def test_what_is_stored_is_what_was_written(
    guarded: ControlPlane, namespace: str, stored: Callable[[Object], Object]
) -> None:
    template = objects.template(objects.pod(tolerations=[], nodeSelector=None, extra={"unknown": [1, None, 2.5]}))
    check = objects.check(namespace)
    check["spec"]["launch"]["template"]["parameters"] = {"limit": 7, "fast": True, "unit": ""}
    strange = objects.envelope(namespace, unheard={"of": [None, {}, [], "", 0, 9007199254740991, 1.25]})
    for item in (
        template,
        check,
        objects.run(namespace, ME, parameters={}),
        objects.result(namespace, envelope=strange),
    ):
        assert stored(item)["spec"] == item["spec"]
    guarded.kubectl("delete", "validationtemplates", template["metadata"]["name"])


def test_kubectl_answers_the_first_question_about_checks(
    guarded: ControlPlane, namespace: str, one_of_each: list[Object]
) -> None:
    conditions = [
        {"type": kind, "status": status, "reason": "Told", "message": "", "lastTransitionTime": "2026-11-30T05:12:00Z"}
        for kind, status in (("Ready", "False"), ("Approved", "True"))
    ]
    last = {"name": f"ib-pair-{objects.RUN_ID}", "uid": "1", "runID": objects.RUN_ID}
    patch = {"status": {"conditions": conditions, "lastRun": last}}
    assert (
        patch_refusal(
            guarded, "validationchecks/ib-pair", namespace, patch, f"--as={objects.CONTROLLER}", subresource="status"
        )
        == ""
    )
    head, row = guarded.kubectl("get", "tvc", "--namespace", namespace).splitlines()
    assert head.split() == ["NAME", "READY", "APPROVED", "LAST", "NEXT", "AGE"]
    assert row.split()[:4] == ["ib-pair", "False", "True", last["name"]]


def test_short_names_and_the_category_find_all_kinds(
    guarded: ControlPlane, namespace: str, one_of_each: list[Object]
) -> None:
    for short, item in zip(("tvt", "tvc", "tvr", "tvres"), one_of_each, strict=True):
        assert item["metadata"]["name"] in guarded.kubectl("get", short, "--namespace", namespace, "-o", "name")
    listed = guarded.kubectl("get", "tau", "--namespace", namespace, "-o", "name")
    assert len(listed.splitlines()) >= 4


def _parts(schema: Object, path: str = "") -> Iterator[tuple[str, Object]]:
    yield path, schema
    for name, inner in schema.get("properties", {}).items():
        yield from _parts(inner, f"{path}.{name}")
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            yield from _parts(schema[key], f"{path}[]")


SCHEMAS = {
    crd["spec"]["names"]["kind"]: crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"] for crd in chart.crds()
}


@pytest.mark.parametrize("kind", SCHEMAS)
def test_every_string_list_and_map_is_bounded_and_nothing_is_filled_in(kind: str) -> None:
    bounds = {"string": ("maxLength", "enum"), "array": ("maxItems",)}
    for path, schema in _parts(SCHEMAS[kind]):
        assert "default" not in schema, path
        wanted = bounds.get(schema.get("type", ""), ())
        assert not wanted or any(bound in schema for bound in wanted), f"{kind}{path} has no bound"
        assert "additionalProperties" not in schema or "maxProperties" in schema, f"{kind}{path} has no bound"
        if schema.get("type") == "array" and "envelope" not in path and "job" not in path:
            assert "x-kubernetes-list-type" in schema, f"{kind}{path} does not say how it merges"
