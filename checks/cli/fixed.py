"""`tau-check import rdma-validation` and `tau-check export rdma-validation`: from the fixed contract, and back."""

import json
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import yaml

from ..contract.document import digest
from ..contract.kinds import API_VERSION, CHECK, RESULT
from ..dump import Item, read_files, read_stream
from ..rdma import Import, Registered, export_document, import_document, registered
from .terminal import UNREADABLE, Time, complain, printable

Object = dict[str, Any]
LOST = 2


@click.group("import", short_help="Read results of another contract.")
def import_group() -> None:
    """Reads results of another contract into envelopes of this one."""


@click.group("export", short_help="Write results in another contract.")
def export_group() -> None:
    """Writes results in another contract, where nothing is lost by it."""


@import_group.command("rdma-validation", short_help="rdma-validation.v1 to envelopes.")
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
@click.option(
    "--evidence",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="Folder of evidence files named by their sha256; without it nothing passes.",
)
@click.option(
    "--check",
    "registration",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="The TauValidationCheck (as kubectl get prints it) that the results are published for.",
)
@click.option("--result", is_flag=True, help="Print a TauValidationResult instead of the bare envelope; needs --check.")
@click.option("--now", type=Time(), help="Judge times by this clock instead of this machine's.")
@click.option("-o", "--output", type=click.Choice(["json", "yaml"]), default="json", show_default=True)
def import_rdma(
    files: tuple[str, ...],
    evidence: Path | None,
    registration: Path | None,
    result: bool,
    now: datetime | None,
    output: str,
) -> int:
    """Prints an envelope for each document of `rdma-validation.v1`; - is standard input.

    An envelope never says more than its source: a stated pass stays a pass only where every node, pod and rank is
    identified, every required evidence file was read and matches, and the log itself shows NET/IB on every rank. What
    was lowered, and why, is told on standard error. A document that cannot be read does not stop the others.

    Exit codes: 0 every document was read, 65 one could not be read, 64 wrong usage.

    \b
    Examples:
      tau-check import rdma-validation result.json
      tau-check import rdma-validation results/*.json --evidence evidence/ -o yaml
      tau-check import rdma-validation r.json --evidence evidence/ --check check.yaml --result | kubectl create -f -
    """
    if result and registration is None:
        raise click.UsageError("--result needs --check: a result is published for a registration")
    check = _registered(registration) if registration else None
    if registration and check is None:
        return UNREADABLE
    at, code, printed = now or datetime.now(UTC), 0, 0
    for item in _items(files):
        read = import_document(item.value, check, evidence, at) if item.value is not None else None
        if read is None or read.envelope is None:
            code = UNREADABLE
            for problem in read.problems if read else [item.problem]:
                complain(f"{item.where}: {problem}")
            continue
        _tell(item.where, read)
        document = _result(read.envelope, check) if result and check else read.envelope
        if printed and output == "yaml":
            click.echo("---")
        _print(document, output)
        printed += 1
    if not printed and not code:
        complain("there is no document in it")
        return UNREADABLE
    return code


@export_group.command("rdma-validation", short_help="Envelopes to rdma-validation.v1.")
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
@click.option("-o", "--output", type=click.Choice(["json", "yaml"]), default="json", show_default=True)
def export_rdma(files: tuple[str, ...], output: str) -> int:
    """Prints `rdma-validation.v1` for each envelope (or TauValidationResult, or dump of them); - is standard input.

    Only what can be said there without loss is printed. For everything else one sentence names what would be lost:
    the registration, identities beyond node and pod UID, details of another schema, an outcome that was lowered.

    Exit codes: 0 every envelope was exported, 2 something would be lost, 65 unreadable input, 64 wrong usage.

    \b
    Examples:
      tau-check export rdma-validation envelope.json
      kubectl get tvres -n team-vision -o yaml | tau-check export rdma-validation -
    """
    codes = set()
    printed = 0
    for item in _items(files):
        envelope = _envelope_of(item.value)
        if item.value is None or envelope is None:
            codes.add(UNREADABLE if item.value is None else 0)
            if item.value is None:
                complain(f"{item.where}: {item.problem}")
            continue
        export = export_document(envelope)
        if export.document is not None:
            if printed and output == "yaml":
                click.echo("---")
            _print(export.document, output)
            printed += 1
        elif export.lost:
            codes.add(LOST)
            complain(f"{item.where}: {export.says}")
        else:
            codes.add(UNREADABLE)
            for problem in export.problems:
                complain(f"{item.where}: {problem}")
    if not printed and not any(codes):
        complain("there is no envelope in it")
        return UNREADABLE
    return max(codes, default=0)


def _envelope_of(value: Object | None) -> Any:
    """The envelope that an object is or holds; None for an object of another kind."""
    if value is None or "kind" not in value:
        return value
    spec = value.get("spec")
    return spec.get("envelope") if value["kind"] == RESULT and isinstance(spec, dict) else None


def _registered(path: Path) -> Registered | None:
    """The one registration in a file; None where there is none, which has been said."""
    found = [item.value for item in read_files([path]) if item.value is not None and item.value.get("kind") == CHECK]
    if len(found) != 1:
        complain(f"{path}: {len(found)} registrations, where exactly one {CHECK} belongs")
        return None
    read = registered(found[0])
    if isinstance(read, Registered):
        return read
    for problem in read:
        complain(f"{path}: {problem}")
    return None


def _items(files: tuple[str, ...]) -> Iterator[Item]:
    for name in files:
        if name == "-":
            yield from read_stream(sys.stdin.buffer, "standard input")
            continue
        try:
            yield from read_files([Path(name)])
        except OSError as error:
            yield Item(name, None, error.strerror or "it cannot be opened")


def _tell(where: str, read: Import) -> None:
    envelope = read.envelope
    assert envelope is not None
    outcome = f"{read.stated}, imported as {envelope['outcome']} ({envelope['reason']})"
    click.echo(f"{printable(where)}: {outcome}", err=True)
    for finding in read.found:
        click.echo(f"  {finding.reason}: {printable(finding.says)}", err=True)


def _result(envelope: Object, check: Registered) -> Object:
    """The object that the registered publisher creates."""
    name = f"{check.check.name[:25].rstrip('-.')}-{envelope['run']['id']}-{envelope['run']['attempt']}"
    return {
        "apiVersion": API_VERSION,
        "kind": RESULT,
        "metadata": {"name": name, "namespace": envelope["scope"]["namespace"]},
        "spec": {
            "publisher": {"username": check.publisher},
            "digest": digest(envelope),
            "envelope": envelope,
        },
    }


def _print(document: Object, output: str) -> None:
    if output == "yaml":
        click.echo(yaml.safe_dump(document, sort_keys=False, allow_unicode=True), nl=False)
    else:
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))
