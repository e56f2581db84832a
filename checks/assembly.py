"""Rows back to facts, and facts to verdicts: for a handful of checks at a time, in a constant number of queries.

Used by the sync (to store steps) and by queries (to evaluate again what a page shows).
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from typing import Any

from django.db.models import Q

from .contract.envelope import Read, read_envelope
from .contract.guard import Guard
from .facts import HEARTBEAT_LIMIT, Inventory, Registration, Sealed, Source, Verification, Verified
from .facts import Node as NodeFacts
from .facts import Result as ResultFacts
from .facts import Run as RunFacts
from .facts import Template as TemplateFacts
from .models import Check, Cluster, Evidence, Namespace, Node, Result, Run, Template
from .objects import registration_from, result_from, run_from, template_from
from .snapshot import TWO_COPIES
from .verdict import Verdict, evaluate


def as_of(cluster: Cluster, now: datetime) -> datetime:
    """The instant at which a cluster's verdicts are made: the reader's clock, or a dump's time of capture."""
    return cluster.captured_at or now


def source_facts(cluster: Cluster, *, unbroken: bool = False) -> Source:
    """How the cluster was last seen."""
    return Source(
        cluster=cluster.name,
        complete=cluster.complete,
        heartbeat_at=cluster.captured_at or cluster.heartbeat_at,
        guard=Guard(cluster.guard_in_force, cluster.guard_why, cluster.guard_policy),
        heartbeat_limit=HEARTBEAT_LIMIT,
        why=cluster.problem,
        unbroken=unbroken,
    )


# The same text always reads the same, so what was read lately is kept: pages show the same few objects again and again.


@lru_cache(512)
def _envelope_of(text: str) -> Read:
    return read_envelope(json.loads(text), text.encode())


@lru_cache(1024)
def _registration_of(text: str, cluster: str) -> Registration:
    return registration_from(json.loads(text), cluster, None, None)


@lru_cache(256)
def _template_of(text: str) -> TemplateFacts:
    return template_from(json.loads(text))


@lru_cache(1024)
def _run_of(text: str) -> RunFacts:
    return run_from(json.loads(text))


def run_facts(row: Run) -> RunFacts:
    """A run's row as facts."""
    facts = replace(_run_of(row.body), gone=row.gone_at is not None)
    return replace(facts, problems=(*facts.problems, TWO_COPIES)) if row.ambiguous else facts


def result_facts(row: Result, evidence: Iterable[Evidence]) -> ResultFacts:
    """A result's row as facts. Its envelope was kept as canonical bytes, which are read and hashed again here."""
    read = {e.name: Verified(Verification(e.state), e.verified_at, e.reader, e.why, e.counts_until) for e in evidence}
    gone = row.gone_at is not None
    if row.body:  # the spec itself could not be read; say again how
        metadata = {"name": row.name, "namespace": row.namespace, "uid": row.uid}
        facts = result_from(
            {"metadata": metadata, "spec": json.loads(row.body)},
            read,
            conflict=row.conflict or row.ambiguous,
            gone=gone,
        )
        return replace(facts, created_at=row.created_at)
    sealed = _envelope_of(row.envelope)
    return ResultFacts(
        namespace=row.namespace,
        name=row.name,
        uid=row.uid,
        created_at=row.created_at,
        publisher=row.publisher,
        stated_digest=row.stated_digest,
        digest=sealed.digest,
        schema=sealed.schema,
        envelope=sealed.envelope,
        problems=tuple(problem.below("/spec/envelope") for problem in sealed.problems),
        evidence=read,
        conflict=row.conflict or row.ambiguous,
        gone=gone,
    )


def result_spec(row: Result) -> Any:
    """The spec of a result as it was read."""
    if row.body:
        return json.loads(row.body)
    envelope = json.loads(row.envelope)
    return {"publisher": {"username": row.publisher}, "digest": row.stated_digest, "envelope": envelope}


def node_facts(row: Node) -> NodeFacts:
    """A node's row as the identity of a machine."""
    return NodeFacts(row.uid, row.boot_id, row.system_uuid, row.machine_id, row.provider_id)


