"""The OpenAPI document, written from the views and the forms. docs/openapi.yaml is this, checked in."""

from typing import Any

import yaml
from drf_spectacular.contrib import pydantic as _pydantic  # noqa: F401  # lets forms be schemas
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.settings import spectacular_settings
from drf_spectacular.utils import OpenApiResponse, extend_schema

from ..wire import Form
from . import forms
from .parameters import Parameter

_SETTINGS = {
    "OAS_VERSION": "3.1.0",
    "TITLE": "TauGrid Portal",
    "VERSION": "1",
    "DESCRIPTION": "What the Portal shows, for programs. Read only; within what the signed-in viewer may see.",
    "SERVERS": [{"url": "/"}],
    "ENUM_NAME_OVERRIDES": {},
    "POSTPROCESSING_HOOKS": ["checks.api.openapi.without_titles"],
}
_ERRORS = {
    400: "invalid_argument: a parameter is unknown, unreadable, or contradicts what the viewer may see.",
    401: "unauthenticated: nobody is signed in.",
    404: "not_found: there is nothing here, or nothing that the viewer may see. The two cannot be told apart.",
    405: "method_not_allowed: everything here can only be read.",
    431: "too_many_groups: the sign-in names more groups than are read; a part of them is never used.",
    503: "backend_unavailable: no cluster was read yet, or the database does not answer.",
}


def operation(name: str, says: str, answer: type[Form], parameters: tuple[Parameter, ...] = ()) -> Any:
    """Describes one address: what it answers, what may be asked, and every way it refuses."""
    refusals = {code: OpenApiResponse(forms.Error, description=words) for code, words in _ERRORS.items()}
    return extend_schema(
        operation_id=name,
        summary=says,
        description=says,
        tags=["portal"],
        parameters=[parameter.documented for parameter in parameters],
        responses={
            200: OpenApiResponse(answer, description=says),
            304: OpenApiResponse(description="The client has this already (If-None-Match)."),
            **refusals,
        },
    )


class _SignedIn(OpenApiAuthenticationExtension):
    """The session of the page."""

    target_class = "checks.api.view.SignedIn"
    name = "session"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "apiKey", "in": "cookie", "name": "taugrid-session"}


def without_titles(result: Any, generator: Any, request: Any, public: bool) -> Any:
    """Drops the title of each field, which repeats its name."""
    for schema in result["components"]["schemas"].values():
        schema.pop("title", None)
        for field in schema.get("properties", {}).values():
            field.pop("title", None)
    return result


def document() -> str:
    """The whole document as YAML."""
    spectacular_settings.apply_patches(_SETTINGS)
    try:
        schema = SchemaGenerator(urlconf=None).get_schema(request=None, public=True)
    finally:
        spectacular_settings.clear_patches()
    return yaml.safe_dump(schema, sort_keys=False, allow_unicode=False, width=120)
