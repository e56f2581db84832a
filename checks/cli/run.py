"""`tau-check run`, `watch` and `cancel`: a run is asked for, followed, and ended early."""

import re
import secrets
import time
from pathlib import Path
from typing import Any

import click

from ..cluster.errors import Conflict, Forbidden, NotFound, Refusal
from ..contract.kinds import (
    ACTIVE_PHASES,
    API_VERSION,
    APPROVED,
    CANCEL,
    CHECK,
    REJECTED,
    RUN,
    TEMPLATE,
    ParameterValue,
    TemplateSpec,
)
from ..contract.parsing import parse
from ..objects import run_from, section, spec_digest, text
from ..selection import run_order
from .connecting import Caller, cluster_options
from .evidence_options import evidence_from, evidence_options
from .following import NOT_PROVEN, conclude, follow
from .terminal import complain, print_document, printable

Object = dict[str, Any]
READY_SECONDS = 20.0  # the controller looks at an approval within seconds
_OUTPUT = click.option(
    "-o", "--output", type=click.Choice(["table", "json", "yaml", "name"]), default="table", show_default=True
)
_KNOWN_AS = click.option("--known-as", default="", metavar="NAME", help="Name of the cluster in its results.")


class Duration(click.ParamType[float]):
    """A length of time: 90s, 10m, 1h30m."""

    name = "TIME"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Seconds."""
        if isinstance(value, float):
            return value
        found = re.fullmatch(r"(?:(\d{1,4})h)?(?:(\d{1,5})m)?(?:(\d{1,6})s?)?", value)
        if not found or not any(found.groups()):
            self.fail(f"{value!r} is no length of time, such as 90s, 10m or 1h30m", param, ctx)
        hours, minutes, seconds = (int(each or 0) for each in found.groups())
        return float(hours * 3600 + minutes * 60 + seconds)


_TIMEOUT = click.option(
    "--timeout", type=Duration(), metavar="TIME", help="Stop waiting after 90s, 10m, 1h30m; the run goes on."
)


@click.command(short_help="Run a check now.")
@click.argument("name")
@click.option("-p", "--parameter", "given", multiple=True, metavar="KEY=VALUE", help="May be repeated.")
@click.option("--wait", is_flag=True, help="Follow it to its end and print the verdict.")
@_TIMEOUT
@_KNOWN_AS
@_OUTPUT
@evidence_options
@cluster_options
def run(
    name: str,
    given: tuple[str, ...],
    wait: bool,
    timeout: float | None,
    known_as: str,
    output: str,
    evidence: Path | None,
    stores: tuple[str, ...],
    caller: Caller,
) -> int:
    """Asks for a run of a check, under your own name; you must be allowed to create Jobs in its namespace.

    Parameters are those that the template has and the registration leaves open. With --wait the phases are shown as
    they come, and the command ends with the verdict of the check; interrupting it leaves the run going.

    Exit codes: 0 the run was asked for, or with --wait: fresh Passed, 1 Failed, 2 not proven, not ready to run, or not
    ended in time, 64 wrong usage, 65 there is no such check, 69 the cluster is out of reach, 77 you may not, 130
    interrupted.

    \b
    Examples:
      tau-check run ib-pair --namespace team-vision --wait --store volume=file:///mnt/artifacts
      tau-check run ib-pair -n team-vision -p linkLayer=any -p sizeMiB=64 --wait --timeout 10m
      tau-check run ib-pair -n team-vision -o name
    """
    if timeout is not None and not wait:
        raise click.UsageError("--timeout goes with --wait")
    read_from = evidence_from(evidence, stores)
    check = _ready(caller, name)
    if check is None:
        return NOT_PROVEN
    parameters = _parameters(caller, check, given)
    made = caller.api.create(caller.path(RUN), _run_of(caller, check, parameters))
    own = made["metadata"]["name"]
    if wait:
        if output != "name":
            click.echo(f"Run {printable(own)} in {caller.namespace}, asked for by {printable(caller.name)}", err=True)
        return follow(caller, made, read_from, known_as, timeout, output)
    _say(made, output, f"Asked for the run {own} in {caller.namespace}.", caller.command("watch", own))
    return 0


def _ready(caller: Caller, name: str) -> Object | None:
    """The registration once runs of it can start; None where they cannot, which was said. Raises ClusterError.

    An approval that the controller has not looked at yet is waited for.
    """
    deadline = time.monotonic() + READY_SECONDS
    while True:
        check = caller.get(CHECK, name)
        why, hope = _not_ready(check)
        if not why:
            return check
        if not hope or time.monotonic() > deadline:
            break
        time.sleep(0.5)
    complain(f"no run was asked for: {name} is not ready: {why}")
    if section(section(check, "spec"), "launch").get("template") and APPROVED not in _marks(check):
        digest = spec_digest(check)
        click.echo(
            f"Next, a platform admin: {printable(caller.command('approve', name, '--digest', digest))}", err=True
        )
    return None


def _marks(check: Object) -> Object:
    return section(section(check, "metadata"), "annotations")


def _not_ready(check: Object) -> tuple[str, bool]:
    """Why no run can start, "" where one can; and whether that may change by itself within seconds."""
    if own := section(section(section(check, "spec"), "launch"), "controller"):
        return f"its runs are started by its own controller, {text(own, 'name')}", False
    metadata, status = section(check, "metadata"), section(check, "status")
    if status.get("observedGeneration") != metadata.get("generation"):
        return "the controller has not looked at it yet; is it running?", True
    found = [each for each in status.get("conditions") or () if isinstance(each, dict) and each.get("type") == "Ready"]
    if found and found[0].get("status") == "True":
        return "", False
    why = text(found[0], "message") or text(found[0], "reason") if found else "the controller has not said so"
    marks = _marks(check)
    return why, marks.get(APPROVED) == spec_digest(check) and REJECTED not in marks


def _parameters(caller: Caller, check: Object, given: tuple[str, ...]) -> dict[str, ParameterValue]:
    """Values in the types of the template. Raises a usage error that names everything that is wrong."""
    pairs: dict[str, str] = {}
    for each in given:
        key, equals, value = each.partition("=")
        if not equals or not key or key in pairs:
            raise click.UsageError(f"--parameter: KEY=VALUE, each key once; {printable(each)!r} is not that")
        pairs[key] = value
    if not pairs:
        return {}
    pinned = section(section(section(check, "spec"), "launch"), "template")
    try:
        item = caller.api.get(caller.path(TEMPLATE, text(pinned, "name"), ""))
    except Forbidden:
        item = None
    spec = parse(TemplateSpec, item.get("spec"), "/spec").value if item else None
    if spec is None:  # not ours to read; the controller judges
        return {key: _guessed(value) for key, value in pairs.items()}
    types = {parameter.name: parameter.type for parameter in spec.parameters}
    values = {key: _typed(value, types.get(key, "string")) for key, value in pairs.items()}
    faults = spec.parameter_faults(values)
    for key, fixed in section(pinned, "parameters").items():
        if key in values and (values[key], type(values[key])) != (fixed, type(fixed)):
            faults.append(f"parameter {key} is fixed by the registration to {fixed}")
    if faults:
        raise click.UsageError("--parameter: " + "; ".join(map(printable, faults)))
    return values


def _typed(value: str, kind: str) -> ParameterValue:
    """The text as a value of a type; the text itself where it is none, which is found to be wrong then."""
    if kind == "integer" and re.fullmatch(r"-?\d{1,18}", value):
        return int(value)
    if kind == "boolean" and value in ("true", "false"):
        return value == "true"
    return value


def _guessed(value: str) -> ParameterValue:
    return _typed(value, "boolean" if value in ("true", "false") else "integer")


def _run_of(caller: Caller, check: Object, parameters: dict[str, ParameterValue]) -> Object:
    metadata, run_id = section(check, "metadata"), secrets.token_hex(12)
    reference = {"name": metadata["name"], "uid": metadata["uid"], "specDigest": spec_digest(check)}
    spec: Object = {
        "checkRef": reference,
        "runID": run_id,
        "attempt": 1,
        "trigger": "Manual",
        "requestedBy": caller.name,
    }
    if parameters:
        spec["parameters"] = parameters
    place = {"name": f"{metadata['name']}-{run_id}", "namespace": caller.namespace}
    return {"apiVersion": API_VERSION, "kind": RUN, "metadata": place, "spec": spec}


def _say(item: Object, output: str, words: str, then: str) -> None:
    if output == "name":
        click.echo(f"validationrun.tau.azure.com/{item['metadata']['name']}")
    elif output != "table":
        item["metadata"].pop("managedFields", None)
        print_document(item, output)
    else:
        click.echo(printable(words))
        click.echo(f"Next: {printable(then)}")


@click.command(short_help="Follow a run to its end.")
@click.argument("name")
@_TIMEOUT
@_KNOWN_AS
@_OUTPUT
@evidence_options
@cluster_options
def watch(
    name: str,
    timeout: float | None,
    known_as: str,
    output: str,
    evidence: Path | None,
    stores: tuple[str, ...],
    caller: Caller,
) -> int:
    """Shows the phases of a run as they come, then the verdict of its check; NAME is a run, or a check's newest run.

    Exit codes: 0 fresh Passed, 1 Failed, 2 not proven or not ended in time, 64 wrong usage, 65 there is no such run, 69
    the cluster is out of reach, 77 you may not, 130 interrupted: the run goes on.

    \b
    Examples:
      tau-check watch ib-pair --namespace team-vision
      tau-check watch ib-pair-7d0f3c9a51b2e84466aa91c0 -n team-vision --timeout 10m
    """
    read_from = evidence_from(evidence, stores)
    found = _find(caller, name)
    own, check = found["metadata"]["name"], found["spec"]["checkRef"]["name"]
    if _phase(found) == "Sealed":
        click.echo(f"Run {printable(own)} in {caller.namespace} has ended.", err=True)
        return conclude(caller, check, own, read_from, known_as, output)
    if output != "name":
        click.echo(f"Run {printable(own)} in {caller.namespace}", err=True)
    return follow(caller, found, read_from, known_as, timeout, output)


@click.command(short_help="End a run early.")
@click.argument("name")
@_OUTPUT
@cluster_options
def cancel(name: str, output: str, caller: Caller) -> int:
    """Asks the controller to end a run; NAME is a run, or a check whose newest run is meant.

    What the run has seen so far is sealed as a result that proves nothing, and what it created is removed.

    Exit codes: 0 asked for, 64 wrong usage, 65 there is no such run or it has ended, 69 the cluster is out of reach, 77
    you may not.

    \b
    Examples:
      tau-check cancel ib-pair --namespace team-vision
      tau-check cancel ib-pair-7d0f3c9a51b2e84466aa91c0 -n team-vision
    """
    for _ in range(5):
        found = _find(caller, name)
        own = found["metadata"]["name"]
        if _phase(found) not in ACTIVE_PHASES:
            raise Refusal(f"the run {own} has ended; there is nothing to cancel")
        version = found["metadata"]["resourceVersion"]
        body = {"metadata": {"resourceVersion": version, "annotations": {CANCEL: caller.name}}}
        try:
            changed = caller.api.patch(caller.path(RUN, own), body)
        except Conflict:
            continue
        _say(changed, output, f"Asked for the end of {own} in {caller.namespace}.", caller.command("watch", own))
        return 0
    raise Refusal(f"the run {name} changes too quickly; try again")


def _phase(found: Object) -> str:
    return text(section(found, "status"), "phase") or "Pending"


def _find(caller: Caller, name: str) -> Object:
    """The run of this name, or the newest run of the check of this name. Raises NotFound."""
    found = caller.api.get(caller.path(RUN, name))
    if found is not None:
        return found
    runs = caller.api.select(caller.path(RUN), fieldSelector=f"spec.checkRef.name={name}")
    if not runs:
        raise NotFound(f"there is no run {name}, and no run of a check {name}, in the namespace {caller.namespace}")
    return max(runs, key=lambda item: run_order(run_from(item)))
