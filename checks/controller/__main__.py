"""`python -m checks.controller`: runs until it is told to end. See docs/controller.md."""

import os
import signal
import socket
import sys
import tempfile
import threading
import uuid
from types import FrameType
from typing import Any

import click
import prometheus_client
import structlog

from .. import __version__
from ..cluster.errors import ClusterError
from ..cluster.writing import WritingApi
from ..objects import section, text
from ..telemetry.sinks import ConfigurationError
from . import metrics
from .artifacts import ArtifactError
from .lease import Lease
from .loop import SELECTORS, Controller
from .pod_files import LARGEST, PodFiles
from .steps import Steps
from .stores import from_environment, store_at
from .telemetry import Settings, telemetry_options

log = structlog.get_logger(__name__)
_IDENTITY = "/apis/authentication.k8s.io/v1/selfsubjectreviews"


@click.command(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="tau-validation-controller")
@click.option(
    "--cluster", envvar="CLUSTER_NAME", required=True, metavar="NAME", help="Name of this cluster, as results say it."
)
@click.option("--kubeconfig", envvar="KUBECONFIG", default="", help="Default: the pod's own service account.")
@click.option("--context", default="", help="Context of the kubeconfig.")
@click.option(
    "--namespace", envvar="POD_NAMESPACE", default="tau-system", show_default=True, help="Where its Lease is."
)
@click.option(
    "--artifacts",
    envvar="TAU_ARTIFACTS",
    default="",
    metavar="URI",
    help="Where evidence is kept: file:///path, s3://BUCKET/PREFIX or az://ACCOUNT/CONTAINER/PREFIX, with credentials "
    "in TAU_ARTIFACTS_<OPTION>[_FILE]. Default: a folder in the temporary directory.",
)
@click.option(
    "--pod-artifacts",
    envvar="TAU_POD_ARTIFACTS",
    default="",
    metavar="URI",
    help="Where the volumes that pods write to are mounted here: file:///path, or file:///path/{namespace}. What "
    "reports list is brought from there. Default: pods write to --artifacts themselves.",
)
@click.option(
    "--evidence-bytes",
    envvar="TAU_EVIDENCE_BYTES",
    default=LARGEST,
    show_default=True,
    type=click.IntRange(0, 4 * 1024**3),
    help="Brought of one piece that a pod left; a larger one stays away.",
)
@click.option(
    "--log-bytes",
    envvar="TAU_LOG_BYTES",
    default=256 * 1024,
    show_default=True,
    type=click.IntRange(0, 2**24),
    help="Kept of each pod's log.",
)
@click.option(
    "--workers",
    envvar="TAU_WORKERS",
    default=4,
    show_default=True,
    type=click.IntRange(1, 64),
    help="Objects looked at at once.",
)
@click.option(
    "--lease-seconds",
    default=15.0,
    show_default=True,
    type=click.FloatRange(0.5, 3600),
    help="How long a silent holder keeps the Lease.",
)
@click.option(
    "--metrics-port",
    envvar="TAU_METRICS_PORT",
    default=0,
    type=click.IntRange(0, 65535),
    help="Serve /metrics here; 0 does not.",
)
@click.option("--metrics-address", default="0.0.0.0", show_default=True)  # noqa: S104 - in a pod, for Prometheus
@telemetry_options
@click.option(
    "--log-level",
    envvar="LOG_LEVEL",
    default="INFO",
    show_default=True,
    type=click.Choice(["DEBUG", "INFO", "WARNING", "ERROR"], case_sensitive=False),
)
def main(
    cluster: str,
    kubeconfig: str,
    context: str,
    namespace: str,
    artifacts: str,
    pod_artifacts: str,
    evidence_bytes: int,
    log_bytes: int,
    workers: int,
    lease_seconds: float,
    metrics_port: int,
    metrics_address: str,
    log_level: str,
    **telemetry: Any,
) -> None:
    """Runs validation checks: judges registrations, launches approved runs through Kueue, seals their results.

    Everything may also be given by environment variable; see docs/controller.md. Ends with 0 on SIGTERM, 1 where the
    Lease is lost, 78 where it cannot start.
    """
    _log_as_json(log_level)
    stop = threading.Event()

    def ask_to_stop(_number: int, _frame: FrameType | None) -> None:
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, ask_to_stop)
    try:
        api = WritingApi(kubeconfig, context, SELECTORS)
        username = _whoami(api)
        store = store_at(artifacts or _temporary_store(), from_environment)
        pod_files = PodFiles(pod_artifacts, evidence_bytes) if pod_artifacts else None
        recorder = Settings(**{key.removeprefix("telemetry_"): value for key, value in telemetry.items()}).recorder(
            api, cluster
        )
    except (ClusterError, ArtifactError, ConfigurationError) as error:
        log.error("cannot start", why=str(error))
        sys.exit(78)
    if metrics_port:
        prometheus_client.start_http_server(metrics_port, metrics_address)
    log.info("started", version=__version__, cluster=cluster, username=username)
    holder = f"{os.environ.get('POD_NAME') or socket.gethostname()}_{uuid.uuid4().hex[:8]}"
    lease = Lease(api, namespace, holder, lease_seconds)
    if not lease.acquire(stop):
        return
    metrics.LEADING.set(1)
    if recorder is not None:
        recorder.start()
    controller = Controller(api, Steps(api, store, cluster, username, log_bytes, pod_files), workers, recorder)
    controller.start()
    held = lease.hold(stop)
    if not held:
        log.error("lease lost")
        os._exit(1)  # another controller may be at work: not one more step
    log.info("stopping")
    controller.stop()
    lease.release()
    if recorder is not None:
        recorder.stop()


def _whoami(api: WritingApi) -> str:
    review = api.create(_IDENTITY, {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"})
    return text(section(section(review, "status"), "userInfo"), "username")


def _temporary_store() -> str:
    log.warning("no artifact store was given: evidence is lost with this pod; set --artifacts")
    return f"file://{tempfile.gettempdir()}/taugrid-artifacts"


def _log_as_json(level: str) -> None:
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True, key="time"),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level.upper()),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )


if __name__ == "__main__":
    main()
