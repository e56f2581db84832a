"""One check, its runs, and one run: the verdict with its proof, and panels with what it was read from.

A panel's address answers with the whole page and that panel open; asked by htmx, with the panel alone.
"""

from collections.abc import Callable
from typing import Any

from django.core.exceptions import BadRequest
from django.http import Http404, HttpResponse
from django.views.decorators.http import conditional_page, require_safe

from taugrid_portal.request import PortalRequest

from ..queries import check as check_queries
from ..queries import measurements, panels
from ..queries import runs as runs_queries
from ..queries.check import Detail, RunDetail
from ..queries.scoping import InvalidArgumentError
from ..templatetags.portal import check_url, run_url
from . import facts
from .rendering import page, sources_of

RUNS = 25


@require_safe
@conditional_page
def check(request: PortalRequest, cluster: str, namespace: str, name: str, panel: str = "") -> HttpResponse:
    """A check and its proof, with one panel open."""
    known = sources_of(request)
    detail = check_queries.check(request.scope, known, cluster, namespace, name)
    if detail is None or (panel and panel not in PANELS):
        raise Http404

    def address(panel: str) -> str:
        return check_url(detail.check, panel)

    context = _open(detail, panel, address)
    if _wants_panel(request):
        return page(request, "checks/panels.html", "checks", known, context)
    context["history"] = runs_queries.history(request.scope, detail.row)
    context["registered"] = facts.of_registration(detail)
    context |= _proof(detail, address)
    return page(request, "checks/check.html", "checks", known, context)


@require_safe
@conditional_page
def runs(request: PortalRequest, cluster: str, namespace: str, name: str) -> HttpResponse:
    """Every run of a check, newest first."""
    known = sources_of(request)
    detail = check_queries.check(request.scope, known, cluster, namespace, name)
    if detail is None:
        raise Http404
    try:
        listed = runs_queries.history(request.scope, detail.row, after=request.GET.get("cursor", ""), limit=RUNS)
    except InvalidArgumentError as problem:
        raise BadRequest(str(problem)) from problem
    return page(request, "checks/runs.html", "checks", known, {"detail": detail, "row": detail.row, "listed": listed})


@require_safe
@conditional_page
def run(request: PortalRequest, uid: str, panel: str = "") -> HttpResponse:
    """One run as if it were the newest: what it proved, and whether it still would."""
    known = sources_of(request)
    found: RunDetail | None = check_queries.run(request.scope, known, uid)
    if found is None or (panel and panel not in PANELS):
        raise Http404

    def address(panel: str) -> str:
        return run_url(uid, panel)

    context = _open(found.detail, panel, address)
    if _wants_panel(request):
        return page(request, "checks/panels.html", "checks", known, context)
    context |= {"run": found, "about": facts.of_run(found)} | _proof(found.detail, address)
    return page(request, "checks/run.html", "checks", known, context)


def _wants_panel(request: PortalRequest) -> bool:
    return bool(request.htmx) and request.htmx.target == "panels"


def _proof(detail: Detail, address: Callable[[str], str]) -> dict[str, Any]:
    reg, fault = detail.registration, detail.fault
    return {
        "clauses": facts.linked(detail, address),
        "command": facts.command(detail, fault) if fault else "",
        "runbook": reg.spec.runbook_url if reg and reg.spec else None,
    }


def _targets(detail: Detail) -> dict[str, Any]:
    return {
        "targets": panels.targets(detail),
        "matrix": measurements.matrix(detail),
        "series": measurements.series(detail),
    }


PANELS: dict[str, Callable[[Detail], dict[str, Any]]] = {
    "targets": _targets,
    "evidence": lambda detail: {"evidence": panels.evidence(detail)},
    "cleanup": lambda detail: {"cleanup": panels.cleanup(detail)},
    "lifecycle": lambda detail: {"lifecycle": panels.lifecycle(detail)},
    "details": lambda detail: {"details": measurements.details(detail)},
    "raw": lambda detail: {"raw": panels.raw(detail)},
}


def _open(detail: Detail, panel: str, address: Callable[[str], str]) -> dict[str, Any]:
    """The tabs and the open panel with what it shows; targets where none is asked for."""
    name = panel or "targets"
    context = {
        "detail": detail,
        "row": detail.row,
        "panel": name,
        "panel_template": f"checks/panels/{name}.html",
        "tabs": facts.tabs(detail, list(PANELS), address),
    }
    return context | PANELS[name](detail)
