"""Small facts beside a verdict: labelled values, tabs with counts, and where each clause's object can be looked at."""

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse

from .. import vocabulary
from ..contract.kinds import PLURALS
from ..proof import Clause
from ..queries.check import Detail, RunDetail
from ..templatetags.portal import check_url, run_url


@dataclass(frozen=True, slots=True)
class Fact:
    """One labelled value. kind: how it is drawn ("", "mono", "link", "instant", "run"). more: text behind it."""

    label: str
    value: str | datetime
    kind: str = ""
    more: str = ""


@dataclass(frozen=True, slots=True)
class Tab:
    """One panel's tab. count: how many things are in it, None where that says nothing."""

    name: str
    label: str
    url: str
    count: int | None


@dataclass(frozen=True, slots=True)
class LinkedClause:
    """A clause of the proof with the address where its object can be looked at, "" where there is none."""

    clause: Clause
    link: str
    decides: bool

    @property
    def kind(self) -> str:
        return self.clause.source.partition(" ")[0] if self.is_named else self.clause.source

    @property
    def name(self) -> str:
        return self.clause.source.partition(" ")[2] if self.is_named else ""

    @property
    def is_named(self) -> bool:
        return not self.clause.source.startswith("no ")


def tabs(detail: Detail, names: list[str], address: Callable[[str], str]) -> list[Tab]:
    """One tab per panel."""
    envelope = detail.result.envelope if detail.result else None
    counts = {
        "targets": len(envelope.targets.observed) if envelope else None,
        "evidence": len(envelope.evidence) if envelope else None,
    }
    return [Tab(name, name.capitalize(), address(name), counts.get(name)) for name in names]


# Which panel shows the object that a clause was read from.
_PANEL = {
    "sealed": "raw",
    "supported": "raw",
    "clock": "lifecycle",
    "identity": "raw",
    "stated": "raw",
    "machines": "targets",
    "fresh": "lifecycle",
    "cleanup": "cleanup",
    "targets": "targets",
    "evidence": "evidence",
    "outcome": "details",
    "kept": "raw",
}


def linked(detail: Detail, address: Callable[[str], str]) -> list[LinkedClause]:
    """The clauses in their order, each with its link. address: of a panel on the page that they stand on."""
    return [LinkedClause(each, _link(detail, each, address), each == detail.fault) for each in detail.clauses]


def _link(detail: Detail, clause: Clause, address: Callable[[str], str]) -> str:
    if clause.key in ("source", "publisher"):
        return reverse("checks:fleet") + "#sources"
    if clause.source.startswith("no "):
        return ""
    if clause.key in ("registered", "approved"):
        return check_url(detail.check) + "#registration"
    if clause.key == "run":
        return run_url(detail.run.uid) if detail.run and detail.run.uid else ""
    return address(_PANEL[clause.key]) + "#panels" if clause.key in _PANEL else ""


_CLUSTER_WIDE = {"Node": "node", "ValidatingAdmissionPolicy": "validatingadmissionpolicy"}


def command(detail: Detail, clause: Clause) -> str:
    """The kubectl command that shows a clause's object; "" where there is no single one."""
    kind, _, name = clause.source.partition(" ")
    if kind in PLURALS and name:
        return f"kubectl -n {shlex.quote(detail.check.namespace)} get {PLURALS[kind]} {shlex.quote(name)} -o yaml"
    if kind in _CLUSTER_WIDE and name and "," not in name:
        return f"kubectl get {_CLUSTER_WIDE[kind]} {shlex.quote(name)} -o yaml"
    return ""


def of_registration(detail: Detail) -> list[Fact]:
    """What was registered, who approved it, and when it runs next."""
    reg, run, check = detail.registration, detail.run, detail.check
    found = [Fact("Cluster", check.cluster_id), Fact("Workspace", check.namespace)]
    if run and run.uid:
        words = f"{run.spec.run_id}, attempt {run.spec.attempt}" if run.spec else run.name
        found.append(Fact("Newest run", run.uid, "run", words))
    if reg is None:
        return [*found, Fact("Registration", "there is none")]
    if reg.spec is None:
        why = f"it does not keep the contract: {reg.problems[0]}" if reg.problems else "it cannot be read"
        return [*found, Fact("Registration", why)]
    spec = reg.spec
    template, controller = spec.launch.template, spec.launch.controller
    if template:
        found += [Fact("Template", template.name, "mono"), Fact("Queue", template.queue or "none named", "mono")]
    if controller:
        found.append(Fact("Controller", controller.name, "mono"))
    found += [
        Fact("Version", spec.version, "mono"),
        Fact("Publisher", spec.results.publisher.username, "mono"),
        Fact("Reviewed by", reg.reviewed_by or "nobody yet"),
        Fact("Owner", spec.owner or "not named"),
    ]
    if spec.runbook_url:
        found.append(Fact("Runbook", spec.runbook_url, "link"))
    if spec.suspend:
        found.append(Fact("Schedule", "suspended"))
    elif spec.schedule:
        found.append(Fact("Schedule", f"{spec.schedule.cron} {spec.schedule.time_zone}", "mono"))
    if check.next_run_at and not spec.suspend:
        late = check.next_run_at < detail.row.as_of
        words = "overdue" if late else vocabulary.ago(check.next_run_at, detail.row.as_of)
        found.append(Fact("Next run", check.next_run_at, "instant", words))
    return found


def of_run(found: RunDetail) -> list[Fact]:
    """Which run it was, and who asked for it."""
    run, envelope = found.detail.run, found.detail.result.envelope if found.detail.result else None
    facts = [Fact("Run", found.run_id or "not named", "mono"), Fact("UID", found.uid, "mono")]
    if found.attempt:
        facts.append(Fact("Attempt", str(found.attempt)))
    spec = run.spec if run else None
    said = envelope.run if envelope else None
    if spec or said:
        facts.append(Fact("Trigger", spec.trigger if spec else said.trigger if said else ""))
        facts.append(Fact("Asked for by", spec.requested_by if spec else said.requested_by if said else "", "mono"))
    if run and run.status and run.status.job:
        facts.append(Fact("Job", run.status.job.name, "mono"))
    if run and run.status and run.status.workload:
        facts.append(Fact("Workload", run.status.workload.name, "mono"))
    if run and run.status and run.status.message:
        facts.append(Fact("Message", run.status.message))
    if run is None:
        facts.append(Fact("Object", "no TauValidationRun; its own controller published the result"))
    if run and run.gone:
        facts.append(Fact("Object", "deleted from the cluster since"))
    return facts
