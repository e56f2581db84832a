"""Telemetry of this controller: what surrounds a run is read here, what is told of it is in `checks.telemetry`."""

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click
import structlog

from ..cluster.errors import ClusterError
from ..cluster.writing import WritingApi
from ..contract.kinds import CHECK, RESULT
from ..objects import labels_of, section, text
from ..telemetry.recorder import Recorder, Unavailable
from ..telemetry.runs import Around
from ..telemetry.sinks import Sink, Stdout, sink_from
from ..telemetry.spool import Spool
from . import names
from .workload import queue_of

Object = dict[str, Any]
Command = TypeVar("Command", bound=Callable[..., Any])
log = structlog.get_logger(__name__)
KEPT_SECONDS = 30.0
_MANY = 1000


@dataclass(frozen=True, slots=True)
class Settings:
    """Where telemetry goes. sink: an address, "" for none; spool: a folder, "" for a temporary one."""

    stdout: bool
    sink: str
    token_file: Path | None
    ca_file: Path | None
    spool: str
    spool_bytes: int

    def recorder(self, api: WritingApi, cluster: str) -> Recorder | None:
        """The recorder, not yet started; None where nothing is to be told. Raises ConfigurationError."""
        sinks: list[Sink] = [Stdout()] if self.stdout else []
        if self.sink:
            sinks.append(sink_from(self.sink, self.token_file, self.ca_file))
        if not sinks:
            return None
        if not self.spool:
            log.warning("no spool was given: what was not sent is made again after a restart; set --telemetry-spool")
        folder = Path(self.spool or f"{tempfile.gettempdir()}/taugrid-telemetry-{cluster}")
        words = [sink.name for sink in sinks]
        return Recorder(lambda: Spool(folder, words, self.spool_bytes), sinks, Surroundings(api, cluster))


_FILE = click.Path(path_type=Path, dir_okay=False)
_OPTIONS = (
    click.option(
        "--telemetry-stdout/--no-telemetry-stdout",
        envvar="TAU_TELEMETRY_STDOUT",
        default=True,
        show_default=True,
        help="Write lifecycle rows and metric events to standard output.",
    ),
    click.option(
        "--telemetry-sink",
        envvar="TAU_TELEMETRY_SINK",
        default="",
        metavar="URI",
        help="Send them here too: https://host/path or file:///path; {table} stands for the table.",
    ),
    click.option("--telemetry-token-file", envvar="TAU_TELEMETRY_TOKEN_FILE", type=_FILE, help="Bearer token of it."),
    click.option("--telemetry-ca-file", envvar="TAU_TELEMETRY_CA_FILE", type=_FILE, help="Who may vouch for it."),
    click.option("--telemetry-spool", envvar="TAU_TELEMETRY_SPOOL", default="", metavar="DIR", help="Kept until sent."),
    click.option(
        "--telemetry-spool-bytes",
        envvar="TAU_TELEMETRY_SPOOL_BYTES",
        default=64 * 1024 * 1024,
        show_default=True,
        type=click.IntRange(1024 * 1024, 2**40),
        help="No larger than this.",
    ),
)


def telemetry_options(command: Command) -> Command:
    """The options of the command line that say where telemetry goes."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


class Surroundings:
    """Looks up what other objects say of a run. Namespaces and registrations are believed for half a minute."""

    def __init__(self, api: WritingApi, cluster: str) -> None:
        self._api, self._cluster = api, cluster
        self._read: dict[str, tuple[float, Object | None]] = {}

    def __call__(self, run: Object) -> Around:
        """Raises Unavailable."""
        metadata, status = section(run, "metadata"), section(run, "status")
        namespace = text(metadata, "namespace")
        reference = text(section(status, "resultRef"), "name")
        try:
            place = self._kept(f"/api/v1/namespaces/{namespace}") or {}
            check = self._kept(names.own_path(CHECK, namespace, text(section(run["spec"], "checkRef"), "name")))
            workload = self._workload(namespace, text(section(status, "workload"), "name"))
            result = self._api.get(names.own_path(RESULT, namespace, reference)) if reference else None
        except ClusterError as error:
            raise Unavailable(str(error)) from error
        launch = section(section(section(check, "spec"), "launch"), "template")
        return Around(
            cluster=self._cluster,
            workspace=labels_of(place).get(names.WORKSPACE) or None,
            local_queue=(text(launch, "queue") or queue_of(place)) if launch else None,
            cluster_queue=text(section(section(workload, "status"), "admission"), "clusterQueue") or None,
            result=result,
            check=check,
        )

    def _workload(self, namespace: str, name: str) -> Object | None:
        if not name:
            return None
        return self._api.get(names.path_in("kueue.x-k8s.io/v1beta2", "workloads", namespace, name))

    def _kept(self, path: str) -> Object | None:
        at, item = self._read.get(path, (0.0, None))
        if time.monotonic() - at > KEPT_SECONDS or item is None:
            item = self._api.get(path)
            if len(self._read) > _MANY:
                self._read.clear()
            self._read[path] = (time.monotonic(), item)
        return item
