"""What all addresses of the API have in common: who may ask, how a question is read, one error shape, conditional GET.

Signing in is the site's matter (its wall answers 401 and 431 before anything here runs); this asks again, so that a
view behind no wall still answers nobody.
"""

import json
from dataclasses import asdict, replace
from typing import Any, ClassVar, cast

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotModified, JsonResponse
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.http import parse_etags
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import MethodNotAllowed, NotAuthenticated
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.request import Request
from rest_framework.views import APIView

from taugrid_portal.errors import INVALID, NOT_FOUND, UNAUTHENTICATED, UNAVAILABLE, Failure, failure
from taugrid_portal.request import PortalRequest

from ..queries.first_load import was_read
from ..queries.keeping import Answer, kept
from ..queries.scoping import InvalidArgumentError
from ..queries.sources import Sources, sources
from ..scope import Scope
from ..wire import Form
from .parameters import Parameter, read

NOT_ALLOWED = Failure(405, "method_not_allowed", "Read only", "This can only be read: use GET.")
NEVER_READ = replace(UNAVAILABLE, sentence="No cluster that you may see has been read in full yet. Try again shortly.")


class NeverReadError(Exception):
    """No cluster of the viewer has been read yet."""


# What changes with the clock alone and says nothing new; not part of an ETag.
_CLOCK = {"generatedAt", "asOf", "seenAt"}


class SignedIn(BaseAuthentication):
    """The person whose sign-in the site has already confirmed; no other credential exists here."""

    def authenticate(self, request: Request) -> tuple[Any, None]:
        inner = cast("PortalRequest", request._request)
        if not inner.viewer.username:
            raise NotAuthenticated
        return inner.user, None

    def authenticate_header(self, request: Request) -> str:
        return "Session"


class AlwaysJson(BaseContentNegotiation):
    """JSON, whatever is asked for: there is nothing else."""

    def select_parser(self, request: Request, parsers: Any) -> Any:
        return parsers[0]

    def select_renderer(self, request: Request, renderers: Any, format_suffix: str | None = None) -> Any:
        return renderers[0], renderers[0].media_type


class PortalView(APIView):
    """One question. Subclasses say which parameters it has, and answer it within a scope."""

    http_method_names = ["get", "head"]
    authentication_classes = [SignedIn]
    permission_classes = []
    content_negotiation_class = AlwaysJson
    parameters: ClassVar[tuple[Parameter, ...]] = ()
    keeps: ClassVar[bool] = False  # may be given again while it reads the same, see queries.keeping
    shows_fleet: ClassVar[bool] = False

    def answer(self, scope: Scope, sources: Sources, asked: dict[str, Any], **place: str) -> Form | None:
        """The answer; None where there is nothing, or nothing that this viewer may see."""
        raise NotImplementedError

    def admits(self, scope: Scope) -> bool:
        """Whether the address exists for this viewer at all."""
        return True

    def get(self, request: Request, **place: str) -> HttpResponse:
        """Answers within the viewer's scope at the reader's clock."""
        inner = cast("PortalRequest", request._request)
        scope = inner.scope
        if not self.admits(scope) or any("\0" in value for value in place.values()):
            raise Http404
        asked = read(inner.GET, self.parameters)
        known = sources(scope, timezone.now())

        def make() -> Answer:
            if not was_read(scope):
                raise NeverReadError
            found = self.answer(scope, known, asked, **place)
            if found is None:
                raise Http404
            return told(inner, scope, found.model_dump(mode="json"))

        if not self.keeps:
            return conditional(inner, make())
        address = inner.get_full_path()
        answer = kept(scope, known, address, make, shows_fleet=self.shows_fleet, shows_heartbeats=True)
        return conditional(inner, answer)

    def handle_exception(self, exc: Exception) -> HttpResponse:  # type: ignore[override]
        """Every refusal in the one shape. What is not expected here is the site's error page, logged with its cause."""
        request: HttpRequest = self.request._request
        if isinstance(exc, InvalidArgumentError):
            return failure(request, replace(INVALID, sentence=str(exc)))
        if isinstance(exc, NeverReadError):
            return failure(request, NEVER_READ)
        if isinstance(exc, Http404):
            return failure(request, NOT_FOUND)
        if isinstance(exc, NotAuthenticated):
            return failure(request, UNAUTHENTICATED)
        if isinstance(exc, MethodNotAllowed):
            return failure(request, NOT_ALLOWED)
        raise exc


def told(request: HttpRequest, scope: Scope, body: dict[str, Any]) -> Answer:
    """The body as bytes, with its ETag: keyed, and the viewer's own."""
    seen = [asdict(scope.viewer), request.path, _without_clock(body)]
    stamp = salted_hmac("checks.api.etag", json.dumps(seen, sort_keys=True), algorithm="sha256").hexdigest()[:32]
    return Answer(JsonResponse(body).content, f'"{stamp}"')


def conditional(request: HttpRequest, answer: Answer) -> HttpResponse:
    """The answer, or 304 where the client has it already. The ETag is weak: it leaves out the clock of an answer."""
    known = parse_etags(request.headers.get("If-None-Match", ""))
    if "*" in known or any(tag.removeprefix("W/") == answer.etag for tag in known):
        response: HttpResponse = HttpResponseNotModified()
    else:
        response = HttpResponse(answer.body, content_type="application/json")
    response.headers["ETag"] = f"W/{answer.etag}"
    return response


def _without_clock(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_clock(item) for key, item in value.items() if key not in _CLOCK}
    return [_without_clock(item) for item in value] if isinstance(value, list) else value
