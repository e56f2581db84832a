"""`tau-check approve` and `tau-check reject`: what a platform admin decides, with everything it is about on screen.

What is approved is what was seen: the digest is computed here, from the spec as it is, and compared with the one that
the caller names and with the one that the controller found.
"""

import sys
from typing import Any

import click

from ..cluster.errors import Conflict, Forbidden, Refusal
from ..contract.kinds import APPROVED, CHECK, REJECTED, REVIEWED_BY, TEMPLATE
from ..objects import section, spec_digest, text
from ..review.rights import Weight, rights_of
from .connecting import Caller, cluster_options
from .refusals import USAGE
from .terminal import complain, print_document, printable

Object = dict[str, Any]
_TRIES = 5
_OUTPUT = click.option(
    "-o", "--output", type=click.Choice(["table", "json", "yaml", "name"]), default="table", show_default=True
)
_YES = click.option("-y", "--yes", is_flag=True, help="Do not ask.")


@click.command(short_help="Approve a registration, by its digest.")
@click.argument("name")
@click.option("--digest", default="", metavar="DIGEST", help="Of the spec that was looked at: sha256:…")
@_YES
@_OUTPUT
@cluster_options
def approve(name: str, digest: str, yes: bool, output: str, caller: Caller) -> int:
    """Approves what the spec of a registration is now; a rejection is taken back in the same step.

    Shows what is approved: what runs, with which rights, where and for how long. Without --digest it only shows that,
    and asks. It refuses where --digest is not the digest of the spec as it is, or where the controller has not seen
    that spec yet. Any later change of the registration or its template makes the approval outdated.

    Exit codes: 0 approved, 64 wrong usage or not confirmed, 65 the spec is another or there is none, 69 the cluster is
    out of reach, 77 you may not.

    \b
    Examples:
      tau-check approve ib-pair --namespace team-vision
      tau-check approve ib-pair --namespace team-vision --digest sha256:c293…8f1e --yes
    """
    if yes and not digest:
        raise click.UsageError("--yes goes with --digest, which says what is approved")
    check = caller.get(CHECK, name)
    found = spec_digest(check)
    if digest and digest != found:
        raise Refusal(
            f"{name} has another spec than the one you name: its digest is {found}. "
            f"Look at it again: {_again(caller, name)}"
        )
    _insist_on_status(check, found)
    if output == "table" or not yes:
        _show(caller, check, err=output != "table")
    if section(section(check, "metadata"), "annotations").get(APPROVED) == found and not _rejected(check):
        click.echo(f"It is approved already, by {_reviewer(check)}.", err=output != "table")
        return 0
    if not _confirmed(f"Approve {name} in {caller.namespace}?", yes):
        return USAGE
    marks = {APPROVED: found, REVIEWED_BY: caller.name, REJECTED: None}
    changed = _mark(caller, name, check, marks)
    _say(
        changed, output, f"Approved {caller.namespace}/{name} as {caller.name}.", caller.command("run", name, "--wait")
    )
    return 0


@click.command(short_help="Reject a registration, with the reason.")
@click.argument("name")
@click.option("--reason", required=True, metavar="TEXT", help="Why; people who registered it read this.")
@_YES
@_OUTPUT
@cluster_options
def reject(name: str, reason: str, yes: bool, output: str, caller: Caller) -> int:
    """Rejects a registration, whatever its spec becomes; an approval is taken back in the same step.

    Nothing of it runs any more, and nothing it has proved counts, until somebody approves it.

    Exit codes: 0 rejected, 64 wrong usage or not confirmed, 65 there is none, 69 the cluster is out of reach, 77 you
    may not.

    \b
    Examples:
      tau-check reject ib-pair --namespace team-vision --reason "Ask for two GPUs, not for eight"
    """
    if not reason.strip() or len(reason) > 512 or not reason.isprintable():
        raise click.UsageError("--reason: one line of at most 512 characters")
    check = caller.get(CHECK, name)
    if output == "table" or not yes:
        _show(caller, check, err=output != "table")
    if not _confirmed(f"Reject {name} in {caller.namespace}?", yes):
        return USAGE
    marks = {REJECTED: reason, REVIEWED_BY: caller.name, APPROVED: None}
    changed = _mark(caller, name, check, marks)
    _say(changed, output, f"Rejected {caller.namespace}/{name} as {caller.name}: {reason}", "")
    return 0


def _insist_on_status(check: Object, found: str) -> None:
    """The controller has seen this very spec. Raises Refusal."""
    metadata, status = section(check, "metadata"), section(check, "status")
    name = text(metadata, "name")
    if status.get("observedGeneration") != metadata.get("generation"):
        raise Refusal(
            f"the controller has not looked at this version of {name} yet; approve it when it has (is it running?)"
        )
    if status.get("specDigest") != found:
        raise Refusal(
            f"the controller finds the digest {status.get('specDigest')} for {name}, its spec gives {found}: "
            "do not approve it"
        )


