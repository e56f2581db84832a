"""`tau-check register`: templates and registrations from files into the cluster, valid ones only."""

from dataclasses import dataclass
from typing import Any

import click

from ..cluster.errors import AlreadyExists, ClusterError, Forbidden
from ..contract.kinds import APPROVED, CHECK, PLURALS, REJECTED, REVIEWED_BY, TEMPLATE
from ..contract.problem import Problem
from ..objects import section, spec_digest, text
from .connecting import Caller, cluster_options
from .refusals import code_of, in_words
from .terminal import UNREADABLE, complain, print_document, printable
from .validate import examine
from .validating import Named

Object = dict[str, Any]
_REVIEW = (APPROVED, REJECTED, REVIEWED_BY)


@dataclass(frozen=True, slots=True)
class Done:
    """What became of one object. change: created, changed, unchanged or refused; why: of a refusal."""

    kind: str
    namespace: str
    name: str
    change: str
    digest: str
    why: str = ""


@click.command(short_help="Register checks: templates and registrations from files.")
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
@click.option("--dry-run", is_flag=True, help="Ask the API server, and change nothing.")
@click.option(
    "-o", "--output", type=click.Choice(["table", "json", "yaml", "name"]), default="table", show_default=True
)
@cluster_options
def register(files: tuple[str, ...], dry_run: bool, output: str, caller: Caller) -> int:
    """Creates or changes what the files hold: TauValidationTemplate and TauValidationCheck.

    Files are read as `tau-check validate` reads them; where one problem is found nothing is sent. A template never
    changes: another spec needs another name. A registration that is changed has to be approved again. Reviews are no
    part of a file: annotations of approval in it are refused.

    Exit codes: 0 everything is there as the files have it, 64 wrong usage, 65 a file is not valid or something of that
    name is in the way, 69 the cluster is out of reach, 77 you may not.

    \b
    Examples:
      tau-check register my-check/ --namespace team-vision
      tau-check register check.yaml --dry-run
      kubectl get tvc ib-pair -n team-vision -o yaml | tau-check register - --context east-1
    """
    documents = _valid(files, caller.namespace_option)
    if documents is None:
        return UNREADABLE
    done: list[Done] = []
    code = 0
    for each in sorted(documents, key=lambda each: each.kind != TEMPLATE):
        namespace = "" if each.kind == TEMPLATE else text(section(each.value, "metadata"), "namespace")
        namespace = namespace if each.kind == TEMPLATE else namespace or caller.namespace
        digest = spec_digest(each.value)
        try:
            change = _put(caller, each, namespace, dry_run=dry_run)
        except (Forbidden, _InTheWay) as error:
            done.append(Done(each.kind, namespace, each.name, "refused", digest, in_words(error)))
            code = code or code_of(error)
        else:
            done.append(Done(each.kind, namespace, each.name, change, digest))
    _print(done, output, caller, dry_run=dry_run)
    return code


class _InTheWay(ClusterError):
    """An object of this name is there, and it cannot become what the file says."""


def _valid(files: tuple[str, ...], namespace: str) -> list[Named] | None:
    """The documents, or None where something is wrong with one, which was said."""
    found = examine(files, lambda each: _unwanted(each, namespace))
    for fault in found.faults:
        complain(str(fault))
    if found.skipped:
        complain(f"only {TEMPLATE} and {CHECK} are registered; there is: {', '.join(sorted(found.skipped))}")
    elif not found.documents and not found.faults:
        complain("there is no template and no registration in it")
    if found.faults or found.skipped or not found.documents:
        return None
    return [each.named for each in found.documents]


