"""What Prometheus reads: how long requests take, and the states of checks that `checks` counts.

Every label has a small closed set of values: routes by name, never addresses.
"""

import structlog
from django.conf import settings
from django.db import Error as DatabaseError
from django.utils.module_loading import import_string
from prometheus_client import REGISTRY, CollectorRegistry, Gauge, Histogram, generate_latest
from prometheus_client.registry import Collector

log = structlog.get_logger(__name__)

REQUEST_DURATION = Histogram(
    "portal_request_duration_seconds",
    "Time to answer a request, by route name.",
    ["route", "method", "code"],
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
)
CHECK_STATES_UP = Gauge("portal_check_states_up", "1 when the states of checks could be read for this answer, else 0.")


def exposition() -> bytes:
    """All metrics as text. Where the database does not answer, the process still tells about itself."""
    states = b""
    try:
        registry = CollectorRegistry(auto_describe=False)
        collector: Collector = import_string(settings.METRICS_COLLECTOR)()
        registry.register(collector)
        states = generate_latest(registry)
        CHECK_STATES_UP.set(1)
    except DatabaseError:
        log.warning("states of checks cannot be read", reason="database_unavailable")
        CHECK_STATES_UP.set(0)
    return generate_latest(REGISTRY) + states
