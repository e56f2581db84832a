"""What a session holds about the person whose sign-in it is: the name, the groups, and until when they hold.

A session without these (made by something else, or by an older version) is nobody's.
"""

import time

from django.conf import settings
from django.contrib.sessions.backends.base import SessionBase

from checks.scope import Viewer
from taugrid_portal.models import Account

_VIEWER, _RENEW_AT, _OVERFULL = "viewer", "oidc_id_token_expiration", "too_many_groups"


def remember(session: SessionBase, account: Account, groups: tuple[str, ...]) -> None:
    """Keeps who signed in, until the provider has to be asked again."""
    session[_VIEWER] = {"username": account.username, "groups": list(groups)}
    session[_RENEW_AT] = time.time() + settings.OIDC_RENEW_ID_TOKEN_EXPIRY_SECONDS
    session.pop(_OVERFULL, None)


def remember_too_many_groups(session: SessionBase) -> None:
    """Keeps why this browser is not signed in, so that programs in it learn that a retry does not help."""
    session[_OVERFULL] = True


def has_too_many_groups(session: SessionBase) -> bool:
    """Whether the last sign-in in this browser was refused for its groups."""
    return _OVERFULL in session


def viewer(session: SessionBase) -> Viewer | None:
    """Who signed in, or None."""
    held = session.get(_VIEWER)
    if not isinstance(held, dict):
        return None
    return Viewer(username=held["username"], groups=tuple(held["groups"]))


def is_current(session: SessionBase) -> bool:
    """Whether the provider has confirmed this person recently enough."""
    renew_at = session.get(_RENEW_AT)
    return isinstance(renew_at, float) and time.time() < renew_at and _VIEWER in session