def _unwanted(each: Named, namespace: str) -> list[Problem]:
    if each.kind not in (TEMPLATE, CHECK):
        return [Problem("/kind", each.kind, f"{TEMPLATE} or {CHECK}; nothing else is registered")]
    metadata = section(each.value, "metadata")
    marks = [name for name in _REVIEW if name in section(metadata, "annotations")]
    found = [
        Problem(f"/metadata/annotations/{mark.replace('/', '~1')}", "a review", "none: a reviewer writes it, no file")
        for mark in marks
    ]
    own = text(metadata, "namespace")
    if each.kind == CHECK and namespace and own not in ("", namespace):
        found.append(Problem("/metadata/namespace", own, f"{namespace}, as --namespace says, or none"))
    return found


def _put(caller: Caller, each: Named, namespace: str, *, dry_run: bool) -> str:
    """Creates the object, or changes the one that is there. Raises ClusterError."""
    path, all_of_them = caller.path(each.kind, each.name, namespace), caller.path(each.kind, namespace=namespace)
    wanted = _wanted(each, namespace)
    there = caller.api.get(path)
    if there is None:
        try:
            caller.api.create_as_if(all_of_them, wanted) if dry_run else caller.api.create(all_of_them, wanted)
            return "created"
        except AlreadyExists:
            there = caller.api.get(path) or {}
    if spec_digest(there) == spec_digest(wanted) and _holds(there, wanted):
        return "unchanged"
    if each.kind == TEMPLATE and spec_digest(there) != spec_digest(wanted):
        raise _InTheWay(
            f"{each.name} is there with the digest {spec_digest(there)}; a template never changes, so give "
            "this one another name"
        )
    metadata = section(there, "metadata")
    for key in ("labels", "annotations"):
        metadata[key] = section(metadata, key) | section(section(wanted, "metadata"), key)
    caller.api.replace(path, {**there, "metadata": metadata, "spec": wanted["spec"]}, dry_run=dry_run)
    return "changed"


def _wanted(each: Named, namespace: str) -> Object:
    """The object as it is sent: what a person writes, without what a server adds."""
    metadata = section(each.value, "metadata")
    kept = {key: section(metadata, key) for key in ("labels", "annotations") if section(metadata, key)}
    place = {"namespace": namespace} if namespace else {}
    head = {"apiVersion": each.value["apiVersion"], "kind": each.kind}
    return {**head, "metadata": {"name": each.name, **place, **kept}, "spec": each.value["spec"]}


def _holds(there: Object, wanted: Object) -> bool:
    mine, theirs = section(wanted, "metadata"), section(there, "metadata")
    return all(section(mine, key).items() <= section(theirs, key).items() for key in ("labels", "annotations"))


def _print(done: list[Done], output: str, caller: Caller, *, dry_run: bool) -> None:
    if output == "name":
        for each in done:
            if each.change != "refused":
                click.echo(f"{PLURALS[each.kind].removesuffix('s')}.tau.azure.com/{each.name}")
    elif output != "table":
        rows = [
            {
                "kind": each.kind,
                "namespace": each.namespace or None,
                "name": each.name,
                "change": each.change,
                "specDigest": each.digest,
                **({"why": each.why} if each.why else {}),
            }
            for each in done
        ]
        print_document({"dryRun": dry_run, "objects": rows}, output)
    else:
        for each in done:
            place = f"{each.namespace}/{each.name}" if each.namespace else each.name
            click.echo(printable(f"{each.change:<9}  {each.kind} {place}"))
            click.echo(printable(f"           {each.why or each.digest}"))
        _next(done, caller, dry_run=dry_run)
    for each in done:
        if each.change == "refused" and output != "table":
            complain(f"{each.kind} {each.name}: {each.why}")


def _next(done: list[Done], caller: Caller, *, dry_run: bool) -> None:
    if dry_run:
        click.echo("Nothing was changed: --dry-run.")
        return
    for each in done:
        if each.kind == TEMPLATE and each.change == "refused":
            click.echo("Templates are written by a platform admin.")
        if each.kind == CHECK and each.change in ("created", "changed"):
            words = ("approve", each.name, "--digest", each.digest)
            click.echo("Next, a platform admin reviews and approves it:")
            click.echo(printable(f"  {caller.command(*words, namespace=each.namespace)}"))
