"""docs/openapi.yaml is what the API does: written from the views, complete, and not behind them."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from checks.api.openapi import document
from checks.api.urls import urlpatterns
from checks.contract.reasons import State

CHECKED_IN = Path(__file__).parents[2] / "docs" / "openapi.yaml"
GUIDE = CHECKED_IN.with_name("api.md")


@pytest.fixture(scope="module")
def openapi() -> Any:
    return yaml.safe_load(CHECKED_IN.read_text())


def test_the_document_that_is_checked_in_is_the_one_the_views_give() -> None:
    assert document() == CHECKED_IN.read_text(), "run: make openapi"


def test_every_address_is_in_it_and_can_only_be_read(openapi: Any) -> None:
    routes = {"/api/portal/" + str(pattern.pattern).replace("<str:", "{").replace(">", "}") for pattern in urlpatterns}
    assert set(openapi["paths"]) == routes
    assert {method for operations in openapi["paths"].values() for method in operations} == {"get"}


def test_every_address_has_every_refusal_in_the_one_shape(openapi: Any) -> None:
    for path, operations in openapi["paths"].items():
        answers = operations["get"]["responses"]
        assert set(answers) == {"200", "304", "400", "401", "404", "405", "431", "503"}, path
        for code, answer in answers.items():
            if int(code) >= 400:
                assert answer["content"]["application/json"]["schema"] == {"$ref": "#/components/schemas/Error"}


def test_every_schema_in_it_is_a_schema(openapi: Any) -> None:
    for schema in openapi["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)


def test_every_scoped_answer_carries_its_scope_state_of_data_sources_and_time(openapi: Any) -> None:
    schemas = openapi["components"]["schemas"]
    for operations in openapi["paths"].values():
        name = operations["get"]["responses"]["200"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
        assert {"scope", "dataState", "sources", "generatedAt"} <= set(schemas[name]["required"])


def test_names_on_the_wire_are_camel_case(openapi: Any) -> None:
    for schema in openapi["components"]["schemas"].values():
        for name in schema.get("properties", {}):
            assert "_" not in name and (name[0].islower() or name in list(State)), name


def test_every_address_and_parameter_is_in_the_guide(openapi: Any) -> None:
    guide = GUIDE.read_text()
    for path, operations in openapi["paths"].items():
        assert f"`{path.removeprefix('/api/portal/')}`" in guide, path
        for parameter in operations["get"].get("parameters", ()):
            name = parameter["name"]
            assert parameter["in"] == "path" or f"`{name}`" in guide, name
