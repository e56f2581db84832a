"""Registrations under review, for those who review: what is asked for, what was approved, what has changed since.

Only rows that the viewer may read, and none at all for a viewer who does not review. Nothing here approves; the
commands are text.
"""

import json
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db import models
from django.db.models import QuerySet

from ..assembly import Assembly, source_facts
from ..contract.fields import Name, Shape
from ..contract.parsing import parse
from ..contract.reasons import BY_CODE, Reason, next_step
from ..facts import Inventory, Registration
from ..models import Check, Review, SpecCopy, Template
from ..objects import section, text
from ..review import commands
from ..review.difference import Line, alone, changes, compare
from ..review.rights import Right, Topic, rights_of
from ..rules import Case, Finding, is_approved
from ..scope import Scope
from . import cursor
from .scoping import InvalidArgumentError, known_clusters, visible

# What waits for a reviewer comes first.
ORDER = (Review.PENDING, Review.OUTDATED, Review.INVALID, Review.REJECTED, Review.APPROVED)
_STANDING = {
    Reason.NOT_APPROVED: Review.PENDING,
    Reason.APPROVAL_OUTDATED: Review.OUTDATED,
    Reason.TEMPLATE_CHANGED: Review.OUTDATED,
    Reason.REJECTED: Review.REJECTED,
    Reason.REGISTRATION_INVALID: Review.INVALID,
}
_NO_COPY = "The portal has never seen the version that was approved ({}), so there is nothing to compare with."
_OTHER_TEMPLATE = "The registration pins {}, which is not the template that is there now."
_GONE = "The template is gone."
_NOT_LOOKED_AT = "The controller has not looked at this version yet; until then the API server refuses an approval"


def registrations(scope: Scope) -> QuerySet[Check]:
    """Every registration that this viewer may review, with `waiting`: its place in `ORDER`."""
    rows = Check.objects.filter(registered=True, gone_at=None)
    if not scope.reviews:
        return rows.none()
    whens = [models.When(review=review, then=place) for place, review in enumerate(ORDER)]
    return rows.filter(visible(scope)).annotate(
        waiting=models.Case(*whens, default=0, output_field=models.IntegerField())
    )


@dataclass(frozen=True, slots=True)
class Registrations:
    """One page of registrations, by place."""

    rows: list[Check]
    next_cursor: str


def page(scope: Scope, *, review: str = "", cluster: str = "", after: str = "", limit: int = 20) -> Registrations:
    """One page. Raises InvalidArgumentError for a cluster outside the scope or a cursor of another list."""
    if cluster and cluster not in known_clusters(scope):
        raise InvalidArgumentError("cluster: none that you may read")
    asked = {key: value for key, value in (("review", review), ("cluster", cluster)) if value}
    rows, next_cursor = cursor.page(
        registrations(scope).filter(**asked),
        ("cluster_id", "namespace", "name", "pk"),
        after=after,
        limit=limit,
        binding=cursor.bound_to(scope, "registrations", asked),
    )
    return Registrations(rows, next_cursor)


@dataclass(frozen=True, slots=True)
class Side:
    """One version of a document: its spec and digest, and what it is called."""

    words: str
    digest: str
    spec: Any


@dataclass(frozen=True, slots=True)
class Comparison:
    """A document of a registration: as approved (None where that is not known) and as it is there now.

    note: what a reviewer must know about it; "" where there is nothing. lines: both sides, or the present one alone.
    """

    title: str
    before: Side | None
    after: Side | None
    note: str
    lines: list[Line]
    changed: int


@dataclass(frozen=True, slots=True)
class AskedFor:
    """One right, and whether it came or went since the approval ("new", "gone", or "")."""

    right: Right
    since_approval: str


@dataclass(frozen=True, slots=True)
class Dossier:
    """Everything a reviewer needs for one decision.

    standing: where it stands, with `sentence` and `next_step` ("" where it is the reviewer's turn). obstacles: why an
    approval would be refused or would prove nothing; one is offered only without any. rights: by topic, in the order of
    `Topic`. launched_by: the controller that runs it instead of a template, of whose pods nothing is known here.
    """

    row: Check
    registration: Registration
    standing: Review
    sentence: str
    next_step: str
    documents: tuple[Comparison, ...]
    rights: dict[Topic, list[AskedFor]]
    launched_by: str
    template_is_gone: bool
    obstacles: tuple[str, ...]
    approve: commands.Command | None
    reject: commands.Command | None


def dossier(scope: Scope, cluster: str, namespace: str, name: str, now: datetime) -> Dossier | None:
    """The dossier of one registration; None where there is none or it may not be seen."""
    row = registrations(scope).select_related("cluster").filter(cluster=cluster, namespace=namespace, name=name).first()
    if row is None:
        return None
    reg = Assembly([row]).registration(row)
    if reg is None:
        return None
    return _Reading(row, reg, now).dossier(scope.viewer.username)


