"""Gives every request its viewer and its scope, computed when first looked at and then kept for the request."""

from collections.abc import Callable
from dataclasses import replace
from typing import cast

import structlog
from django.http import HttpRequest, HttpResponseBase
from django.utils.functional import SimpleLazyObject

from checks.scope import NOTHING, Scope, Viewer
from taugrid_portal.access import AccessError, access
from taugrid_portal.request import PortalRequest
from taugrid_portal.signin import session

log = structlog.get_logger(__name__)

NOBODY = Viewer("")


class AccessMiddleware:
    """Sets `request.viewer` and `request.scope`; nobody and any failure have the scope that reads nothing."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        portal_request = cast("PortalRequest", request)
        portal_request.viewer = cast("Viewer", SimpleLazyObject(lambda: _viewer(portal_request)))
        portal_request.scope = cast("Scope", SimpleLazyObject(lambda: _scope(portal_request)))
        return self.get_response(request)


def _viewer(request: PortalRequest) -> Viewer:
    # The account must still exist, and the sign-in must be one that is still confirmed.
    if request.user.is_authenticated and session.is_current(request.session):
        return session.viewer(request.session) or NOBODY
    return NOBODY


def _scope(request: PortalRequest) -> Scope:
    viewer = _viewer(request)
    if viewer == NOBODY:
        return NOTHING
    try:
        return access().scope(viewer)
    except AccessError as problem:
        log.warning("access unknown", problem=str(problem))
        return replace(NOTHING, viewer=viewer, problem=str(problem))
