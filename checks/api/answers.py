"""From what queries give to the JSON of an answer. No query and no rule here: one value in, one form out."""

from collections.abc import Iterable
from typing import Any

from .. import wire
from ..contract.clock import format_time
from ..contract.reasons import State
from ..models import Check, Review
from ..queries import fleet as fleet_queries
from ..queries import panels
from ..queries.check import Detail, RunDetail
from ..queries.checks import Row
from ..queries.metadata import Metadata
from ..queries.runs import Told
from ..queries.sources import Sources
from ..scope import Scope
from . import forms


def frame(scope: Scope, sources: Sources, *, is_empty: bool) -> dict[str, Any]:
    """What every scoped answer carries."""
    return {
        "scope": forms.Scope(
            viewer=scope.viewer.username,
            clusters=sorted(scope.clusters),
            namespaces=[forms.Place(cluster=c, namespace=n) for c, n in sorted(scope.namespaces)],
            fleet=sorted(scope.fleet),
            reviews=scope.reviews,
            problem=scope.problem,
        ),
        "data_state": data_state(scope, sources, is_empty=is_empty),
        "sources": [
            forms.Source(
                cluster=source.name,
                available=source.is_available,
                as_of=format_time(source.as_of),
                seen_at=wire.time(source.seen_at),
                dump=source.is_dump,
                problem=source.problem,
                publisher_guard=source.guard_in_force,
            )
            for source in sources
        ],
        "generated_at": format_time(sources.now),
    }


def data_state(scope: Scope, sources: Sources, *, is_empty: bool) -> str:
    """Whether the answer can be relied on; never the state of a check."""
    broken = len(sources.broken)
    if broken and broken == len(sources):
        return "unavailable"
    if broken or scope.problem:
        return "partial"
    return "no_data" if is_empty else "ready"


def fleet(found: fleet_queries.Fleet | None) -> forms.Fleet | None:
    """The fleet, or null."""
    if found is None:
        return None
    pools = [pool for site in found.sites for pool in site.pools]
    return forms.Fleet(
        nodes_ready=_amount(found.ready),
        gpus_free=_amount(found.free),
        gpus_used=found.used,
        signals=forms.Signals(
            observed_ok=found.signals["ok"], fault=found.signals["fault"], unknown=found.signals["unknown"]
        ),
        waiting=found.waiting,
        waiting_since=wire.time(found.waiting_since),
        pools=[_pool(pool) for pool in pools],
        pools_left_out=found.pools_left_out,
        queues=[
            forms.Queue(
                cluster=queue.cluster,
                name=queue.name,
                cohort=queue.cohort,
                gpus_used=queue.used,
                gpus_nominal=queue.nominal,
                pending=queue.pending,
            )
            for queue in found.queues
        ],
        queues_left_out=found.queues_left_out,
        unreadable=[forms.Unreadable(cluster=f.cluster, kind=f.kind, problem=f.problem) for f in found.faulty],
    )


def _amount(found: fleet_queries.Amount) -> forms.Amount:
    return forms.Amount(value=found.value, total=found.total, unknown=found.unknown)


def _pool(pool: fleet_queries.Pool) -> forms.Pool:
    return forms.Pool(
        cluster=pool.cluster,
        site=pool.site,
        name=pool.name,
        nodes=pool.total,
        fault=pool.counts[fleet_queries.FAULT],
        not_ready=pool.counts[fleet_queries.NOT_READY],
        unknown=pool.counts[fleet_queries.UNKNOWN],
        observed_ok=pool.counts[fleet_queries.OK],
    )


def counts(found: dict[State, int]) -> forms.Counts:
    """Checks by state."""
    return forms.Counts(**{state.value.lower(): found.get(state, 0) for state in State})


def check(row: Row, result: Metadata | None) -> forms.Check:
    """One row of the list."""
    return forms.Check(**_check(row, result))


def _named(check: Check) -> dict[str, Any]:
    return {
        "cluster": check.cluster_id,
        "namespace": check.namespace,
        "name": check.name,
        "workspace": check.workspace,
        "title": check.title or check.name,
        "type": check.type,
        "owner": check.owner,
    }


