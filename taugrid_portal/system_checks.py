"""Django system checks: settings that would make the portal unsafe or useless stop it before it starts.

Each has a stable id. They look at settings alone and ask nobody over the network.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, register
from django.core.exceptions import ImproperlyConfigured
from django.utils.module_loading import import_string

from taugrid_portal.access import AccessError, access, file
from taugrid_portal.evidence import signing_key, stores
from taugrid_portal.signin.tokens import ALGORITHMS

_LOOPBACK = ("localhost", "127.0.0.1", "::1")


@register("taugrid")
def settings_are_safe(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Everything that is wrong, at once."""
    return [
        *_secret(),
        *_portal_url(),
        *_provider(),
        *_client(),
        *_algorithms(),
        *_sample_data(),
        *_access(),
        *_debug(),
        *_static_files(),
        *_evidence(),
    ]


def _is_production() -> bool:
    return bool(settings.PORTAL_MODE == "production")


def _split(address: str) -> SplitResult | None:
    try:
        parts = urlsplit(address)
        _ = parts.port
    except ValueError:
        return None
    return parts if parts.hostname and parts.scheme in ("http", "https") else None


def _is_loopback(address: str) -> bool:
    parts = _split(address)
    return parts is not None and parts.hostname in _LOOPBACK


def _secret() -> Iterator[Error]:
    try:
        key: str = settings.SECRET_KEY
    except ImproperlyConfigured:
        key = ""
    if _is_production() and (len(key) < 50 or len(set(key)) < 10):
        yield Error(
            "SECRET_KEY is missing or too short.",
            hint="Set SECRET_KEY or SECRET_KEY_FILE to 50 or more random characters.",
            id="taugrid.E001",
        )


def _portal_url() -> Iterator[Error]:
    parts = _split(settings.PORTAL_URL)
    if parts is None or parts.path or parts.query or parts.fragment or parts.username:
        yield Error(
            "PORTAL_URL is missing or not an address.",
            hint="Set it to where people reach the portal, without a path: https://portal.example.org",
            id="taugrid.E002",
        )
    elif parts.scheme == "http" and not _is_loopback(settings.PORTAL_URL):
        yield Error(
            "PORTAL_URL is http://, so sessions could be read on the way.",
            hint="Put TLS in front of the portal and set PORTAL_URL to its https:// address.",
            id="taugrid.E003",
        )


def _provider() -> Iterator[Error]:
    if settings.PORTAL_MODE == "test" and not settings.OIDC_ISSUER:
        return
    parts = _split(settings.OIDC_ISSUER)
    if parts is None or parts.query or parts.fragment or parts.username:
        yield Error(
            "OIDC_ISSUER is missing or not an address.",
            hint="Set it to the issuer of your sign-in provider, letter by letter as its discovery document says.",
            id="taugrid.E004",
        )
    elif parts.scheme == "http" and (_is_production() or not _is_loopback(settings.OIDC_ISSUER)):
        yield Error(
            "OIDC_ISSUER is http://, so anybody on the way could sign in as anybody.",
            hint="Use the https:// address of the provider.",
            id="taugrid.E005",
        )


def _client() -> Iterator[Error]:
    missing = [
        name
        for name, value in (
            ("OIDC_CLIENT_ID", settings.OIDC_RP_CLIENT_ID),
            ("OIDC_CLIENT_SECRET", settings.OIDC_RP_CLIENT_SECRET),
        )
        if not value
    ]
    if missing and settings.PORTAL_MODE != "test":
        yield Error(
            f"{' and '.join(missing)} missing.",
            hint="Register the portal at the sign-in provider and set what it gives you.",
            id="taugrid.E006",
        )
    if "openid" not in settings.OIDC_RP_SCOPES.split():
        yield Error("OIDC_SCOPES leaves out openid.", hint="Add openid.", id="taugrid.E007")


def _algorithms() -> Iterator[Error]:
    refused = sorted(set(settings.OIDC_SIGNING_ALGORITHMS) - set(ALGORITHMS))
    if refused or not settings.OIDC_SIGNING_ALGORITHMS:
        yield Error(
            f"OIDC_SIGNING_ALGORITHMS allows what cannot be trusted: {', '.join(refused) or 'nothing'}.",
            hint=f"Allowed are {', '.join(ALGORITHMS)}.",
            id="taugrid.E008",
        )


def _sample_data() -> Iterator[Error]:
    if not settings.SAMPLE_DATA:
        return
    real = [
        name
        for name, is_real in (
            ("PORTAL_URL", not _is_loopback(settings.PORTAL_URL)),
            ("HOST", settings.HOST not in _LOOPBACK),
            ("OIDC_ISSUER", not _is_loopback(settings.OIDC_ISSUER)),
            ("DATABASE_URL", not settings.DATABASES["default"]["ENGINE"].endswith("sqlite3")),
            ("ACCESS", settings.ACCESS != "file"),
        )
        if is_real
    ]
    if real:
        yield Error(
            f"Sample data would be shown beside production settings: {', '.join(real)}.",
            hint="PORTAL_MODE=demo is for a laptop. Unset it here, or unset these.",
            id="taugrid.E009",
        )


def _access() -> Iterator[Error]:
    if settings.PORTAL_MODE == "test":
        return
    try:
        import_string(settings.ACCESS_BACKENDS[settings.ACCESS])
        if settings.ACCESS == "file":
            file.read(settings.ACCESS_FILE)
        access()
    except AccessError as problem:
        yield Error(str(problem), hint="Set ACCESS_FILE to a file that can be read.", id="taugrid.E010")
    except ImportError:
        yield Error(
            f"ACCESS is “{settings.ACCESS}”, which this installation does not have.",
            hint="Install it, or set ACCESS=file and ACCESS_FILE.",
            id="taugrid.E010",
        )


def _debug() -> Iterator[Error]:
    if settings.DEBUG and not _is_loopback(settings.PORTAL_URL):
        yield Error(
            "DEBUG is on, and error pages would show secrets to anybody.", hint="Unset DEBUG.", id="taugrid.E011"
        )


def _static_files() -> Iterator[Error]:
    if settings.WHITENOISE_USE_FINDERS or Path(settings.STATIC_ROOT or "", "staticfiles.json").is_file():
        return
    yield Error(
        f"{settings.STATIC_ROOT} has no collected static files, so every page would fail.",
        hint="Run `manage.py collectstatic`.",
        id="taugrid.E012",
    )


def _evidence() -> Iterator[Error]:
    for read in (stores, signing_key):
        try:
            read()
        except ImproperlyConfigured as problem:
            yield Error(str(problem), hint="See docs/evidence.md.", id="taugrid.E013")
