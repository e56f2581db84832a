"""The review of registrations in Django's admin: a list, and one page per registration. Nothing here changes anything.

Whether somebody may enter is decided at the door (`taugrid_portal.review_site`); what they see by the queries.
"""

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils import timezone
from django.views.decorators.http import require_safe

from .models import Check
from .queries.registrations import dossier, registrations
from .review.difference import fold
from .vocabulary import visible

if TYPE_CHECKING:
    _ModelAdmin = admin.ModelAdmin[Check]
else:
    _ModelAdmin = admin.ModelAdmin


class ClusterFilter(admin.SimpleListFilter):
    """By cluster, of those that the viewer may read. (Django's own filter of a relation names every cluster.)"""

    title = parameter_name = "cluster"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        names = model_admin.get_queryset(request).order_by("cluster").values_list("cluster", flat=True).distinct()
        return [(name, name) for name in names]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(cluster=self.value()) if self.value() else queryset


@admin.register(Check)
class RegistrationAdmin(_ModelAdmin):
    """Registrations, as the admin lists them. Addresses name the registration as pages do, never a row's number."""

    list_display = ("title", "namespace", "cluster", "review", "template_name", "owner", "created_at")
    list_display_links = None
    list_filter = ("review", ClusterFilter, "namespace")
    search_fields = ("search",)
    list_per_page = 50
    show_full_result_count = False
    actions = None
    change_list_template = "admin/registrations.html"

    def get_ordering(self, request: HttpRequest) -> tuple[str, ...]:
        return ("waiting", "cluster", "namespace", "name")  # `waiting` comes with the query, so it is no `ordering`

    def get_urls(self) -> list[URLPattern]:
        review = self.admin_site.admin_view(require_safe(self.review_view))
        listed = self.admin_site.admin_view(require_safe(self.changelist_view))
        return [
            path("", listed, name="checks_check_changelist"),
            path("<str:cluster>/<str:namespace>/<str:name>/", review, name="registration"),
        ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Check]:
        return registrations(request.scope)  # type: ignore[attr-defined]

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Every word must be somewhere in what a registration is found by."""
        words = search_term.lower().replace("\x00", "").split()[:8]
        return queryset.filter(*(Q(search__contains=word) for word in words)), False

    def review_view(self, request: HttpRequest, cluster: str, namespace: str, name: str) -> HttpResponse:
        """One registration. `?whole` shows every line of the documents."""
        found = dossier(request.scope, cluster, namespace, name, timezone.now())  # type: ignore[attr-defined]
        if found is None:
            raise Http404
        whole = "whole" in request.GET
        documents = [(d, d.lines if whole or not (d.before and d.after) else fold(d.lines)) for d in found.documents]
        context = {**self.admin_site.each_context(request), "found": found, "documents": documents, "whole": whole}
        return HttpResponse(visible(render_to_string("admin/registration.html", context, request)))

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """The list, with every character that hides or reverses text made visible, as on all pages."""
        response = super().changelist_view(request, extra_context)
        if isinstance(response, TemplateResponse):
            response.content = visible(response.render().content.decode()).encode()
        return response

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return bool(request.scope.reviews)  # type: ignore[attr-defined]

    def has_module_permission(self, request: HttpRequest) -> bool:
        return bool(request.scope.reviews)  # type: ignore[attr-defined]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
