"""What the kubelet and Prometheus ask. None of it needs a sign-in, and none of it tells about checks by name."""

import structlog
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db import Error as DatabaseError
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST

from checks import queries
from taugrid_portal.metrics import exposition

log = structlog.get_logger(__name__)


def _text(sentence: str, status: int = 200) -> HttpResponse:
    return HttpResponse(f"{sentence}\n", status=status, content_type="text/plain; charset=utf-8")


@login_not_required
@never_cache
@require_safe
def livez(request: HttpRequest) -> HttpResponse:
    """The process answers. A restart would help where it does not, so nothing outside it is asked."""
    return _text("ok")


@login_not_required
@never_cache
@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """200 once every configured cluster has been read in full; before, 503 with the reason."""
    try:
        problem = queries.readiness()
    except DatabaseError:
        problem = "The database does not answer."
    if problem:
        log.info("not ready", problem=problem)
        return _text(f"not ready: {problem}", status=503)
    return _text("ready")


@login_not_required
@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Metrics for whoever holds METRICS_TOKEN; without one configured, only the demo and tests have this address."""
    if settings.METRICS_TOKEN:
        sent = request.headers.get("Authorization", "")
        if not constant_time_compare(sent, f"Bearer {settings.METRICS_TOKEN}"):
            raise Http404
    elif settings.PORTAL_MODE == "production":
        raise Http404
    return HttpResponse(exposition(), content_type=CONTENT_TYPE_LATEST)
