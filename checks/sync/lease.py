"""Who syncs a cluster: one process works, the others wait. A lease in the row of the cluster, checked at each write.

Not a lock of the database, so that it works the same on SQLite and PostgreSQL and survives a killed holder. By the
database's clock alone: machines whose clocks disagree neither take it from each other nor wait for longer.
"""

import os
import socket
import uuid
from datetime import timedelta
from typing import Any

from django.db.models import DateTimeField, Func, Q

from ..models import Cluster

LEASE = timedelta(seconds=20)


class Clock(Func):
    """The database's clock at this moment, also within a long transaction."""

    function = "CLOCK_TIMESTAMP"
    output_field = DateTimeField()

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        """SQLite's, as Django writes a time there."""
        template = "STRFTIME('%%%%Y-%%%%m-%%%%d %%%%H:%%%%M:%%%%f', 'NOW')"
        return self.as_sql(compiler, connection, template=template, **context)


class LeaseLost(Exception):
    """Another process syncs this cluster now; nothing of ours may be written any more."""


def new_holder() -> str:
    """A name for this process, unique and readable."""
    return f"{socket.gethostname()[:60]}-{os.getpid()}-{uuid.uuid4().hex[:8]}"


def acquire(cluster: str, holder: str) -> bool:
    """Takes or renews the lease; False while another holds it."""
    free = Q(sync_holder="") | Q(sync_holder=holder) | Q(sync_until=None) | Q(sync_until__lt=Clock())
    rows = Cluster.objects.filter(free, name=cluster)
    return rows.update(sync_holder=holder, sync_until=Clock() + LEASE) == 1


def held(cluster: str, holder: str) -> Cluster:
    """The cluster's row, locked for this transaction and the lease renewed. Raises LeaseLost."""
    row = Cluster.objects.select_for_update().get(name=cluster)
    if row.sync_holder != holder:
        raise LeaseLost(cluster)
    renew(row)
    return row


def renew(row: Cluster) -> None:
    """Once more before a long transaction is committed, so that nobody who waits for it finds a lease that is over."""
    row.sync_until = Clock() + LEASE


def release(cluster: str, holder: str) -> None:
    """Gives the lease back, so that the next one need not wait for its end."""
    Cluster.objects.filter(name=cluster, sync_holder=holder).update(sync_holder="", sync_until=None)
