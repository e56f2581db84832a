"""Decides whether an ID token is the answer to our question, and nobody else's.

PyJWT verifies signature, times, issuer and audience; what it leaves to its caller (which key, which algorithms,
the party, the nonce) is here. Any doubt is `Refused`, with a code that says which rule did not hold.
"""

from typing import Any

import jwt
from django.conf import settings
from django.utils.crypto import constant_time_compare

from taugrid_portal.signin import provider
from taugrid_portal.signin.refusals import Refused

Claims = dict[str, Any]

# Signatures by a private key only. With HS256 the "key" of a forger could be the provider's public one.
ALGORITHMS = {"RS256": "RSA", "RS384": "RSA", "RS512": "RSA", "PS256": "RSA", "ES256": "EC", "ES384": "EC"}
_LARGEST_TOKEN = 65536
_CLOCK_SKEW_SECONDS = 30
_CODES: tuple[tuple[type[Exception], str], ...] = (
    (jwt.ExpiredSignatureError, "token_expired"),
    (jwt.ImmatureSignatureError, "token_not_yet_valid"),
    (jwt.InvalidIssuerError, "token_issuer"),
    (jwt.InvalidAudienceError, "token_audience"),
    (jwt.MissingRequiredClaimError, "token_claim_missing"),
    (jwt.exceptions.InvalidSubjectError, "subject_invalid"),
    (jwt.InvalidAlgorithmError, "token_algorithm"),
    (jwt.InvalidSignatureError, "token_signature"),
    (jwt.InvalidKeyError, "token_key_unknown"),
    (jwt.PyJWKError, "token_key_unknown"),
)


def verify(token: object, *, nonce: str) -> Claims:
    """The claims of an ID token issued by our provider, to us, for the sign-in that has this nonce."""
    if not isinstance(token, str) or len(token) > _LARGEST_TOKEN:
        raise Refused("token_malformed")
    try:
        header = jwt.get_unverified_header(token)
        algorithm = header.get("alg")
        if algorithm not in settings.OIDC_SIGNING_ALGORITHMS or algorithm not in ALGORITHMS:
            raise Refused("token_algorithm")
        claims = jwt.decode(
            token,
            _signing_key(header.get("kid"), algorithm),
            algorithms=[algorithm],
            audience=settings.OIDC_RP_CLIENT_ID,
            issuer=settings.OIDC_ISSUER,
            leeway=_CLOCK_SKEW_SECONDS,
            options={
                "require": ["iss", "aud", "sub", "exp", "iat", "nonce"],
                "enforce_minimum_key_length": True,
            },
        )
    except jwt.PyJWTError as problem:
        code = next((code for kind, code in _CODES if isinstance(problem, kind)), "token_malformed")
        raise Refused(code) from None
    _verify_party(claims)
    if not isinstance(claims["nonce"], str) or not constant_time_compare(claims["nonce"], nonce):
        raise Refused("token_nonce")
    return claims


def _verify_party(claims: Claims) -> None:
    """An ID token for several audiences says to whom it was issued; wherever it says so, it must be us."""
    audience, party = claims["aud"], claims.get("azp")
    if isinstance(audience, list) and len(audience) > 1 and party is None:
        raise Refused("token_party")
    if party is not None and party != settings.OIDC_RP_CLIENT_ID:
        raise Refused("token_party")


def _signing_key(key_id: object, algorithm: str) -> Any:
    """The published key that this token names. Keys change: an unknown one is looked for once more."""
    for fresh in (False, True):
        fitting = [key for key in provider.keys(fresh=fresh) if _fits(key, key_id, algorithm)]
        # Without an id it must be clear which key is meant.
        if len(fitting) == 1:
            return jwt.PyJWK.from_dict(fitting[0], algorithm=algorithm).key
    raise Refused("token_key_unknown")


def _fits(key: dict[str, Any], key_id: object, algorithm: str) -> bool:
    return (
        key.get("kty") == ALGORITHMS[algorithm]
        and key.get("use", "sig") == "sig"
        and key.get("alg", algorithm) == algorithm
        and (key_id is None or key.get("kid") == key_id)
    )
