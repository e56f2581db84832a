"""What people and programs get instead of an answer: one page and one JSON shape for every refusal.

A page that may not be seen and a page that does not exist are the same page. Nothing of the cause is shown; it
is in the log under the request id.
"""

import sys
from dataclasses import dataclass, replace

import structlog
from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string


@dataclass(frozen=True, slots=True)
class Failure:
    """One kind of refusal: its code in JSON, its title and sentence on the page, and whether to try again."""

    status: int
    code: str
    title: str
    sentence: str
    retryable: bool = False


INVALID = Failure(400, "invalid_argument", "This address cannot be read", "Something in it is not as it must be.")
UNAUTHENTICATED = Failure(401, "unauthenticated", "Please sign in", "Nobody is signed in, or the sign-in has ended.")
NOT_FOUND = Failure(404, "not_found", "Nothing here", "There is nothing at this address, or nothing that you may see.")
CROSS_SITE = Failure(403, "not_allowed", "Not allowed", "This came from another site, so nothing was done.")
TOO_MANY_GROUPS = Failure(
    431,
    "too_many_groups",
    "Too many groups",
    "Your sign-in names more groups than the portal reads. It would have to leave some out, and with them "
    "rights of yours, so it refuses. Ask who runs the sign-in provider to send fewer groups to this portal.",
)
INTERNAL = Failure(
    500, "internal", "The portal made a mistake", "It is logged under the request id below. Nothing was changed."
)
UNAVAILABLE = Failure(
    503,
    "backend_unavailable",
    "The portal cannot read its data",
    "Its database does not answer at the moment. This says nothing about your clusters. Try again shortly.",
    retryable=True,
)


def is_api(request: HttpRequest) -> bool:
    """Whether a program asks: it gets JSON and no redirect."""
    return request.path_info.startswith("/api/")


def failure(request: HttpRequest, kind: Failure, retry_url: str = "") -> HttpResponse:
    """The answer for one kind of refusal, as JSON below /api/ and as a page elsewhere.

    retry_url: where a new sign-in begins, if that is what helps.
    """
    if is_api(request):
        body = {"code": kind.code, "reason": kind.sentence, "retryable": kind.retryable}
        response: HttpResponse = JsonResponse(body, status=kind.status)
    elif kind in (INTERNAL, UNAVAILABLE):
        # The layout asks who is looking, and so the database: this page stands alone.
        request_id = structlog.contextvars.get_contextvars().get("request_id", "")
        # By its plain name: where the style sheets themselves were not collected, this page still comes.
        told = {"failure": kind, "request_id": request_id, "static_url": settings.STATIC_URL}
        page = render_to_string("signin/broken.html", told)
        response = HttpResponse(page, status=kind.status)
    else:
        context = {"failure": kind, "retry_url": retry_url}
        response = render(request, "signin/failure.html", context, status=kind.status)
    if kind.retryable:
        response.headers["Retry-After"] = "10"
    return response


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    if isinstance(exception, DisallowedHost):
        return failure(
            request, replace(INVALID, title="The portal is not here", sentence=f"It is at {settings.PORTAL_URL}.")
        )
    return failure(request, INVALID)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Also the answer to what is forbidden: the two must not be told apart."""
    return failure(request, NOT_FOUND)


def server_error(request: HttpRequest) -> HttpResponse:
    unavailable = isinstance(sys.exc_info()[1], OperationalError | InterfaceError)
    return failure(request, UNAVAILABLE if unavailable else INTERNAL)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    return failure(request, CROSS_SITE)
