"""What Prometheus is told about checks: how many are in each state, and how fresh what is known of each cluster is.

Counted as pages count, by the steps at this moment. Labels are clusters, states and reviews; no check is named.
"""

from collections.abc import Iterator

from django.db.models import Count
from django.utils import timezone
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from .contract.reasons import State
from .models import Check, Cluster, Review
from .queries.checks import current
from .queries.sources import Sources, sources
from .scope import Scope


class CheckStates(Collector):
    """Reads the database at every scrape: a handful of queries, whatever the number of checks."""

    def collect(self) -> Iterator[Metric]:
        """Every metric. Raises the database's errors, so that a scrape says that nothing could be read."""
        names = frozenset(Cluster.objects.values_list("name", flat=True))
        everything = Scope(clusters=names)
        seen = sources(everything, timezone.now())
        yield self._states(everything, seen)
        yield self._registrations(names)
        yield from self._clusters(seen)

    def _states(self, everything: Scope, seen: Sources) -> Metric:
        family = GaugeMetricFamily("portal_checks", "Checks by state, now.", labels=["cluster", "state"])
        counted = current(everything, seen).order_by().values_list("cluster", "step_state").annotate(Count("pk"))
        found = {(cluster, state): number for cluster, state, number in counted}
        for cluster in sorted(everything.clusters):
            for state in State:
                family.add_metric([cluster, str(state)], found.get((cluster, str(state)), 0))
        return family

    def _registrations(self, names: frozenset[str]) -> Metric:
        words = "Registrations by where they stand with their reviewers."
        family = GaugeMetricFamily("portal_registrations", words, labels=["cluster", "review"])
        rows = Check.objects.filter(registered=True, gone_at=None).order_by().values_list("cluster", "review")
        found = {(cluster, review): number for cluster, review, number in rows.annotate(Count("pk"))}
        for cluster in sorted(names):
            for review in Review.values:
                family.add_metric([cluster, review], found.get((cluster, review), 0))
        return family

    def _clusters(self, seen: Sources) -> Iterator[Metric]:
        available = GaugeMetricFamily(
            "portal_cluster_available", "1 while a cluster counts as seen, else 0.", labels=["cluster"]
        )
        age = GaugeMetricFamily(
            "portal_cluster_seen_age_seconds", "Seconds since a cluster was last seen.", labels=["cluster"]
        )
        for source in seen:
            available.add_metric([source.name], float(source.is_available))
            if source.seen_at is not None:
                age.add_metric([source.name], (seen.now - source.seen_at).total_seconds())
        yield available
        yield age