def _check(row: Row, result: Metadata | None) -> dict[str, Any]:
    return _named(row.check) | {
        "registered": row.check.registered and row.check.gone_at is None,
        "state": row.state,
        "reason": row.reason,
        "message": row.message,
        "as_of": format_time(row.as_of),
        "since": wire.time(row.since),
        "last_verdict": wire.last_verdict(row.last),
        "result": _result(result),
    }


def _result(found: Metadata | None) -> forms.ResultMetadata | None:
    if found is None:
        return None
    return forms.ResultMetadata(
        name=found.name,
        uid=found.uid,
        schema_=found.schema,
        digest=found.digest,
        publisher=found.publisher,
        attempt=found.attempt,
        run_uid=found.run_uid,
        created_at=wire.time(found.created_at),
    )


def check_detail(detail: Detail, result: Metadata | None) -> forms.CheckDetail:
    """One check in full."""
    row, reg = detail.check, detail.registration
    spec = reg.spec if reg else None
    return forms.CheckDetail(
        **_check(detail.row, result),
        **_proven(detail),
        review=Review(row.review),
        spec_digest=reg.digest if reg else "",
        approved_digest=(reg.approved or "") if reg else "",
        runbook_url=spec.runbook_url if spec else None,
        next_run_at=wire.time(row.next_run_at),
    )


def _proven(detail: Detail) -> dict[str, Any]:
    envelope = detail.result.envelope if detail.result else None
    details = envelope.details if envelope and detail.row.reason != "unsupported_schema" else None
    seen, left = panels.targets(detail), panels.cleanup(detail)
    return {
        "proof": wire.proof(detail.clauses),
        "fresh_until": wire.time(detail.fresh_until),
        "phase": detail.run.phase if detail.run else "",
        "requested": seen.requested,
        "targets": [_target(target) for target in seen.rows],
        "cleanup": forms.Cleanup(
            stated=left.said,
            observed=left.seen,
            objects=[
                forms.Object(kind=o.kind, namespace=o.namespace, name=o.name, uid=o.uid, remains=o.remains)
                for o in left.objects
            ],
        ),
        "lifecycle": [
            forms.Moment(step=m.name, at=wire.time(m.at), seconds=m.took.total_seconds() if m.took else None)
            for m in panels.lifecycle(detail).moments
        ],
        "problems": [str(problem) for problem in (detail.result.problems if detail.result else ())],
        "details": forms.Details(schema_=details.schema_, data=details.data) if details else None,
    }


def _target(target: panels.TargetRow) -> forms.Target:
    return forms.Target(
        name=target.name,
        rank=target.rank,
        uid=target.uid,
        pod_uid=target.pod_uid,
        outcome=target.outcome,
        changed=str(target.now.reason) if target.now else "",
    )


def run(found: RunDetail, result: Metadata | None) -> forms.Run:
    """One run in full."""
    detail, row = found.detail, found.detail.row
    return forms.Run(
        **_proven(detail),
        cluster=row.check.cluster_id,
        namespace=row.check.namespace,
        name=row.check.name,
        uid=found.uid,
        run_id=found.run_id,
        attempt=found.attempt,
        newest=found.is_newest,
        state=row.state,
        reason=row.reason,
        message=row.message,
        as_of=format_time(row.as_of),
        said=wire.last_verdict(found.said),
        result=_result(result),
    )


def told(found: Told) -> forms.Told:
    """One run of a history."""
    return forms.Told(
        uid=found.uid,
        run_id=found.run_id,
        attempt=found.attempt,
        state=found.state,
        reason=found.reason,
        message=found.sentence,
        at=wire.time(found.at),
    )


def evidence(row: panels.EvidenceRow) -> forms.Evidence:
    """One piece of evidence."""
    return forms.Evidence(
        name=row.name,
        state=row.state,
        required=row.is_required,
        uri=row.uri,
        sha256=row.sha256,
        size_bytes=row.size_bytes,
        media_type=row.media_type,
        captured_at=wire.time(row.captured_at),
        verified_at=wire.time(row.read.at) if row.read else None,
        reader=row.read.reader if row.read else "",
        problem=row.read.why if row.read else "",
    )


def registrations(rows: Iterable[Check]) -> list[forms.Registration]:
    """Registrations as reviewers see them."""
    return [
        forms.Registration(
            **_named(row),
            review=Review(row.review),
            spec_digest=row.digest,
            approved_digest=row.approved_digest,
            template=row.template_name,
            created_at=wire.time(row.created_at),
        )
        for row in rows
    ]
