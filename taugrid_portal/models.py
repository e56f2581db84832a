"""People who have signed in.

A person is an issuer and a subject, as OpenID Connect says; the name is what the API server calls them and may
change. Groups are not here: they belong to one sign-in and live in its session.
"""

from typing import ClassVar

from django.contrib.auth.models import AbstractBaseUser, BaseUserManager
from django.db import models


class AccountManager(BaseUserManager["Account"]):
    """Looks people up. There is no way to create one but to sign in."""


class Account(AbstractBaseUser):
    """One person at one provider. It holds no rights; `request.scope` does."""

    password = None  # type: ignore[assignment]  # nobody signs in here with a password
    last_login = None  # the log has it; an account is written only when its names change
    issuer = models.CharField(max_length=255)
    subject = models.CharField(max_length=255)
    username = models.CharField(max_length=255)
    display_name = models.CharField(max_length=255, blank=True)

    objects: ClassVar[AccountManager] = AccountManager()

    groups: tuple[str, ...] = ()
    """As the sign-in under way names them; not stored."""

    USERNAME_FIELD = "id"
    REQUIRED_FIELDS: ClassVar[list[str]] = []
    is_staff = False
    is_superuser = False

    class Meta:
        constraints = [models.UniqueConstraint(fields=["issuer", "subject"], name="account_issuer_subject")]

    def __str__(self) -> str:
        return self.display_name or self.username

    def has_usable_password(self) -> bool:
        return False

    def has_perm(self, perm: str, obj: object = None) -> bool:
        """Never: what a person may see is asked of `request.scope`."""
        return False

    def has_module_perms(self, app_label: str) -> bool:
        return False
