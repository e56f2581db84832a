"""One log line and one measurement per request.

The request id comes from `X-Request-ID` where that is sane, and goes back in the answer. Addresses are logged
without their query (a sign-in has codes there), and measured by route name only, so labels stay bounded.
"""

import re
import time
import uuid
from collections.abc import Callable

import structlog
from django.http import HttpRequest, HttpResponseBase

from taugrid_portal.metrics import REQUEST_DURATION

_SANE_ID = re.compile(r"[A-Za-z0-9._-]{8,64}")
_METHODS = ("GET", "HEAD", "POST", "OPTIONS")
_QUIET = ("livez", "readyz", "metrics")

log = structlog.get_logger(__name__)


class RequestLogMiddleware:
    """The outermost middleware: it also sees what the others refuse."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        sent = request.headers.get("X-Request-ID", "")
        request_id = sent if _SANE_ID.fullmatch(sent) else uuid.uuid4().hex
        structlog.contextvars.clear_contextvars()
        structlog.contextvars.bind_contextvars(request_id=request_id)
        began = time.perf_counter()
        response = self.get_response(request)
        took = time.perf_counter() - began
        response.headers["X-Request-ID"] = request_id
        match = request.resolver_match
        route = (match.view_name if match else "") or "unmatched"
        method = request.method if request.method in _METHODS else "other"
        REQUEST_DURATION.labels(route, method, f"{response.status_code // 100}xx").observe(took)
        write = log.debug if route in _QUIET else log.info
        write(
            "request",
            method=method,
            path=request.path[:200],
            route=route,
            status_code=response.status_code,
            milliseconds=round(took * 1000, 1),
        )
        return response