class Assembly:
    """The facts of some checks (rows with `cluster` loaded), fetched together."""

    def __init__(self, checks: Sequence[Check], *, history: bool = True) -> None:
        self.checks = checks
        self._load_documents()
        if history:
            self._load_history()

    def _load_documents(self) -> None:
        clusters = {check.cluster_id for check in self.checks}
        named = {check.template_name for check in self.checks if check.template_name}
        spaces = {check.namespace for check in self.checks}
        templates = Template.objects.filter(cluster__in=clusters, name__in=named, gone_at=None)
        self.templates = {(t.cluster_id, t.name): (_template_of(t.body), t.ambiguous) for t in templates}
        namespaces = Namespace.objects.filter(cluster__in=clusters, name__in=spaces, gone_at=None)
        self.labels: dict[tuple[str, str], dict[str, str]] = {
            (n.cluster_id, n.name): json.loads(n.labels) for n in namespaces if not n.ambiguous
        }

    def _load_history(self) -> None:
        runs = {pk for check in self.checks for pk in (check.run_id, check.last_run_id) if pk}
        results = {pk for check in self.checks for pk in (check.result_id, check.last_result_id) if pk}
        self.runs = {row.pk: run_facts(row) for row in Run.objects.filter(pk__in=runs)}
        evidence: dict[int, list[Evidence]] = {}
        for item in Evidence.objects.filter(result__in=results):
            evidence.setdefault(item.result_id, []).append(item)
        rows = Result.objects.filter(pk__in=results)
        self.results = {row.pk: result_facts(row, evidence.get(row.pk, ())) for row in rows}
        self.inventory = self._inventory()

    def _inventory(self) -> dict[str, Inventory]:
        """The nodes that the results name, by cluster."""
        wanted: dict[str, set[str]] = {}
        for check in self.checks:
            for pk in (check.result_id, check.last_result_id):
                facts = self.results.get(pk) if pk else None
                if facts and facts.envelope:
                    wanted.setdefault(check.cluster_id, set()).update(t.name for t in facts.envelope.targets.observed)
        if not wanted:
            return {}
        condition = Q()
        for cluster, names in wanted.items():
            condition |= Q(cluster=cluster, name__in=names)
        found: dict[str, dict[str, tuple[NodeFacts, ...]]] = {}
        for node in Node.objects.filter(condition, gone_at=None):
            copies = (node_facts(node), NodeFacts("")) if node.ambiguous else (node_facts(node),)
            found.setdefault(node.cluster_id, {})[node.name] = copies
        return {cluster: Inventory(nodes) for cluster, nodes in found.items()}

    def registration(self, check: Check) -> Registration | None:
        """The registration's facts; None where the check has none (any more)."""
        if not check.registered or check.gone_at is not None:
            return None
        template, is_ambiguous = self.templates.get((check.cluster_id, check.template_name), (None, False))
        return replace(
            _registration_of(check.body, check.cluster_id),
            template=template,
            namespace_labels=self.labels.get((check.cluster_id, check.namespace)),
            ambiguous=check.ambiguous or is_ambiguous,
        )

    def arguments(self, check: Check, *, unbroken: bool = False) -> dict[str, Any]:
        """What `evaluate` and `steps` take, without the clock."""
        reg = self.registration(check)
        run, result = self.runs.get(check.run_id or 0), self.results.get(check.result_id or 0)
        if check.newest_unknown:
            run = result = None
        return {
            "registration": reg,
            "run": run,
            "result": result,
            "inventory": self.inventory.get(check.cluster_id, Inventory()),
            "source": source_facts(check.cluster, unbroken=unbroken),
        }

    def history(self, check: Check) -> tuple[Sealed, ...]:
        """The sealed pair that decides `lastVerdict`."""
        result = self.results.get(check.last_result_id or 0)
        return (Sealed(self.runs.get(check.last_run_id or 0), result),) if result else ()

    def verdict(self, check: Check, now: datetime) -> Verdict:
        """The verdict of one of the checks at the reader's clock (or at its dump's time of capture)."""
        return evaluate(**self.arguments(check), now=as_of(check.cluster, now), history=self.history(check))


def verdicts(checks: Sequence[Check], now: datetime) -> dict[int, Verdict]:
    """The verdict of each check by primary key. The rows must have `cluster` loaded (select_related)."""
    assembly = Assembly(checks)
    return {check.pk: assembly.verdict(check, now) for check in checks}
