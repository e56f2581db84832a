"""The evidence stores and the signing key of this portal, as its settings name them. One set per process."""

from functools import cache
from pathlib import Path

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from checks.evidence.configuration import ConfigurationError, stores_from, variable
from checks.evidence.locating import Stores
from checks.evidence.signing import SigningKey, SigningKeyError
from taugrid_portal import environ


def stores() -> Stores:
    """EVIDENCE_STORES, and the folder beside a dump where there is one. Raises ImproperlyConfigured."""
    return _stores(tuple(settings.EVIDENCE_STORES), settings.EVIDENCE_FOLDER)


def signing_key() -> SigningKey | None:
    """BUNDLE_SIGNING_KEY, None where bundles are not signed. Raises ImproperlyConfigured."""
    return _signing_key(settings.BUNDLE_SIGNING_KEY) if settings.BUNDLE_SIGNING_KEY else None


@cache
def _signing_key(pem: str) -> SigningKey:
    try:
        return SigningKey(pem)
    except SigningKeyError as problem:
        raise ImproperlyConfigured(f"BUNDLE_SIGNING_KEY: {problem}.") from None


@cache
def _stores(entries: tuple[str, ...], folder: str) -> Stores:
    try:
        return stores_from(
            entries, lambda store, option: environ.secret(variable(store, option)), Path(folder) if folder else None
        )
    except ConfigurationError as problem:
        raise ImproperlyConfigured(f"EVIDENCE_STORES: {problem}") from problem
