"""What all pages share: the sources in their context, and text of unknown origin made harmless to read."""

from collections.abc import Callable
from typing import Any

from django.http import HttpResponse
from django.template.loader import render_to_string
from django.utils import timezone

from taugrid_portal.request import PortalRequest

from .. import vocabulary
from ..queries import sources
from ..queries.keeping import Answer, kept
from ..queries.sources import Sources


def sources_of(request: PortalRequest) -> Sources:
    """The clusters of the viewer at this moment; its `now` is the clock of the whole page."""
    return sources.sources(request.scope, timezone.now())


def kept_page(
    request: PortalRequest, known: Sources, make: Callable[[], HttpResponse], *, shows_fleet: bool = False
) -> HttpResponse:
    """A page that varies with the viewer, the address and the data alone; see `queries.keeping`."""
    address = request.get_full_path()
    answer = kept(request.scope, known, address, lambda: Answer(make().content), shows_fleet=shows_fleet)
    return HttpResponse(answer.body)


def page(request: PortalRequest, name: str, here: str, known: Sources, context: dict[str, Any]) -> HttpResponse:
    """A template rendered. Every character that hides or reverses text is shown by its code, wherever it stands."""
    shared = {"here": here, "sources": known, "now": known.now, "states": vocabulary.STATES}
    return HttpResponse(vocabulary.visible(render_to_string(name, {**shared, **context}, request)))
