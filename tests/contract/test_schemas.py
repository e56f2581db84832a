"""The published schemas, the types of this reader and the CRDs of the chart say the same; the examples keep them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from referencing import Registry, Resource

from checks.contract import kinds
from checks.contract.envelope import SCHEMA
from checks.contract.schemas import DOCUMENTS, schema_of, write
from tests.contract.example import Example

ROOT = Path(__file__).parents[2]
PUBLISHED = ROOT / "docs" / "contract"
CRDS = ROOT / "deploy" / "chart" / "crds"
BOUNDS = ("minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "maxProperties", "pattern", "enum")
Schema = dict[str, Any]


def test_the_published_schemas_are_those_of_the_types(tmp_path: Path) -> None:
    write(tmp_path)
    published = {path.name: path.read_text() for path in PUBLISHED.glob("*.schema.json")}
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == published


def validator(name: str) -> Any:
    files = [json.loads(path.read_text()) for path in PUBLISHED.glob("*.schema.json")]
    registry: Registry[Any] = Registry().with_resources((file["$id"], Resource.from_contents(file)) for file in files)
    schema = registry.contents(f"{name}.schema.json")
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema, registry=registry)


def examples(name: str) -> list[Any]:
    example, (kind, _, part) = Example(), name.partition(".")
    if name == SCHEMA:
        return [example.envelope]
    if kind == "tau":
        return [{"schema": "tau.validation-report.v1", "rank": 0, "outcome": "passed", "reason": "validation_passed"}]
    return [item[part] for item in example.all(kind)]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_examples_keep_the_published_schemas(name: str) -> None:
    for document in examples(name):
        assert [error.message for error in validator(name).iter_errors(document)] == []


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_published_schemas_refuse_what_is_missing(name: str) -> None:
    required = schema_of(name).get("required", [])
    assert required or name == f"{kinds.RUN}.status"
    for document in examples(name):
        for field in required:
            assert list(validator(name).iter_errors({key: value for key, value in document.items() if key != field}))


def resolved(schema: Schema, root: Schema) -> Schema:
    """A schema without references, and without the null that the envelope asks for explicitly."""
    if "$ref" in schema:
        return resolved(root["$defs"][schema["$ref"].rpartition("/")[2]], root)
    branches = [branch for branch in schema.get("anyOf", ()) if branch != {"type": "null"}]
    return resolved(branches[0], root) if len(branches) == 1 else schema


def differences(ours: Schema, theirs: Schema, root: Schema, path: str, *, whole: bool) -> Iterator[str]:
    """Sentences for what the CRD and the types say differently. whole: both list every field."""
    ours = resolved(ours, root)
    for bound in BOUNDS:
        said = ours.get("const") and [ours["const"]] if bound == "enum" and "const" in ours else ours.get(bound)
        if said is not None and theirs.get(bound) is not None and said != theirs[bound]:
            yield f"{path}: {bound} is {said} in the types, {theirs[bound]} in the CRD"
        if whole and (said is None) != (theirs.get(bound) is None):
            yield f"{path}: {bound} is {said} in the types, {theirs.get(bound)} in the CRD"
    mine, other = ours.get("properties", {}), theirs.get("properties", {})
    if whole and mine and other:
        yield from (f"{path}/{name}: only in the types" for name in mine if name not in other)
        yield from (f"{path}/{name}: only in the CRD" for name in other if name not in mine)
        if set(ours.get("required", ())) != set(theirs.get("required", ())):
            said, other_said = sorted(ours.get("required", ())), sorted(theirs.get("required", ()))
            yield f"{path}: required {said} in the types, {other_said} in the CRD"
    elif mine and other:
        yield from (f"{path}/{name}: only in the CRD" for name in other if name not in mine)
        yield from (
            f"{path}/{name}: required only in the CRD"
            for name in theirs.get("required", ())
            if name not in ours.get("required", ())
        )
    for name in mine.keys() & other.keys():
        yield from differences(mine[name], other[name], root, f"{path}/{name}", whole=whole)
    for part in ("items", "additionalProperties"):
        if isinstance(ours.get(part), dict) and isinstance(theirs.get(part), dict):
            yield from differences(ours[part], theirs[part], root, f"{path}/*", whole=whole)


def crd(kind: str) -> Schema:
    found: Schema = yaml.safe_load((CRDS / f"{kinds.PLURALS[kind]}.yaml").read_text())
    (version,) = found["spec"]["versions"]
    assert found["spec"]["names"]["kind"] == kind
    properties: Schema = version["schema"]["openAPIV3Schema"]["properties"]
    return properties


@pytest.mark.parametrize("kind", [kinds.TEMPLATE, kinds.CHECK, kinds.RUN])
def test_a_spec_has_the_same_fields_and_bounds_in_the_crd(kind: str) -> None:
    ours = schema_of(f"{kind}.spec")
    assert sorted(differences(ours, crd(kind)["spec"], ours, "/spec", whole=True)) == []


def test_the_crd_of_a_result_says_nothing_else_than_the_envelope() -> None:
    envelope = schema_of(SCHEMA)
    found = differences(envelope, crd(kinds.RESULT)["spec"]["properties"]["envelope"], envelope, "", whole=False)
    # The door is wider for addresses: which of them are fetched is a question for the reader.
    assert [line for line in sorted(found) if not line.startswith("/evidence/*/uri: pattern")] == []
    ours = schema_of(f"{kinds.RESULT}.spec")
    assert set(ours["required"]) == set(crd(kinds.RESULT)["spec"]["required"])


def test_what_is_read_of_a_runs_status_is_in_the_crd() -> None:
    ours, theirs = schema_of(f"{kinds.RUN}.status"), crd(kinds.RUN)["status"]
    assert ours["properties"].keys() <= theirs["properties"].keys()
    narrower = [
        line for line in differences(ours, theirs, ours, "/status", whole=False) if "only in the CRD" not in line
    ]
    assert narrower == []
