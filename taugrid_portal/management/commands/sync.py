"""`manage.py sync`: reads the configured clusters into the database until it is stopped."""

import signal
import threading
from argparse import ArgumentParser
from datetime import timedelta
from pathlib import Path
from typing import Any

import structlog
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from checks.cluster.errors import ClusterError
from checks.evidence.locating import Stores
from checks.sync.judging import judge_outdated_dumps
from checks.sync.live import LiveSync
from checks.sync.retention import prune
from taugrid_portal import clusters, evidence

log = structlog.get_logger("sync")


class Command(BaseCommand):
    """One thread per cluster; a fault of one leaves the others running. Ends with 0 when stopped by a signal."""

    requires_system_checks = []  # it serves no page and signs nobody in
    help = (
        "Lists and watches every configured cluster (CLUSTER_NAME, CLUSTERS) and keeps the database as they are. "
        "Two of them do no harm: one works, the other waits. Stops at SIGTERM and Ctrl-C."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Arguments of the command."""
        parser.add_argument(
            "--evidence",
            metavar="DIR",
            help="folder of evidence files named by their sha256, instead of EVIDENCE_STORES",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Starts a sync for each cluster and waits for the end."""
        if not settings.CLUSTERS:
            raise CommandError(
                "No cluster is configured: set CLUSTER_NAME, or CLUSTERS=NAME=KUBECONFIG,…", returncode=2
            )
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        stores = Stores(folder=Path(options["evidence"])) if options["evidence"] else evidence.stores()
        judge_outdated_dumps()
        threads = [
            threading.Thread(target=self._sync, args=(name, stop, stores), name=name) for name in settings.CLUSTERS
        ]
        for thread in threads:
            thread.start()
        while not stop.wait(3600):
            prune(settings.RESULTS_KEPT)
        for thread in threads:
            thread.join()

    def _sync(self, name: str, stop: threading.Event, stores: Stores) -> None:
        """Begins again after a lost lease or a fault, since one cluster must not end the others."""
        while not stop.is_set():
            try:
                every = timedelta(seconds=settings.EVIDENCE_REVERIFY_SECONDS)
                LiveSync(name, clusters.api(name), stop, stores, every).run()
            except ClusterError as error:
                log.error("cluster_unusable", cluster=name, problem=str(error))
            except Exception:
                log.exception("sync_failed", cluster=name)
            stop.wait(2.0)
