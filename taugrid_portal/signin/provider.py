"""Talks to the sign-in provider: its description of itself, its keys, its token endpoint.

Every call has a time limit and a size limit and follows no redirect. What the provider says about itself is
believed only where it fits the configured issuer: the same issuer, and addresses as secure as the issuer's own.
"""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit

import requests
import urllib3
from django.conf import settings
from django.core.cache import cache

from taugrid_portal.signin.refusals import Refused

_LARGEST_ANSWER = 1_048_576
_METADATA_SECONDS, _KEYS_SECONDS = 3600, 600
# So that a provider that hangs holds a few of the server's threads, and everybody who is signed in has the others.
_CALLS_AT_ONCE = threading.BoundedSemaphore(4)


@dataclass(frozen=True, slots=True)
class Metadata:
    """What the portal uses of the provider's description; `end_session_endpoint` may be empty."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    end_session_endpoint: str
    takes_basic: bool


def metadata() -> Metadata:
    """The provider's description of itself, at most an hour old."""
    issuer: str = settings.OIDC_ISSUER
    known: Metadata | None = cache.get(f"oidc-metadata:{issuer}")
    if known is None:
        status, body = _call("GET", f"{issuer.rstrip('/')}/.well-known/openid-configuration")
        if status != 200 or not isinstance(body, dict):
            raise Refused("provider_invalid")
        known = _read_metadata(issuer, body)
        cache.set(f"oidc-metadata:{issuer}", known, _METADATA_SECONDS)
    return known


def keys(*, fresh: bool) -> list[dict[str, Any]]:
    """The provider's published keys; `fresh` asks again even if the last answer is recent."""
    address = metadata().jwks_uri
    known: list[dict[str, Any]] | None = None if fresh else cache.get(f"oidc-keys:{address}")
    if known is None:
        status, body = _call("GET", address)
        listed = body.get("keys") if isinstance(body, dict) else None
        if status != 200 or not isinstance(listed, list):
            raise Refused("provider_invalid")
        known = [key for key in listed if isinstance(key, dict)]
        cache.set(f"oidc-keys:{address}", known, _KEYS_SECONDS)
    return known


def exchange(form: dict[str, str]) -> dict[str, Any]:
    """Redeems a code at the token endpoint."""
    described = metadata()
    form = dict(form)
    login: tuple[str, str] | None = None
    if described.takes_basic:
        # RFC 6749, 2.3.1: both are form-encoded before they are joined.
        login = quote(form["client_id"], safe=""), quote(form.pop("client_secret"), safe="")
    status, body = _call("POST", described.token_endpoint, form=form, login=login)
    if status >= 500:
        raise Refused("provider_unreachable")
    if status != 200:
        raise Refused("provider_refused")
    if not isinstance(body, dict):
        raise Refused("provider_invalid")
    return body


def _read_metadata(issuer: str, body: dict[str, Any]) -> Metadata:
    if body.get("issuer") != issuer:
        raise Refused("provider_untrusted")

    def address(name: str, *, required: bool = True) -> str:
        value = body.get(name)
        if value is None and not required:
            return ""
        if not isinstance(value, str) or not _is_as_secure_as(value, issuer):
            raise Refused("provider_untrusted")
        return value

    methods = body.get("token_endpoint_auth_methods_supported")
    return Metadata(
        issuer=issuer,
        authorization_endpoint=address("authorization_endpoint"),
        token_endpoint=address("token_endpoint"),
        jwks_uri=address("jwks_uri"),
        end_session_endpoint=address("end_session_endpoint", required=False),
        takes_basic=not isinstance(methods, list) or "client_secret_basic" in methods,
    )


def _is_as_secure_as(address: str, issuer: str) -> bool:
    """https, or, where the issuer itself is a loopback provider without TLS, the same host and port."""
    try:
        there, here = urlsplit(address), urlsplit(issuer)
        port_is_readable = there.port is None or there.port > 0
    except ValueError:
        return False
    if there.query or there.fragment or there.username or not there.hostname or not port_is_readable:
        return False
    return there.scheme == "https" or (here.scheme == "http" and there.netloc == here.netloc)


def _call(
    method: str, address: str, form: dict[str, str] | None = None, login: tuple[str, str] | None = None
) -> tuple[int, object]:
    """Status and JSON of one answer; None where the body is not JSON. `Refused` where there is none in time."""
    limit: float = settings.OIDC_TIMEOUT
    ends = time.monotonic() + limit
    try:
        with (
            _one_of_few(limit / 2),
            requests.request(
                method,
                address,
                data=form,
                auth=login,
                headers={"Accept": "application/json"},
                timeout=limit,
                allow_redirects=False,
                stream=True,
            ) as response,
        ):
            body = bytearray()
            # read1 returns what has arrived, so that a body in drops cannot outlast the limit.
            while piece := response.raw.read1(65536, decode_content=True):
                body += piece
                if len(body) > _LARGEST_ANSWER:
                    raise Refused("provider_invalid")
                if time.monotonic() > ends:
                    raise Refused("provider_slow")
            status = response.status_code
    except requests.exceptions.SSLError:
        raise Refused("provider_certificate") from None
    except (requests.Timeout, urllib3.exceptions.TimeoutError):
        raise Refused("provider_slow") from None
    except (requests.RequestException, urllib3.exceptions.HTTPError, OSError):
        raise Refused("provider_unreachable") from None
    try:
        return status, json.loads(body)
    except (ValueError, RecursionError):
        return status, None


@contextmanager
def _one_of_few(patience: float) -> Iterator[None]:
    if not _CALLS_AT_ONCE.acquire(timeout=patience):
        raise Refused("provider_slow")
    try:
        yield
    finally:
        _CALLS_AT_ONCE.release()
