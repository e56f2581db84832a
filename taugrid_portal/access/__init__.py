"""Who may see what: one question, asked once per request.

`Access` is the whole interface. Settings choose its implementation (`ACCESS`, `ACCESS_BACKENDS`): the API
server's own answer in production, a file of groups for the demo and for reading dumps.
"""

from functools import cache
from typing import Protocol, cast

from django.conf import settings
from django.utils.module_loading import import_string

from checks.scope import Scope, Viewer


class AccessError(Exception):
    """The question cannot be answered now. The text is a sentence for the viewer; the scope is then empty."""


class Access(Protocol):
    """Decides what one viewer may read. Implementations take no arguments and read their own settings."""

    def scope(self, viewer: Viewer) -> Scope:
        """The viewer's scope at this moment, `Scope.viewer` included. May be smaller than their rights
        (then `Scope.problem` says why), never larger. Raises AccessError."""


def access() -> Access:
    """The configured implementation, one per process."""
    return _build(settings.ACCESS_BACKENDS[settings.ACCESS])


@cache
def _build(path: str) -> Access:
    return cast("Access", import_string(path)())
