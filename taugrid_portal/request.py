"""The request as views of this site receive it: with its viewer, its scope and its htmx details."""

from django.http import HttpRequest
from django_htmx.middleware import HtmxDetails

from checks.scope import Scope, Viewer


class PortalRequest(HttpRequest):
    """Annotates views; the middleware sets the attributes."""

    viewer: Viewer
    scope: Scope
    htmx: HtmxDetails
