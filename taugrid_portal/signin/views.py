"""The pages of a sign-in: begin, callback, sign-out, and what is shown when it is refused.

A sign-in that renews a session is asked for without a word to the person (`prompt=none`); when the provider
wants a word after all, the session ends and an ordinary sign-in begins. No path leads back to where it came
from, so there is no loop.
"""

import secrets
import time
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import structlog
from django.conf import settings
from django.contrib import auth
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST, require_safe
from mozilla_django_oidc.views import (
    OIDCAuthenticationCallbackView,
    OIDCAuthenticationRequestView,
    get_next_url,
)

from taugrid_portal.errors import CROSS_SITE, TOO_MANY_GROUPS, failure
from taugrid_portal.signin import provider, session
from taugrid_portal.signin.refusals import Refused

log = structlog.get_logger(__name__)

_SECONDS_TO_FINISH = 600
_WANTS_A_WORD = ("login_required", "interaction_required", "consent_required", "account_selection_required")


class _Refusable:
    """Shows a refusal as a page with a way on, and logs its code."""

    next_url = "/"

    @method_decorator([login_not_required, never_cache])
    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            response: HttpResponse = super().dispatch(request, *args, **kwargs)  # type: ignore[misc]
        except Refused as refused:
            kind = refused.failure
            log.warning("sign-in refused", reason=kind.code, status_code=kind.status)
            # Whoever the provider or its token is refused for is signed in no longer. An address out of nowhere (400)
            # or a provider that is down (503) says nothing about the person, and ends nothing.
            if kind.status in (403, 431):
                auth.logout(request)
            if kind is TOO_MANY_GROUPS:
                session.remember_too_many_groups(request.session)
            response = failure(request, kind, retry_url=sign_in_url(self.next_url))
        return response


class Begin(_Refusable, OIDCAuthenticationRequestView):
    """Sends the browser to the provider, with state, nonce and code challenge."""

    def __init__(self, **kwargs: Any) -> None:
        super(OIDCAuthenticationRequestView, self).__init__(**kwargs)
        self.OIDC_RP_CLIENT_ID = settings.OIDC_RP_CLIENT_ID

    def get(self, request: HttpRequest) -> HttpResponse:
        self.next_url = get_next_url(request, "next") or "/"  # type: ignore[no-untyped-call]
        self.OIDC_OP_AUTH_ENDPOINT = provider.metadata().authorization_endpoint
        response: HttpResponseRedirect = super().get(request)  # type: ignore[no-untyped-call]
        # Each tab has its own way back, so it is kept with the state and not once per session.
        state = parse_qs(urlsplit(response.url).query)["state"][0]
        request.session["oidc_states"][state] |= {"next": self.next_url, "renews": request.user.is_authenticated}
        del request.session["oidc_login_next"]
        if not request.user.is_authenticated:
            request.session.set_expiry(_SECONDS_TO_FINISH)
        # Sign-ins that nobody finishes leave rows behind; now and then one of them sweeps.
        if secrets.randbelow(100) == 0:
            type(request.session).clear_expired()
        return response

    def get_extra_params(self, request: HttpRequest) -> dict[str, str]:
        return {"prompt": "none"} if request.user.is_authenticated else {}


class Callback(_Refusable, OIDCAuthenticationCallbackView):
    """Where the provider sends the browser back to."""

    def get(self, request: HttpRequest) -> HttpResponse:
        begun = self._take_state(request)
        self.next_url = begun["next"]
        if time.time() - begun["added_on"] > _SECONDS_TO_FINISH:
            raise Refused("state_expired")
        # RFC 9207: an answer that says who it is from must be from the provider we asked.
        if request.GET.get("iss", settings.OIDC_ISSUER) != settings.OIDC_ISSUER:
            raise Refused("token_issuer")
        if error := request.GET.get("error"):
            return self._failed_there(request, error, renews=begun["renews"])
        account = auth.authenticate(request, nonce=begun["nonce"], code_verifier=begun["code_verifier"])
        if account is None:
            raise Refused("provider_refused")
        if begun["renews"] and account != request.user:
            raise Refused("subject_changed")
        if account != request.user:
            auth.login(request, account)
            request.session.set_expiry(None)
        session.remember(request.session, account, account.groups)
        log.info("signed in", renewed=begun["renews"], groups=len(account.groups))
        return HttpResponseRedirect(self.next_url)

    def _take_state(self, request: HttpRequest) -> dict[str, Any]:
        """What was kept when this sign-in began. It can be taken once, whatever comes of it."""
        states = request.session.get("oidc_states")
        begun = states.pop(request.GET.get("state", ""), None) if isinstance(states, dict) else None
        if begun is None:
            raise Refused("state_unknown")
        request.session.modified = True
        request.session.save()
        # The provider may take seconds. Loaded again afterwards, the session has what other tabs wrote meanwhile.
        request.session = type(request.session)(request.session.session_key)
        return dict(begun)

    def _failed_there(self, request: HttpRequest, error: str, *, renews: bool) -> HttpResponse:
        if renews and error in _WANTS_A_WORD:
            auth.logout(request)
            return redirect(sign_in_url(self.next_url))
        raise Refused("declined" if error == "access_denied" else "provider_refused")


@login_not_required
@csrf_exempt
@never_cache
@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    """Ends the session here, then at the provider.

    No CSRF token, so that pages are the same bytes at each reading: the session cookie is SameSite=Lax and
    therefore never comes with a POST from elsewhere, and where the browser says where it came from, that counts.
    The way on to the provider is a `Refresh` and not a redirect, which `form-action 'self'` would stop.
    """
    origin = request.headers.get("Origin")
    site = request.headers.get("Sec-Fetch-Site", "same-origin")
    here = f"{request.scheme}://{request.get_host()}"
    if site not in ("same-origin", "none") or (origin is not None and origin != here):
        return failure(request, CROSS_SITE)
    was_signed_in = request.user.is_authenticated
    auth.logout(request)
    response: HttpResponse = redirect("signin:signed-out")
    if was_signed_in and (address := _end_session_url(request)):
        response = render(request, "signin/signed_out.html", {"provider_url": address})
        response.headers["Refresh"] = f"0; url={address}"
    return response


@login_not_required
@never_cache
@require_safe
def signed_out(request: HttpRequest) -> HttpResponse:
    """Says so, and starts nothing by itself: the next person at this screen decides."""
    return render(request, "signin/signed_out.html", {"provider_url": ""})


def sign_in_url(next_url: str) -> str:
    """The address that begins a sign-in and comes back to `next_url`, an address of this site."""
    return f"{reverse('signin:begin')}?{urlencode({'next': next_url})}"


def _end_session_url(request: HttpRequest) -> str:
    """The provider's own sign-out, or nothing. It gets our client id instead of the ID token, which would
    write the person's claims into the browser's history."""
    try:
        address = provider.metadata().end_session_endpoint
    except Refused as refused:
        log.warning("the session at the provider stays", reason=refused.failure.code)
        return ""
    if not address:
        return ""
    back = request.build_absolute_uri(reverse("signin:signed-out"))
    return f"{address}?{urlencode({'client_id': settings.OIDC_RP_CLIENT_ID, 'post_logout_redirect_uri': back})}"