def _mark(caller: Caller, name: str, check: Object, marks: dict[str, str | None]) -> Object:
    """Writes the annotations over the version that was looked at; over a newer one only where its spec is the same."""
    seen = spec_digest(check)
    for _ in range(_TRIES):
        version = section(check, "metadata").get("resourceVersion")
        body = {"metadata": {"resourceVersion": version, "annotations": marks}}
        try:
            return caller.api.patch(caller.path(CHECK, name), body)
        except Conflict:
            check = caller.get(CHECK, name)
            if spec_digest(check) != seen:
                break
    raise Refusal(f"{name} was changed meanwhile; look at it again: {_again(caller, name)}")


def _again(caller: Caller, name: str) -> str:
    return caller.command("approve", name)


def _confirmed(question: str, yes: bool) -> bool:
    if yes:
        return True
    if not sys.stdin.isatty():
        complain("nothing was changed: say --yes where nobody can be asked")
        return False
    if click.confirm(question, err=True):
        return True
    complain("nothing was changed")
    return False


def _rejected(check: Object) -> bool:
    return REJECTED in section(section(check, "metadata"), "annotations")


def _reviewer(check: Object) -> str:
    return printable(str(section(section(check, "metadata"), "annotations").get(REVIEWED_BY) or "nobody who is named"))


def _say(changed: Object, output: str, words: str, then: str) -> None:
    if output == "name":
        click.echo(f"validationcheck.tau.azure.com/{text(section(changed, 'metadata'), 'name')}")
    elif output != "table":
        section(changed, "metadata").pop("managedFields", None)
        print_document(changed, output)
    else:
        click.echo(printable(words))
        if then:
            click.echo(f"Next: {printable(then)}")


def _show(caller: Caller, check: Object, *, err: bool) -> None:
    """What is decided about."""
    metadata, spec = section(check, "metadata"), section(check, "spec")
    launch = section(spec, "launch")
    pinned, own = section(launch, "template"), section(launch, "controller")
    wanted, results = section(spec, "targets"), section(spec, "results")
    publisher = section(results, "publisher")
    amount = f", {wanted.get('perTarget')} {wanted.get('resource')} each" if wanted.get("resource") else ""
    schedule = section(spec, "schedule")
    rows = [
        ("Check", f"{text(metadata, 'namespace')}/{text(metadata, 'name')}  {text(spec, 'title')}"),
        ("Type", f"{text(spec, 'type')}, version {text(spec, 'version')}"),
        ("Owner", text(spec, "owner") or "nobody is named"),
        (
            "Runs",
            f"template {text(pinned, 'name')}" if pinned else f"started by its own controller {text(own, 'name')}",
        ),
        ("Nodes", f"{wanted.get('count')}{amount}"),
        ("Schedule", f"{text(schedule, 'cron')} ({text(schedule, 'timeZone')})" if schedule else "none"),
        ("Publisher", f"{text(publisher, 'namespace')}/{text(publisher, 'serviceAccount')}"),
        ("Digest", spec_digest(check)),
        ("Review", _review(check)),
    ]
    for label, value in rows:
        click.echo(click.style(f"{label:<11}", dim=True) + printable(value), err=err)
    if pinned:
        _show_template(caller, pinned, err=err)


def _review(check: Object) -> str:
    marks = section(section(check, "metadata"), "annotations")
    if REJECTED in marks:
        return f"rejected by {_reviewer(check)}: {marks[REJECTED]}"
    approved = str(marks.get(APPROVED) or "")
    if not approved:
        return "not reviewed yet"
    if approved == spec_digest(check):
        return f"approved by {_reviewer(check)}"
    return f"approved by {_reviewer(check)} was {approved}; it has changed since"


def _show_template(caller: Caller, pinned: Object, *, err: bool) -> None:
    """What the template asks for, the heaviest first; and where it is not the one that is pinned."""
    name = text(pinned, "name")
    try:
        template = caller.api.get(caller.path(TEMPLATE, name, ""))
    except Forbidden:
        click.echo(f"The template {printable(name)} is not yours to read, so what it asks for is not shown.", err=err)
        return
    if template is None:
        click.secho(f"! There is no template {printable(name)}; nothing runs until there is.", fg="yellow", err=err)
        return
    if (digest := spec_digest(template)) != text(pinned, "digest"):
        words = f"! The template {name} has the digest {digest}, the registration pins {text(pinned, 'digest')}."
        click.secho(printable(words), fg="yellow", err=err)
    click.echo(f"The template {printable(name)} asks for:", err=err)
    colours = {Weight.EXCEPTION: "red", Weight.NOTABLE: "yellow", Weight.USUAL: None}
    marks = {Weight.EXCEPTION: "!", Weight.NOTABLE: "*", Weight.USUAL: " "}
    for right in rights_of(template.get("spec")):
        why = f" ({right.why})" if right.why else ""
        line = printable(f"  {marks[right.weight]} {right.topic}: {right.says}{why}")
        click.secho(line, fg=colours[right.weight], err=err)
