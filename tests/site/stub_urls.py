"""The site's own addresses, with small pages of the tests' own in place of those about checks."""

from django.contrib import admin
from django.db import OperationalError
from django.http import Http404, HttpResponse, JsonResponse
from django.urls import include, path
from django.views.decorators.http import require_safe
from rest_framework.response import Response
from rest_framework.views import APIView

from taugrid_portal import probes
from taugrid_portal.request import PortalRequest


@require_safe
def home(request: PortalRequest) -> HttpResponse:
    return HttpResponse("the fleet")


@require_safe
def whoami(request: PortalRequest) -> HttpResponse:
    scope = request.scope
    return JsonResponse(
        {
            "username": request.viewer.username,
            "groups": list(request.viewer.groups),
            "clusters": sorted(scope.clusters),
            "namespaces": sorted(map(list, scope.namespaces)),
            "reviews": scope.reviews,
            "problem": scope.problem,
            "viewer": scope.viewer.username,
        }
    )


def broken(request: PortalRequest) -> HttpResponse:
    raise RuntimeError("a secret in an exception")


def without_database(request: PortalRequest) -> HttpResponse:
    raise OperationalError("no such host: db.internal")


def hidden(request: PortalRequest) -> HttpResponse:
    raise Http404("team-secret")


class Fleet(APIView):
    def get(self, request: PortalRequest) -> Response:
        return Response({"viewer": request.user.username})


urlpatterns = [
    path("livez", probes.livez, name="livez"),
    path("readyz", probes.readyz, name="readyz"),
    path("metrics", probes.metrics, name="metrics"),
    path("", include("taugrid_portal.signin.urls")),
    path("admin/", admin.site.urls),
    path("api/portal/fleet", Fleet.as_view(), name="api-fleet"),
    path("", include(([path("", home, name="fleet"), path("checks/", home, name="checks")], "checks"))),
    path("whoami/", whoami, name="whoami"),
    path("broken/", broken, name="broken"),
    path("without-database/", without_database, name="without-database"),
    path("hidden/", hidden, name="hidden"),
]

handler400 = "taugrid_portal.errors.bad_request"
handler403 = handler404 = "taugrid_portal.errors.not_found"
handler500 = "taugrid_portal.errors.server_error"
