"""Signs somebody in without a provider, for tests of what is behind the wall."""

from collections.abc import Sequence

from django.test import Client

from taugrid_portal.models import Account
from taugrid_portal.signin import session


def sign_in(client: Client, username: str, groups: Sequence[str] = ()) -> Account:
    """Leaves the client as a browser is after a sign-in of this person."""
    account, _ = Account.objects.get_or_create(
        issuer="https://provider.test", subject=username, defaults={"username": username}
    )
    client.force_login(account)
    held = client.session
    session.remember(held, account, tuple(groups))
    held.save()
    return account
