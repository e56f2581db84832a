"""Row 11 of the verdict table: is the result of this check, this run, these targets and this place?

An envelope names what it proves; each name is compared with the object it should come from, UID by UID.
"""

from collections.abc import Iterable, Iterator

from .contract.envelope import Envelope
from .contract.kinds import SYSTEM_NAMESPACE, WORKSPACE_LABEL, CheckSpec, ParameterValue
from .contract.reasons import Reason, State
from .facts import Registration, Result, Run
from .rules import Case, Finding

_OF_THE_CHECK = ("check type", "check name", "check UID", "registration digest", "number of targets")
_OF_THE_PLACE = ("cluster", "cluster than it was read from", "namespace", "namespace of the result", "workspace")
_OF_THE_RUN = (
    *("run UID", "run id", "attempt", "trigger", "requester"),
    *("check name of the run", "check UID of the run", "registration digest of the run"),
)


def identity_agrees(case: Case) -> Finding | None:
    """The first disagreement between the envelope and the objects around it."""
    reg, result = case.registration, case.result
    assert reg is not None and result is not None and result.envelope is not None
    for why in _disagreements(case, reg, result, result.envelope):
        return Finding(State.UNKNOWN, Reason.IDENTITY_MISMATCH, why)
    return None


def _disagreements(case: Case, reg: Registration, result: Result, envelope: Envelope) -> Iterator[str]:
    run, spec = case.run, reg.spec
    assert spec is not None
    if result.conflict:
        yield "Another result for the same run and attempt has other bytes"
    check, scope, workspace = envelope.check, envelope.scope, _workspace(reg)
    yield from _compared(
        _OF_THE_CHECK,
        (check.type, check.name, check.uid, check.spec_digest, envelope.targets.requested.count),
        (spec.type, reg.name, reg.uid, reg.digest, spec.targets.count),
    )
    yield from _compared(
        _OF_THE_PLACE,
        (scope.cluster, scope.cluster, scope.namespace, result.namespace, scope.workspace),
        (reg.cluster, case.source.cluster, reg.namespace, reg.namespace, workspace),
    )
    bound = "bootID" in spec.targets.bind_to
    for target in envelope.targets.observed:
        if not target.uid or (bound and not target.boot_id):
            yield f"The identity of node {target.name} was not observed"
    if run is not None:
        assert run.spec is not None
        yield from _run_disagreements(run, result, envelope)
        yield from _parameter_disagreements(reg, spec, run.spec.parameters)
    elif spec.launch.template is not None:
        yield "The run it names is not there"


def _workspace(reg: Registration) -> str | None:
    """The workspace that a namespace is, by its label; none for the namespace that stands for the whole cluster."""
    if reg.namespace_labels is None:
        return "a namespace that was not read"
    label = reg.namespace_labels.get(WORKSPACE_LABEL)
    return label or (None if reg.namespace == SYSTEM_NAMESPACE else "a namespace that is no workspace")


def _run_disagreements(run: Run, result: Result, envelope: Envelope) -> Iterator[str]:
    spec, status = run.spec, run.status
    assert spec is not None and status is not None
    said, check, of = envelope.run, envelope.check, spec.check_ref
    yield from _compared(
        _OF_THE_RUN,
        (said.uid, said.id, said.attempt, said.trigger, said.requested_by, check.name, check.uid, check.spec_digest),
        (run.uid, spec.run_id, spec.attempt, spec.trigger, spec.requested_by, of.name, of.uid, of.spec_digest),
    )
    reference = status.result_ref
    if reference is None or (reference.name, reference.uid) != (result.name, result.uid):
        yield "The run's resultRef does not point at this result"
    if status.identities != envelope.identities or len(status.targets or ()) != len(envelope.targets.observed):
        yield "Its targets are not those that the run's status lists"


def _parameter_disagreements(reg: Registration, spec: CheckSpec, given: dict[str, ParameterValue]) -> Iterator[str]:
    """A run may fill in what the registration leaves open, never change what was approved."""
    fixed = spec.launch.template.parameters if spec.launch.template else {}
    for name, value in given.items():
        if name in fixed and (fixed[name], type(fixed[name])) != (value, type(value)):
            yield f"The run was started with another {name} than the registration fixes"
    if reg.template is not None and reg.template.spec is not None:
        yield from (
            f"The run was started with what the template refuses: {why}"
            for why in reg.template.spec.parameter_faults(given)
        )


def _compared(names: tuple[str, ...], said: tuple[object, ...], real: tuple[object, ...]) -> Iterable[str]:
    if said == real:
        return ()
    pairs = zip(names, said, real, strict=True)
    return [f"It is of another {what}: {_word(a)} instead of {_word(b)}" for what, a, b in pairs if a != b]


def _word(value: object) -> str:
    return str("none" if value is None else value)[:100]
