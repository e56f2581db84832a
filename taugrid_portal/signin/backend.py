"""Turns the code of a finished sign-in into an account.

mozilla-django-oidc redeems the code; each of its steps that trusts too much is replaced here. The claims come
from the ID token alone, as for the API server: the userinfo endpoint is never asked, and no token is kept.
"""

from typing import Any

from django.conf import settings
from django.http import HttpRequest
from mozilla_django_oidc.auth import OIDCAuthenticationBackend

from taugrid_portal.models import Account
from taugrid_portal.signin import identity, provider, tokens
from taugrid_portal.signin.refusals import Refused


class ProviderBackend(OIDCAuthenticationBackend):
    """The only way in. Each refusal is `Refused`, never None."""

    request: HttpRequest

    def __init__(self) -> None:
        # The library reads the provider's addresses from settings here; ours come from the provider.
        self.OIDC_RP_CLIENT_ID = settings.OIDC_RP_CLIENT_ID
        self.OIDC_RP_CLIENT_SECRET = settings.OIDC_RP_CLIENT_SECRET
        self.UserModel = Account

    def get_token(self, payload: dict[str, Any]) -> dict[str, Any]:
        return provider.exchange(payload)

    def verify_token(self, token: object, **kwargs: Any) -> tokens.Claims:
        nonce = kwargs.get("nonce")
        if not isinstance(nonce, str) or not nonce:
            raise Refused("token_nonce")
        return tokens.verify(token, nonce=nonce)

    def store_tokens(self, access_token: object, id_token: object) -> None:
        """Keeps none of them: a copy of the database must not let anybody act as somebody."""

    def get_or_create_user(self, access_token: object, id_token: object, payload: tokens.Claims) -> Account:
        """The account of this issuer and subject. No other claim ever leads to an account."""
        who = identity.read(payload)
        names = {"username": who.username, "display_name": who.display_name}
        account, _ = Account.objects.get_or_create(issuer=who.issuer, subject=who.subject, defaults=names)
        if (account.username, account.display_name) != (who.username, who.display_name):
            Account.objects.filter(pk=account.pk).update(**names)
            account.refresh_from_db()
        account.groups = who.groups
        return account

    def get_user(self, user_id: int) -> Account | None:
        return Account.objects.filter(pk=user_id).first()
