"""Asks the API, as the WSGI application that is served, everything that its schema allows and some that it does not.

No answer is a 500, and none is outside the schema.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi import checks as conformance

from taugrid_portal.wsgi import application
from tests.review.conftest import Cluster

from .conftest import ADMINS, OPERATORS
from .test_answers import another

OPENAPI = Path(__file__).parents[2] / "docs" / "openapi.yaml"
SCHEMA = schemathesis.openapi.from_path(OPENAPI)
SCHEMA.app = application
SCHEMA.config.update(base_url="http://localhost:8000")
SCHEMA.config.generation.update(with_security_parameters=False)  # the session is not for it to guess
CHECKS = [
    not_a_server_error,
    conformance.status_code_conformance,
    conformance.content_type_conformance,
    conformance.response_headers_conformance,
    conformance.response_schema_conformance,
    conformance.negative_data_rejection,
    conformance.unsupported_method,
]
KNOWN = {
    "cluster": "west-1",
    "namespace": "team-vision",
    "workspace": "team-vision",
    "name": "ib-pair",
    "uid": "00000000-0000-4000-8000-000000000003",
}


@SCHEMA.hook
def map_path_parameters(context: Any, path_parameters: Any) -> Any:
    """Half of all drawn places are one that exists; else nearly every answer would be 404."""
    if not isinstance(path_parameters, dict):
        return path_parameters
    is_known = sum(len(str(value)) for value in path_parameters.values()) % 2 == 0
    return {name: KNOWN.get(name, value) if is_known else value for name, value in path_parameters.items()}


@pytest.fixture
def fleet(west: Cluster) -> Cluster:
    """A few checks, one of them malformed."""
    west.objects += [another(west, number) for number in range(4)]
    west.objects[-1]["spec"] = {"title": 5}
    return west.seen()


@pytest.fixture
def cookies(request: pytest.FixtureRequest, fleet: Cluster, program: Any) -> Iterator[dict[str, str]]:
    """The session of a platform admin, or of whom the test names."""
    client = program(getattr(request, "param", ADMINS))
    # As Django's own test client: the test's transaction outlives each request.
    request_started.disconnect(close_old_connections)
    request_finished.disconnect(close_old_connections)
    yield {"taugrid-session": client.cookies["taugrid-session"].value}
    request_started.connect(close_old_connections)
    request_finished.connect(close_old_connections)


def ask(case: Any, cookies: dict[str, str]) -> None:
    case.call_and_validate(checks=CHECKS, cookies=cookies)


HEALTH = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.filter_too_much]


@SCHEMA.parametrize()
@settings(max_examples=15, deadline=None, suppress_health_check=HEALTH, derandomize=True)
def test_every_answer_is_within_the_schema(case: Any, cookies: dict[str, str]) -> None:
    ask(case, cookies)


@pytest.mark.deep
@pytest.mark.parametrize("cookies", [ADMINS, OPERATORS], indirect=True)
@SCHEMA.parametrize()
@settings(max_examples=500 if os.environ.get("TAU_DEEP") else 100, deadline=None, suppress_health_check=HEALTH)
def test_every_answer_is_within_the_schema_for_long(case: Any, cookies: dict[str, str]) -> None:
    ask(case, cookies)
