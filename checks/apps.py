"""The app's name for Django."""

from django.apps import AppConfig


class ChecksConfig(AppConfig):
    """Checks, as Django sees them."""

    name = "checks"
    default_auto_field = "django.db.models.BigAutoField"
    verbose_name = "Validation checks"
