"""Nothing is shown to anybody who is not signed in, or whose sign-in has to be confirmed again.

A page is answered with the way to the sign-in, an htmx request with `HX-Redirect` (the browser would follow a
redirect into a panel), a program with 401 and JSON.
"""

from collections.abc import Callable
from typing import Any

from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect

from taugrid_portal.errors import TOO_MANY_GROUPS, UNAUTHENTICATED, failure, is_api
from taugrid_portal.signin import session
from taugrid_portal.signin.views import sign_in_url


class SignInWall(LoginRequiredMiddleware):
    """Django's wall, without a gap at the API (REST framework exempts its views) and with renewal."""

    def process_view(
        self,
        request: HttpRequest,
        view_func: Callable[..., HttpResponseBase],
        view_args: tuple[Any, ...],
        view_kwargs: dict[str, Any],
    ) -> HttpResponseBase | None:
        is_open = not getattr(view_func, "login_required", True) and not is_api(request)
        if is_open or (request.user.is_authenticated and session.is_current(request.session)):
            return None
        return self.handle_no_permission(request, view_func)

    def handle_no_permission(  # type: ignore[override]
        self, request: HttpRequest, view_func: Callable[..., HttpResponseBase]
    ) -> HttpResponseBase:
        if is_api(request):
            overfull = session.has_too_many_groups(request.session)
            return failure(request, TOO_MANY_GROUPS if overfull else UNAUTHENTICATED)
        if request.htmx:  # type: ignore[attr-defined]
            # The whole page comes back after the sign-in, not the panel that was asked for.
            page = request.htmx.current_url_abs_path or "/"  # type: ignore[attr-defined]
            return HttpResponse(status=401, headers={"HX-Redirect": sign_in_url(page)})
        return HttpResponseRedirect(sign_in_url(request.get_full_path()))
