"""A sign-in provider on a loopback port that tells the truth until a test tells it to lie.

It checks what an honest provider checks (client secret, redirect address, code challenge, codes used once), signs
with real keys, and keeps a list of what it was asked.
"""

import base64
import hashlib
import hmac
import json
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote_plus, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

CLIENT_ID, CLIENT_SECRET = "portal", "portal secret: with/odd+signs"


@dataclass(frozen=True)
class SigningKey:
    kid: str
    private: Any
    algorithm: str

    @classmethod
    def rsa(cls, kid: str, bits: int = 2048) -> "SigningKey":
        return cls(kid, rsa.generate_private_key(65537, bits), "RS256")

    @classmethod
    def ec(cls, kid: str) -> "SigningKey":
        return cls(kid, ec.generate_private_key(ec.SECP256R1()), "ES256")

    def public(self) -> dict[str, Any]:
        kind = jwt.algorithms.RSAAlgorithm if self.algorithm == "RS256" else jwt.algorithms.ECAlgorithm
        described: dict[str, Any] = kind.to_jwk(self.private.public_key(), as_dict=True)
        return described | {"kid": self.kid, "use": "sig", "alg": self.algorithm}

    def pem(self) -> bytes:
        pem: bytes = self.private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        return pem


def encode(part: object) -> str:
    raw = part if isinstance(part, bytes) else json.dumps(part).encode()
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def forge(header: dict[str, Any], claims: dict[str, Any], hmac_key: bytes = b"") -> str:
    """A token that no honest library would make: unsigned, or with a public key as the shared secret."""
    signed = f"{encode(header)}.{encode(claims)}"
    signature = hmac.new(hmac_key, signed.encode(), "sha256").digest() if hmac_key else b""
    return f"{signed}.{encode(signature)}"


@dataclass
class Sign:
    """How the next ID token is made; a test changes what it needs."""

    claims: dict[str, Any] = field(default_factory=dict)
    without: tuple[str, ...] = ()
    key: SigningKey | None = None
    header: dict[str, Any] = field(default_factory=dict)
    forged: Any = None


class Provider:
    """The provider's state; `issuer` is its address."""

    def __init__(self, port: int, key: SigningKey) -> None:
        self.issuer = f"http://127.0.0.1:{port}"
        self.original_key = key
        self.reset()

    def reset(self) -> None:
        self.published = [self.original_key]
        self.asked: list[str] = []
        self.codes: dict[str, dict[str, str]] = {}
        self.sign = Sign()
        self.discovery: dict[str, Any] = {}
        self.answers: dict[str, tuple[int, bytes]] = {}
        self.headers: dict[str, str] = {}
        self.delay_seconds = 0.0
        self.drops = False
        self.last_token = ""

    def describe(self) -> dict[str, Any]:
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
            "end_session_endpoint": f"{self.issuer}/end",
        } | self.discovery

    def consent(self, address: str) -> str:
        """Somebody agrees at the authorization endpoint: the address they are sent back to."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        assert asked["response_type"] == "code"
        assert asked["client_id"] == CLIENT_ID
        assert asked["code_challenge_method"] == "S256"
        assert "openid" in asked["scope"].split()
        code = secrets.token_urlsafe(8)
        self.codes[code] = asked
        return f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}"

    def claims(self, nonce: str) -> dict[str, Any]:
        now = int(time.time())
        told = {
            "iss": self.issuer,
            "aud": CLIENT_ID,
            "sub": "ada-1",
            "iat": now,
            "exp": now + 300,
            "nonce": nonce,
            "name": "Ada",
            "groups": ["platform-admins"],
        } | self.sign.claims
        return {name: value for name, value in told.items() if name not in self.sign.without}

    def token(self, asked: dict[str, str]) -> str:
        claims = self.claims(asked["nonce"])
        if self.sign.forged is not None:
            return str(self.sign.forged(claims))
        key = self.sign.key or self.published[0]
        header = {"kid": key.kid} | self.sign.header
        header = {name: value for name, value in header.items() if value is not None}
        # Signed as bytes, since a library for honest tokens refuses to write odd claims.
        return jwt.PyJWS().encode(json.dumps(claims).encode(), key.private, key.algorithm, headers=header)

    def redeem(self, form: dict[str, str], authorization: str) -> tuple[int, dict[str, Any]]:
        login = base64.b64decode(authorization.removeprefix("Basic ")).decode()
        client, _, secret = login.partition(":")
        asked = self.codes.pop(form.get("code", ""), None)
        challenge = encode(hashlib.sha256(form.get("code_verifier", "").encode()).digest())
        if (unquote_plus(client), unquote_plus(secret)) != (CLIENT_ID, CLIENT_SECRET):
            return 401, {"error": "invalid_client"}
        if asked is None or challenge != asked["code_challenge"] or form["redirect_uri"] != asked["redirect_uri"]:
            return 400, {"error": "invalid_grant"}
        self.last_token = self.token(asked)
        return 200, {"id_token": self.last_token, "access_token": "an-access-token", "token_type": "Bearer"}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.0"

    @property
    def provider(self) -> Provider:
        return self.server.provider  # type: ignore[attr-defined,no-any-return]

    def do_GET(self) -> None:
        provider = self.provider
        path = urlsplit(self.path).path
        if path == "/.well-known/openid-configuration":
            self.answer(200, provider.describe())
        elif path == "/keys":
            self.answer(200, {"keys": [key.public() for key in provider.published]})
        else:
            self.answer(404, {})

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        form = {name: values[0] for name, values in parse_qs(self.rfile.read(length).decode()).items()}
        self.answer(*self.provider.redeem(form, self.headers.get("Authorization", "")))

    def answer(self, status: int, body: dict[str, Any]) -> None:
        provider = self.provider
        path = urlsplit(self.path).path
        provider.asked.append(path)
        status, raw = provider.answers.get(path, (status, json.dumps(body).encode()))
        time.sleep(provider.delay_seconds)
        try:
            self.send_response(status)
            for name, value in provider.headers.items():
                self.send_header(name, value)
            self.end_headers()
            for piece in (bytes([byte]) for byte in raw) if provider.drops else (raw,):
                self.wfile.write(piece)
                self.wfile.flush()
                time.sleep(0.2 if provider.drops else 0)
        except OSError:
            pass  # the portal did not wait; that is what some tests are about

    def log_message(self, *args: Any) -> None:
        """Quiet."""


@contextmanager
def running() -> Iterator[Provider]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    provider = Provider(server.server_port, SigningKey.rsa("first"))
    server.provider = provider  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
