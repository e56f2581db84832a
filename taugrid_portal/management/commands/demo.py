"""manage.py demo: sign-in provider, database, sample data and portal in one process, ended by Ctrl-C."""

import time
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from checks.models import Cluster
from taugrid_portal import environ, server
from taugrid_portal.demo import living, provider

PATIENCE_SECONDS = 2.0


def _provider() -> AbstractContextManager[None]:
    try:
        return provider.running(settings.OIDC_ISSUER, settings.PORTAL_URL)
    except ImportError as problem:
        raise CommandError(
            "The demo needs oidc-provider-mock, which production leaves out. Use `make demo`."
        ) from problem


class Command(BaseCommand):
    help = "Show the portal with sample data on http://localhost:PORT (8000)."

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.SAMPLE_DATA:
            raise CommandError("The demo does not run with PORTAL_MODE set; unset it.")
        from taugrid_portal.wsgi import application

        try:
            listener = server.hold(settings.HOST, settings.PORT)
        except server.PortInUseError as problem:
            raise CommandError(str(problem)) from problem
        began = time.monotonic()
        with server.ended_by_signals(), listener:
            call_command("migrate", verbosity=0, interactive=False)
            # The first start waits for its data; a later one for a moment, and shows what it has until that is read.
            folder = Path(environ.string("DEMO_FOLDER"))
            is_first = not Cluster.objects.exists()
            if is_first:
                living.load(folder, is_first=True)
            with living.moving(folder, reload=not is_first) as wait, _provider():
                wait(began + PATIENCE_SECONDS - time.monotonic())
                self.stdout.write(f"The portal is at {settings.PORTAL_URL} (sample data, Ctrl-C ends it)")
                self.stdout.flush()
                server.serve(application, listener)
