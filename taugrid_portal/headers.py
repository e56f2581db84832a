"""Response headers that Django and django-csp do not set: isolation from other origins, and caching."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase
from django.utils.cache import patch_vary_headers

_PERMISSIONS = "camera=(), geolocation=(), microphone=(), payment=(), usb=()"


class HeadersMiddleware:
    """Adds what is missing; what a view has set stands."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        response.headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
        response.headers.setdefault("Permissions-Policy", _PERMISSIONS)
        # A page belongs to one viewer: only their browser may keep it, and it asks again before showing it.
        if "Cache-Control" not in response.headers:
            response.headers["Cache-Control"] = "private, no-cache"
            patch_vary_headers(response, ["Cookie", "HX-Request"])
        return response
