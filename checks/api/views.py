"""The addresses of the API, one class each."""

from typing import Any

from django.urls import reverse
from drf_spectacular.utils import extend_schema_view

from ..queries import check as check_queries
from ..queries import checks as checks_queries
from ..queries import fleet as fleet_queries
from ..queries import panels
from ..queries import registrations as registration_queries
from ..queries import runs as runs_queries
from ..queries.metadata import metadata, of_result
from ..queries.sources import Sources
from ..scope import Scope
from ..wire import Form
from . import answers, forms
from . import parameters as p
from .openapi import operation
from .view import PortalView


def _filter(asked: dict[str, Any]) -> checks_queries.Filter:
    return checks_queries.Filter(
        state=asked.get("state", ""),
        cluster=asked["cluster"],
        workspace=asked["workspace"],
        type=asked["type"],
        text=asked["q"],
    )


@extend_schema_view(get=operation("fleet", "The fleet: nodes, GPUs, signals, queues.", forms.FleetAnswer))
class FleetView(PortalView):
    keeps = shows_fleet = True

    def answer(self, scope: Scope, sources: Sources, asked: dict[str, Any], **place: str) -> Form:
        found = fleet_queries.fleet(scope, sources)
        return forms.FleetAnswer(
            **answers.frame(scope, sources, is_empty=found is None or not found.nodes), fleet=answers.fleet(found)
        )


_NARROWS = (p.CLUSTER, p.WORKSPACE, p.TYPE, p.TEXT)


@extend_schema_view(get=operation("summary", "Checks counted by state.", forms.SummaryAnswer, _NARROWS))
class SummaryView(PortalView):
    keeps = True
    parameters = _NARROWS

    def answer(self, scope: Scope, sources: Sources, asked: dict[str, Any], **place: str) -> Form:
        found = checks_queries.checks(scope, sources, _filter(asked), limit=1)
        return forms.SummaryAnswer(
            **answers.frame(scope, sources, is_empty=not found.total),
            total=found.total,
            counts=answers.counts(found.counts),
            worst=found.rows[0].state if found.rows else None,
        )


_LISTS = (p.STATE, *_NARROWS, p.SORT, p.LIMIT, p.CURSOR)


@extend_schema_view(get=operation("checks", "Checks, one page at a time.", forms.ChecksAnswer, _LISTS))
class ChecksView(PortalView):
    keeps = True
    parameters = _LISTS

    def answer(self, scope: Scope, sources: Sources, asked: dict[str, Any], **place: str) -> Form:
        found = checks_queries.checks(
            scope, sources, _filter(asked), sort=asked["sort"], after=asked["cursor"], limit=asked["limit"]
        )
        results = metadata(found.rows)
        return forms.ChecksAnswer(
            **answers.frame(scope, sources, is_empty=not found.total),
            items=[answers.check(row, results.get(row.check.pk)) for row in found.rows],
            counts=answers.counts(found.counts),
            total=found.total,
            next_cursor=found.next_cursor or None,
        )


@extend_schema_view(get=operation("check", "One check with its proof.", forms.CheckAnswer))
class CheckView(PortalView):
    def answer(self, scope: Scope, sources: Sources, asked: dict[str, Any], **place: str) -> Form | None:
        found = check_queries.check(scope, sources, **place)
        if found is None:
            return None
        check = answers.check_detail(found, of_result(found.result_pk))
        return forms.CheckAnswer(**answers.frame(scope, sources, is_empty=False), check=check)


_PAGES = (p.LIMIT, p.CURSOR)


@extend_schema_view(get=operation("runs", "The runs of a check, newest first.", forms.RunsAnswer, _PAGES))
class RunsView(PortalView):
    parameters = _PAGES

    def answer(self, scope: Scope, sources: Sources, asked: dict[str, Any], **place: str) -> Form | None:
        check = check_queries.check(scope, sources, **place)
        if check is None:
            return None
        found = runs_queries.history(scope, check.row, after=asked["cursor"], limit=asked["limit"])
        return forms.RunsAnswer(
            **answers.frame(scope, sources, is_empty=not found.runs),
            items=[answers.told(each) for each in found.runs],
            next_cursor=found.next_cursor or None,
        )


@extend_schema_view(get=operation("run", "One run with its proof.", forms.RunAnswer))
class RunView(PortalView):
    def answer(self, scope: Scope, sources: Sources, asked: dict[str, Any], **place: str) -> Form | None:
        found = check_queries.run(scope, sources, place["uid"])
        if found is None:
            return None
        run = answers.run(found, of_result(found.detail.result_pk))
        return forms.RunAnswer(**answers.frame(scope, sources, is_empty=False), run=run)


@extend_schema_view(get=operation("evidence", "The evidence of a run, as it was last read.", forms.EvidenceAnswer))
class EvidenceView(PortalView):
    def answer(self, scope: Scope, sources: Sources, asked: dict[str, Any], **place: str) -> Form | None:
        found = check_queries.run(scope, sources, place["uid"])
        if found is None:
            return None
        items = [answers.evidence(row) for row in panels.evidence(found.detail)]
        return forms.EvidenceAnswer(**answers.frame(scope, sources, is_empty=not items), items=items)


@extend_schema_view(get=operation("evidence_piece", "One piece of evidence.", forms.EvidencePieceAnswer))
class EvidencePieceView(PortalView):
    def answer(self, scope: Scope, sources: Sources, asked: dict[str, Any], **place: str) -> Form | None:
        found = check_queries.run(scope, sources, place["uid"])
        rows = panels.evidence(found.detail) if found else []
        row = next((row for row in rows if row.name == place["name"]), None)
        if row is None or not row.uri:
            return None
        content = reverse("checks:evidence-content", kwargs=place)
        item = answers.evidence(row)
        return forms.EvidencePieceAnswer(**answers.frame(scope, sources, is_empty=False), item=item, content=content)


_REVIEWS = (p.REVIEW, p.CLUSTER, p.LIMIT, p.CURSOR)


@extend_schema_view(
    get=operation("registrations", "Registrations, for those who review them.", forms.RegistrationsAnswer, _REVIEWS)
)
class RegistrationsView(PortalView):
    parameters = _REVIEWS

    def admits(self, scope: Scope) -> bool:
        return scope.reviews

    def answer(self, scope: Scope, sources: Sources, asked: dict[str, Any], **place: str) -> Form:
        found = registration_queries.page(
            scope, review=asked["review"], cluster=asked["cluster"], after=asked["cursor"], limit=asked["limit"]
        )
        return forms.RegistrationsAnswer(
            **answers.frame(scope, sources, is_empty=not found.rows),
            items=answers.registrations(found.rows),
            next_cursor=found.next_cursor or None,
        )
