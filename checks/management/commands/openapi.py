"""manage.py openapi: the OpenAPI document of the API, as docs/openapi.yaml has it."""

from typing import Any

from django.core.management.base import BaseCommand

from checks.api.openapi import document


class Command(BaseCommand):
    help = "Print the OpenAPI document of the API (docs/openapi.yaml is this, checked in)."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(document(), ending="")