class _Reading:
    """One registration with the documents around it, read together."""

    def __init__(self, row: Check, reg: Registration, now: datetime) -> None:
        self.row, self.reg, self.now = row, reg, now
        self.item = json.loads(row.body)
        self.spec = self.item.get("spec")
        self.launch = section(section(self.spec, "launch"), "template")
        present = Template.objects.filter(cluster=row.cluster_id, name=text(self.launch, "name"), gone_at=None).first()
        self.template = Side("there now", present.digest, json.loads(present.body).get("spec")) if present else None
        self.approved = self._approved()
        self.approved_template = self._approved_template()

    def _approved(self) -> Side | None:
        if self.reg.approved is not None and self.reg.approved == self.reg.digest:
            return Side("as approved", self.reg.digest, self.spec)
        return _copy(self.reg.approved or "", "as approved")

    def _approved_template(self) -> Side | None:
        """The template that the approved spec pins."""
        pinned = text(section(section(self.approved.spec, "launch"), "template"), "digest") if self.approved else ""
        if self.template and self.template.digest == pinned:
            return Side("as approved", pinned, self.template.spec)
        return _copy(pinned, "as approved")

    def dossier(self, reviewer: str) -> Dossier:
        """Puts it together. reviewer: the viewer, as the API server names them."""
        found = self._judged(self.reg)
        standing = _STANDING[BY_CODE[found.reason]] if found else Review.APPROVED
        obstacles = self._obstacles()
        named = not parse(_Names, {"name": self.row.name, "namespace": self.row.namespace}).problems
        approves = named and not obstacles and standing is not Review.APPROVED
        rejects = named and standing is not Review.REJECTED
        place = (self.row.namespace, self.row.name)
        return Dossier(
            row=self.row,
            registration=self.reg,
            standing=standing,
            sentence=found.message if found else f"Approved by {self.reg.reviewed_by}; nothing has changed since",
            next_step=next_step(found.reason) if found and standing in (Review.INVALID, Review.REJECTED) else "",
            documents=tuple(self._documents()),
            rights=self._rights(),
            launched_by=text(section(section(self.spec, "launch"), "controller"), "name"),
            template_is_gone=bool(self.launch) and self.template is None,
            obstacles=obstacles,
            approve=commands.approve(*place, self.reg.digest, reviewer) if approves else None,
            reject=commands.reject(*place, reviewer) if rejects else None,
        )

    def _documents(self) -> list[Comparison]:
        note = "" if self.approved or not self.reg.approved else _NO_COPY.format(self.reg.approved[:71])
        here = Side("there now", self.reg.digest, self.spec)
        found = [_comparison("Registration", self.approved, here, note)]
        if name := text(self.launch, "name"):
            title = f"Template {name}"
            if self.template is None:
                found.append(_comparison(title, self.approved_template, None, _GONE))
            else:
                pinned = text(self.launch, "digest")
                other = self.template.digest != pinned
                note = _OTHER_TEMPLATE.format(pinned[:71] or "nothing") if other else ""
                found.append(_comparison(title, self.approved_template, self.template, note))
        return found

    def _rights(self) -> dict[Topic, list[AskedFor]]:
        before = rights_of(self.approved_template.spec) if self.approved_template else None
        after = rights_of(self.template.spec) if self.template else before or ()
        found: dict[Topic, list[AskedFor]] = {}
        for right in after:
            new = before is not None and right not in before
            found.setdefault(right.topic, []).append(AskedFor(right, "new" if new else ""))
        for right in before or ():
            if right not in after:
                found.setdefault(right.topic, []).append(AskedFor(right, "gone"))
        return {topic: found[topic] for topic in Topic if topic in found}

    def _obstacles(self) -> tuple[str, ...]:
        """Why approving what is there now would be refused, or would prove nothing."""
        found = self._judged(replace(self.reg, approved=self.reg.digest, rejected=None, reviewed_by="-"))
        sentences = [found.message] if found else []
        status, generation = section(self.item, "status"), section(self.item, "metadata").get("generation")
        if text(status, "specDigest") != self.reg.digest or status.get("observedGeneration") != generation:
            sentences.append(_NOT_LOOKED_AT)
        return tuple(sentences)

    def _judged(self, reg: Registration) -> Finding | None:
        return is_approved(Case(reg, None, None, Inventory(), source_facts(self.row.cluster), self.now))


class _Names(Shape):
    name: Name
    namespace: Name


def _comparison(title: str, before: Side | None, after: Side | None, note: str) -> Comparison:
    if before is not None and after is not None:
        lines = compare(before.spec, after.spec)
        return Comparison(title, before, after, note, lines, changes(lines))
    only = before or after
    return Comparison(title, before, after, note, alone(only.spec) if only else [], 0)


def _copy(digest: str, words: str) -> Side | None:
    kept = SpecCopy.objects.filter(digest=digest).first() if digest else None
    return Side(words, digest, json.loads(kept.body).get("spec")) if kept else None
