"""Django's admin behind the portal's own door.

Only those who review registrations pass, for everybody else no address of it exists. People sign in and out as
on every page; the admin's own password pages are not there. What is shown, and that nothing can be changed, is
decided by the model admins.
"""

from collections.abc import Callable
from functools import update_wrapper
from typing import Any

from django.contrib import admin
from django.contrib.auth.models import Group
from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.urls import URLPattern, URLResolver, path

_REPLACED = ("login", "logout", "password_change", "password_change_done")

View = Callable[..., HttpResponseBase]


class ReviewSite(admin.AdminSite):
    site_header = site_title = "TauGrid Portal"
    index_title = "Review"
    enable_nav_sidebar = False

    def register(self, model_or_iterable: Any, admin_class: Any = None, **options: Any) -> None:
        """Django's own groups stay out: rights come from the provider's groups and from Kubernetes."""
        models = [model_or_iterable] if isinstance(model_or_iterable, type) else model_or_iterable
        super().register([model for model in models if model is not Group], admin_class, **options)

    def has_permission(self, request: HttpRequest) -> bool:
        return bool(request.scope.reviews)  # type: ignore[attr-defined]

    def admin_view(self, view: View, cacheable: bool = False) -> View:  # type: ignore[override]
        inner = super().admin_view(view, cacheable)

        def door(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if not self.has_permission(request):
                raise Http404
            return inner(request, *args, **kwargs)

        return update_wrapper(door, inner)

    def get_urls(self) -> list[Any]:
        from taugrid_portal.signin.views import sign_out

        def login(request: HttpRequest, **_: object) -> HttpResponseBase:
            return redirect("admin:index")  # the wall has already asked for a sign-in

        kept: list[URLPattern | URLResolver] = [
            url for url in super().get_urls() if getattr(url, "name", "") not in _REPLACED
        ]
        return [
            path("login/", self.admin_view(login), name="login"),
            path("logout/", sign_out, name="logout"),
            *kept,
        ]
