"""Reads from verified claims who somebody is, named as the API server names them.

Rights follow from these names, so they are read whole or not at all: a name or a list of groups that cannot be
taken as it stands refuses the sign-in.
"""

from dataclasses import dataclass
from typing import Any, TypeGuard

from django.conf import settings

from taugrid_portal.signin.refusals import Refused

MOST_GROUPS = 256
MOST_GROUP_BYTES = 16 * 1024
_LONGEST_NAME = 255
_RESERVED = "system:"


@dataclass(frozen=True, slots=True)
class Identity:
    """Somebody at one provider. `issuer` and `subject` say who; the other fields may change with every sign-in."""

    issuer: str
    subject: str
    username: str
    display_name: str
    groups: tuple[str, ...]


def read(claims: dict[str, Any]) -> Identity:
    """The identity in verified claims."""
    subject = claims["sub"]
    if not _is_name(subject):
        raise Refused("subject_invalid")
    display_name = claims.get("name")
    return Identity(
        issuer=claims["iss"],
        subject=subject,
        username=_username(claims),
        display_name=display_name if _is_name(display_name) else "",
        groups=_groups(claims),
    )


def _username(claims: dict[str, Any]) -> str:
    claim: str = settings.OIDC_USERNAME_CLAIM
    value = claims.get(claim)
    if not _is_name(value):
        raise Refused("username_invalid")
    # The API server has the same rule: an address that may be anybody's is no name.
    if claim == "email" and claims.get("email_verified", True) is not True:
        raise Refused("email_unverified")
    username = f"{settings.OIDC_USERNAME_PREFIX}{value}"
    if len(username) > _LONGEST_NAME:
        raise Refused("username_invalid")
    if username.startswith(_RESERVED):
        raise Refused("name_reserved")
    return username


def _groups(claims: dict[str, Any]) -> tuple[str, ...]:
    claim: str = settings.OIDC_GROUPS_CLAIM
    elsewhere = claims.get("_claim_names")
    if isinstance(elsewhere, dict) and claim in elsewhere:
        # There were too many for the token, which names a place to fetch them from instead.
        raise Refused("too_many_groups")
    value = claims.get(claim)
    listed = [] if value is None else [value] if isinstance(value, str) else value
    if not isinstance(listed, list):
        raise Refused("groups_malformed")
    if len(listed) > MOST_GROUPS:
        raise Refused("too_many_groups")
    if not all(isinstance(group, str) and group and group.isprintable() for group in listed):
        raise Refused("groups_malformed")
    groups = tuple(sorted({f"{settings.OIDC_GROUPS_PREFIX}{group}" for group in listed}))
    if sum(len(group.encode()) for group in groups) > MOST_GROUP_BYTES:
        raise Refused("too_many_groups")
    if any(group.startswith(_RESERVED) for group in groups):
        raise Refused("name_reserved")
    return groups


def _is_name(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and 0 < len(value) <= _LONGEST_NAME and value.isprintable() and not value.isspace()
