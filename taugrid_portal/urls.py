"""Every address of the site."""

from django.conf import settings
from django.contrib import admin
from django.urls import include, path

from taugrid_portal import probes

urlpatterns = [
    path("livez", probes.livez, name="livez"),
    path("readyz", probes.readyz, name="readyz"),
    path("metrics", probes.metrics, name="metrics"),
    path("", include("taugrid_portal.signin.urls")),
    path("admin/", admin.site.urls),
    path("api/portal/", include("checks.api.urls")),
    path("", include("checks.urls")),
]

if settings.SAMPLE_DATA:
    from taugrid_portal.demo.tour import tour

    urlpatterns.append(path("tour/", tour, name="tour"))

handler400 = "taugrid_portal.errors.bad_request"
handler403 = handler404 = "taugrid_portal.errors.not_found"
handler500 = "taugrid_portal.errors.server_error"
