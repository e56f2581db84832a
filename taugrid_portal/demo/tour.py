"""The tour: five ways in which a check is not green, each with its check one click away. Only in the demo."""

from dataclasses import dataclass

from django.http import HttpResponse
from django.views.decorators.http import require_safe

from checks.queries.check import check
from checks.queries.checks import Row
from checks.sample import STORIES
from checks.views.rendering import page, sources_of
from taugrid_portal.request import PortalRequest

# By name of the story: its title, and what to look for.
WORDS = {
    "socket-fallback": (
        "Socket fallback",
        "NCCL could not use InfiniBand and went over TCP instead: the table looks fine, only the log tells, and that "
        "is a failure.",
    ),
    "partial-targets": (
        "Partial targets",
        "One of the ranks or nodes that were asked for was not tested, so what the others found proves nothing.",
    ),
    "stale-evidence": (
        "Stale evidence",
        "It passed, and that was too long ago: by what its publisher said, or by what the registration allows.",
    ),
    "cleanup-failure": (
        "Cleanup failure",
        "The measurement passed and something that the run created is still there, which counts as a failure.",
    ),
    "node-identity": (
        "Node identity",
        "A node has been replaced under the same name, or rebooted, since it was tested: it is not the same node.",
    ),
}


@dataclass(frozen=True, slots=True)
class Stop:
    """One stop of the tour. rows: its checks as lists show them; those that the viewer may not see are left out."""

    name: str
    title: str
    sentence: str
    rows: list[Row]


@require_safe
def tour(request: PortalRequest) -> HttpResponse:
    """The five stories of the sample."""
    known = sources_of(request)
    stops = []
    for name, scenarios in STORIES.items():
        found = [check(request.scope, known, each.cluster, each.namespace, each.name) for each in scenarios]
        stops.append(Stop(name, *WORDS[name], [detail.row for detail in found if detail is not None]))
    return page(request, "demo/tour.html", "tour", known, {"stops": stops})
