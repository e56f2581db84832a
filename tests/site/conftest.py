"""A browser, a provider to sign in at, and the site with pages of the tests' own."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.core.cache import cache
from django.http import HttpResponse
from django.test import Client
from pytest_django.fixtures import Settings

from tests.site import provider as sign_in_provider
from tests.site.provider import CLIENT_ID, CLIENT_SECRET, Provider, Sign


@pytest.fixture(scope="session")
def running_provider() -> Iterator[Provider]:
    with sign_in_provider.running() as provider:
        yield provider


@pytest.fixture
def provider(running_provider: Provider, settings: Settings) -> Provider:
    running_provider.reset()
    settings.OIDC_ISSUER = running_provider.issuer
    settings.OIDC_RP_CLIENT_ID = CLIENT_ID
    settings.OIDC_RP_CLIENT_SECRET = CLIENT_SECRET
    settings.OIDC_TIMEOUT = 0.5
    return running_provider


@pytest.fixture(autouse=True)
def site(settings: Settings, tmp_path: Any) -> None:
    cache.clear()
    settings.ROOT_URLCONF = "tests.site.stub_urls"
    rules = tmp_path / "access.yaml"
    rules.write_text(
        "rules:\n"
        "- {groups: [platform-admins], clusters: [west-1, east-1], fleet: [west-1, east-1], reviews: true}\n"
        "- {groups: [team-vision-operators], namespaces: [{cluster: west-1, namespace: team-vision}]}\n"
    )
    settings.ACCESS_FILE = str(rules)


class Browser(Client):
    """A browser that can be sent through a sign-in."""

    provider: Provider

    def begin(self, next_url: str = "/whoami/") -> str:
        """Starts a sign-in: the provider's address that the browser is sent to."""
        response = self.get("/signin/", {"next": next_url})
        assert response.status_code == 302, response.content
        return str(response["Location"])

    def sign_in(self, next_url: str = "/whoami/", **claims: Any) -> HttpResponse:
        """A whole sign-in with these claims: the answer of the callback."""
        if claims:
            self.provider.sign = Sign(claims=claims)
        return self.get(self.provider.consent(self.begin(next_url)))  # type: ignore[return-value]


@pytest.fixture
def browser(db: None, provider: Provider) -> Browser:
    browser = Browser(headers={"host": "localhost:8000"})
    browser.provider = provider
    return browser
