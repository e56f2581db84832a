"""manage.py serve: the portal in production, on HOST and PORT."""

from typing import Any

import structlog
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from taugrid_portal import server


class Command(BaseCommand):
    help = "Serve the portal on HOST (127.0.0.1) and PORT (8000)."

    def handle(self, *args: Any, **options: Any) -> None:
        from taugrid_portal.wsgi import application

        try:
            listener = server.hold(settings.HOST, settings.PORT)
        except server.PortInUseError as problem:
            raise CommandError(str(problem)) from problem
        structlog.get_logger(__name__).info("serving", address=settings.PORTAL_URL, port=settings.PORT)
        with server.ended_by_signals():
            server.serve(application, listener)
