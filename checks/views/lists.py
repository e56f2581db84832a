"""The fleet, its nodes, and the list of checks."""

from django.core.exceptions import BadRequest
from django.http import HttpResponse
from django.views.decorators.http import conditional_page, require_safe

from taugrid_portal.request import PortalRequest

from ..contract.reasons import State
from ..queries import checks as checks_queries
from ..queries import fleet as fleet_queries
from ..queries import nodes as node_queries
from ..queries.scoping import InvalidArgumentError
from ..queries.sources import Sources
from .rendering import kept_page, page, sources_of

PAGE, SUMMARY = 25, 6


@require_safe
@conditional_page
def fleet(request: PortalRequest) -> HttpResponse:
    """Facts first, then the checks that are not proved, then the machines."""
    known = sources_of(request)
    return kept_page(request, known, lambda: _fleet(request, known), shows_fleet=True)


def _fleet(request: PortalRequest, known: Sources) -> HttpResponse:
    listed = checks_queries.checks(request.scope, known, checks_queries.Filter(), limit=SUMMARY)
    context = {
        "fleet": fleet_queries.fleet(request.scope, known),
        "listed": listed,
        "unproven": [row for row in listed.rows if row.state is not State.PASSED],
    }
    return page(request, "checks/fleet.html", "fleet", known, context)


@require_safe
@conditional_page
def nodes(request: PortalRequest) -> HttpResponse:
    """Single nodes of a place, on demand."""
    known, asked = sources_of(request), request.GET
    place = node_queries.Place(
        cluster=asked.get("cluster", ""),
        site=asked.get("site"),
        pool=asked.get("pool"),
        condition=asked.get("condition", ""),
        name=asked.get("name", ""),
    )
    try:
        listed = node_queries.nodes(request.scope, known, place, after=asked.get("cursor", ""))
    except InvalidArgumentError as problem:
        raise BadRequest(str(problem)) from problem
    return page(request, "checks/nodes.html", "fleet", known, {"listed": listed, "place": place})


@require_safe
@conditional_page
def checks(request: PortalRequest) -> HttpResponse:
    """Every check that the viewer may see, worst first."""
    known = sources_of(request)
    return kept_page(request, known, lambda: _checks(request, known))


def _checks(request: PortalRequest, known: Sources) -> HttpResponse:
    asked = request.GET
    wanted = checks_queries.Filter(
        state=asked.get("state", ""),
        cluster=asked.get("cluster", ""),
        workspace=asked.get("workspace", ""),
        type=asked.get("type", ""),
        text=asked.get("q", "").strip(),
    )
    sort = asked.get("sort") or "state"
    try:
        listed = checks_queries.checks(
            request.scope, known, wanted, sort=sort, after=asked.get("cursor", ""), limit=PAGE
        )
    except InvalidArgumentError as problem:
        raise BadRequest(str(problem)) from problem
    context = {"listed": listed, "wanted": wanted, "sort": sort, "choices": checks_queries.choices(request.scope)}
    return page(request, "checks/checks.html", "checks", known, context)
