"""Keycloak: people sign in through its own form, their groups are in the token, and a change is in the next token."""

import base64
import hashlib
import html
import http.cookiejar
import json
import re
import secrets
import urllib.error
import urllib.parse
import urllib.request
from typing import Any

import pytest

from tests.cluster.bed.keycloak import CLIENT_ID, CLIENT_SECRET, PASSWORDS, Keycloak

pytestmark = pytest.mark.cluster

PORTAL = "http://127.0.0.1:1"


class _StayHere(urllib.request.HTTPRedirectHandler):
    """A browser that stops at the portal's address, which nobody serves here."""

    def redirect_request(self, req: Any, fp: Any, code: Any, msg: Any, headers: Any, newurl: str) -> Any:
        return None if newurl.startswith(PORTAL) else super().redirect_request(req, fp, code, msg, headers, newurl)


def _sign_in(keycloak: Keycloak, name: str, password: str) -> dict[str, Any]:
    """The authorization code flow with PKCE as a browser and the portal do it; answers the token response."""
    keycloak.allow_portal(PORTAL)
    as_browsers_do = http.cookiejar.DefaultCookiePolicy(secure_protocols=("https", "http"))  # loopback counts as secure
    cookies = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar(as_browsers_do))
    browser = urllib.request.build_opener(cookies, _StayHere())
    verifier = secrets.token_urlsafe(48)
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
    question = {
        "response_type": "code",
        "client_id": CLIENT_ID,
        "redirect_uri": f"{PORTAL}/callback",
        "scope": "openid profile",
        "state": "kept",
        "code_challenge": challenge,
        "code_challenge_method": "S256",
    }
    form = browser.open(f"{keycloak.issuer}/protocol/openid-connect/auth?{urllib.parse.urlencode(question)}").read()
    action = re.search(r'action="([^"]+)"', form.decode())
    assert action, "Keycloak shows its sign-in form"
    typed = urllib.parse.urlencode({"username": name, "password": password}).encode()
    with pytest.raises(urllib.error.HTTPError, match="302") as redirect:
        browser.open(html.unescape(action[1]), data=typed)
    with redirect.value as reply:
        answer = urllib.parse.parse_qs(urllib.parse.urlparse(reply.headers["Location"]).query)
    assert answer["state"] == ["kept"]
    return _token(
        keycloak,
        grant_type="authorization_code",
        code=answer["code"][0],
        redirect_uri=f"{PORTAL}/callback",
        code_verifier=verifier,
    )


def _token(keycloak: Keycloak, **form: str) -> dict[str, Any]:
    body = urllib.parse.urlencode({**form, "client_id": CLIENT_ID, "client_secret": CLIENT_SECRET}).encode()
    with urllib.request.urlopen(f"{keycloak.issuer}/protocol/openid-connect/token", data=body, timeout=30) as reply:
        answer: dict[str, Any] = json.loads(reply.read())
    return answer


def _claims(token: str) -> dict[str, Any]:
    payload = token.split(".")[1]
    claims: dict[str, Any] = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    return claims


@pytest.mark.parametrize(
    ("name", "groups"),
    [("ada", {"tau-platform-admins"}), ("ben", {"team-blue"}), ("cleo", {"team-blue", "team-green"})],
)
def test_an_identity_token_names_the_person_and_their_groups(keycloak: Keycloak, name: str, groups: set[str]) -> None:
    claims = _claims(_sign_in(keycloak, name, PASSWORDS[name])["id_token"])
    assert claims["iss"] == keycloak.issuer
    assert claims["aud"] == CLIENT_ID
    assert claims["preferred_username"] == name
    assert set(claims["groups"]) == groups


def test_leaving_a_group_is_in_the_next_token(keycloak: Keycloak) -> None:
    first = _sign_in(keycloak, "cleo", PASSWORDS["cleo"])
    keycloak.leave("cleo", "team-green")
    try:
        renewed = _token(keycloak, grant_type="refresh_token", refresh_token=first["refresh_token"])
    finally:
        keycloak.join("cleo", "team-green")
    assert _claims(renewed["id_token"])["groups"] == ["team-blue"]
