"""Signing of bundles, where a key is mounted: Ed25519 over the in-toto statement, in a DSSE envelope.

Who signs says "this I handed out", and nothing about the check: whether it passed is in the statement. `verify.py` in
each bundle checks the signature with Python alone.
"""

import base64
import hashlib
from typing import Any

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key

PAYLOAD_TYPE = "application/vnd.in-toto+json"


class SigningKeyError(ValueError):
    """The key cannot be used; the sentence says why, and nothing of the key."""


class SigningKey:
    """An Ed25519 private key, as `openssl genpkey -algorithm ed25519` writes it (PEM, without a password)."""

    def __init__(self, pem: str) -> None:
        """Raises SigningKeyError."""
        try:
            key = load_pem_private_key(pem.encode(), None)
        except (ValueError, TypeError, UnsupportedAlgorithm):
            # Without the cause, which may quote the file.
            raise SigningKeyError("it is no private key in PEM without a password") from None
        if not isinstance(key, Ed25519PrivateKey):
            raise SigningKeyError("it is no Ed25519 key")
        self._key = key
        public = key.public_key()
        self.public_pem = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
        self.key_id = hashlib.sha256(public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).hexdigest()

    def __repr__(self) -> str:
        return f"SigningKey({self.key_id[:16]}…)"

    def envelope(self, payload: bytes) -> dict[str, Any]:
        """The DSSE envelope of a statement."""
        signature = self._key.sign(pre_authentication_encoding(payload))
        return {
            "payloadType": PAYLOAD_TYPE,
            "payload": base64.b64encode(payload).decode(),
            "signatures": [{"keyid": self.key_id, "sig": base64.b64encode(signature).decode()}],
        }


def pre_authentication_encoding(payload: bytes) -> bytes:
    """What is signed: the payload with its type and both lengths, as DSSE has it."""
    kind = PAYLOAD_TYPE.encode()
    return b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload)
