"""Rules of registrations and templates: each gives what breaks it, None where there is nothing to look at. Pure."""

from collections.abc import Callable, Iterable, Iterator

from ...contract.document import text_problems
from ...contract.kinds import CHECK, TEMPLATE, CheckSpec, TemplateSpec
from ...contract.parsing import parse
from ...contract.pods import template_faults
from ...contract.problem import Problem
from ...objects import section, spec_digest, text
from ..validating import Named, problems_of
from .subject import Look, Subject

ACCOUNT = "tau-validation-controller"
OWN_EVIDENCE = ("manifest", "logs", "placement", "image-receipt", "cleanup")
# How the faults of pods begin that a rule of their own says; any other one is said with the fields.
CONTAINER = ("a job with at least one container", "no ephemeral")
IMAGE, TOKEN, EXCEPTION = ("an image by digest",), ("automountServiceAccountToken",), ("an entry",)
PROBE, SUPPORT = ("probes and lifecycle hooks",), ("support objects", "a support")
LONGEST_NAME = 22  # a run is called <check>-<24 characters>, and its Job's name has at most 47


def fields(subject: Subject) -> Iterator[str]:
    """Fields; what other rules say in their own words is left to them."""
    for kind, item in ((TEMPLATE, subject.template), (CHECK, subject.check)):
        if item is None:
            continue
        own = (*CONTAINER, *IMAGE, *TOKEN, *EXCEPTION, *PROBE, *SUPPORT)
        faults = {fault for fault in _pod_faults(subject) if fault.startswith(own)} if kind == TEMPLATE else set()
        for problem in problems_of(Named(kind, "", item), []):
            if problem.expected not in faults and not _is_said_elsewhere(problem):
                yield f"{kind}: {problem}"


_ELSEWHERE = ("/spec/schedule/cron", "/spec/schedule/timeZone")


def _is_said_elsewhere(problem: Problem) -> bool:
    if problem.found == "a string that looks like a credential" or "results.versions" in problem.expected:
        return True
    return problem.pointer in _ELSEWHERE and problem.found.startswith("no ")


def _pod_faults(subject: Subject) -> list[str]:
    spec = subject.template_spec
    job, support, written = section(spec, "job"), spec.get("support", []), spec.get("exceptions", [])
    if not job or not isinstance(support, list) or not isinstance(written, list):
        return []
    exceptions = {(text(item, "rule"), text(item, "value")) for item in written}
    return template_faults(job, [item for item in support if isinstance(item, dict)], exceptions)


def of_pods(beginnings: tuple[str, ...]) -> Look:
    def look(subject: Subject) -> list[str] | None:
        if subject.template is None:
            return None
        return [fault for fault in _pod_faults(subject) if fault.startswith(beginnings)]

    return look


def of_check(look: Callable[[CheckSpec, Subject], Iterable[str]]) -> Look:
    def found(subject: Subject) -> Iterable[str] | None:
        spec = subject.check_spec
        return None if spec is None else look(spec, subject)

    return found


def name(subject: Subject) -> list[str] | None:
    if subject.check is None:
        return None
    name = text(section(subject.check, "metadata"), "name")
    return [f"{name} has {len(name)} characters"] if len(name) > LONGEST_NAME else []


def own_version(subject: Subject) -> list[str] | None:
    if subject.check is None:
        return None
    problems = problems_of(Named(CHECK, "", subject.check), [])
    return [f"{problem.expected}" for problem in problems if "results.versions" in problem.expected]


def schedule(subject: Subject) -> list[str] | None:
    if subject.check is None or not section(section(subject.check, "spec"), "schedule"):
        return None
    problems = problems_of(Named(CHECK, "", subject.check), [])
    return [str(each) for each in problems if each.pointer in _ELSEWHERE and each.found.startswith("no ")]


def publisher(spec: CheckSpec, _: Subject) -> Iterator[str]:
    account = spec.results.publisher.service_account
    if spec.launch.template is not None and account != ACCOUNT:
        yield f"a check that is launched from a template is published by {ACCOUNT}, not by {account}"
    if spec.launch.controller is not None and account == ACCOUNT:
        yield f"{ACCOUNT} publishes what it launched itself; name the account of {spec.launch.controller.name}"


def _compared(subject: Subject) -> tuple[CheckSpec, TemplateSpec | None] | None:
    """Both, where the registration is launched from the template that was given."""
    spec = subject.check_spec
    launch = spec.launch.template if spec else None
    if spec is None or launch is None or subject.template is None:
        return None
    return spec, parse(TemplateSpec, subject.template_spec).value


def pinned(subject: Subject) -> list[str] | None:
    if (both := _compared(subject)) is None:
        return None
    launch, name = both[0].launch.template, text(section(subject.template, "metadata"), "name")
    assert launch is not None
    digest = spec_digest(subject.template or {})
    if launch.name != name:
        return [f"it names {launch.name}, the template given is {name}"]
    return [] if launch.digest == digest else [f"it pins {launch.digest}, the template has {digest}"]


def parameters(subject: Subject) -> list[str] | None:
    both = _compared(subject)
    if both is None or both[1] is None or both[0].launch.template is None:
        return None
    return both[1].parameter_faults(both[0].launch.template.parameters)


def ranks(subject: Subject) -> list[str] | None:
    both = _compared(subject)
    if both is None or both[1] is None:
        return None
    count, started = both[0].targets.count, section(both[1].job, "spec").get("completions", 1)
    reporting = both[1].reporters or started
    if reporting > started:
        return [f"it wants {reporting} reports and starts {started} pods"]
    return [] if reporting == count else [f"{reporting} pods report, {count} targets are asked for"]


def _evidence(spec: CheckSpec, subject: Subject) -> list[str] | None:
    if spec.launch.template is None:
        return []
    own = {item.name for _, report in subject.reports for item in report.evidence}
    others = [name for name in spec.results.required_evidence if name not in OWN_EVIDENCE]
    if others and not subject.said:
        return None
    return [f"{name} is required, and no report lists it" for name in others if name not in own]


def required_evidence(subject: Subject) -> list[str] | None:
    spec = subject.check_spec
    return None if spec is None else _evidence(spec, subject)


def display(spec: CheckSpec, _: Subject) -> Iterator[str]:
    shown = [
        *spec.display.summary,
        *spec.display.series,
        *([spec.display.pair_matrix] if spec.display.pair_matrix else []),
    ]
    if shown and not spec.results.details_schemas:
        yield f"display shows {shown[0].pointer}, and results.detailsSchemas is empty: no data is ever kept"


def secrets(subject: Subject) -> list[str] | None:
    specs = [item for item in (subject.check, subject.template) if item is not None]
    if not specs:
        return None
    found = [problem for item in specs for problem in text_problems(section(item, "spec"))]
    return [f"{p.pointer}: {p.found}" for p in found if "credential" in p.found]
