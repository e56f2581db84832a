"""`manage.py prune`: keeps the database's history within its setting; `sync` does the same every hour."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from checks.sync.retention import prune


class Command(BaseCommand):
    """Deletes old history; no current verdict changes."""

    requires_system_checks = []
    help = "Deletes results and runs beyond RESULTS_KEPT per check that are gone from their cluster."

    def handle(self, *args: Any, **options: Any) -> None:
        """Prunes and says how many rows went."""
        self.stdout.write(
            f"{prune(settings.RESULTS_KEPT)} rows deleted, the {settings.RESULTS_KEPT} newest per check kept"
        )
