"""The site as Django applications: itself, and the admin with its door."""

from django.apps import AppConfig
from django.contrib.admin.apps import AdminConfig


class PortalConfig(AppConfig):
    name = "taugrid_portal"
    verbose_name = "TauGrid Portal"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from taugrid_portal import system_checks  # noqa: F401  # registers them


class ReviewAdminConfig(AdminConfig):
    default_site = "taugrid_portal.review_site.ReviewSite"
