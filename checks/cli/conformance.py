"""`tau-check conformance`: whether a check keeps the contract, rule by rule."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from ..contract.kinds import CHECK, TEMPLATE
from ..dump import Item, read_files, read_stream
from ..objects import section
from .conforming import Kept, Subject, judged, said_by
from .terminal import UNREADABLE, complain, printable
from .trying import NotTried, Trial, trial_of
from .validating import named

_WORDS = {True: "kept", False: "BROKEN", None: "not looked at"}


@click.command(short_help="Whether a check keeps the contract, rule by rule.")
@click.option(
    "-f",
    "--file",
    "files",
    multiple=True,
    metavar="FILE…",
    help="Registration, template, pods as kubectl prints them; a folder stands for its YAML and JSON files.",
)
@click.option("--try", "tried", is_flag=True, help="Run the template's command here, once for each rank.")
@click.option("--engine", default="", metavar="PROGRAM", help="Run it in its image with podman, docker or nerdctl.")
@click.option("--image", default="", metavar="IMAGE", help="No files: look at what this image reports by itself.")
@click.option("-o", "--output", type=click.Choice(["table", "json"]), default="table", show_default=True)
def conformance(files: tuple[str, ...], tried: bool, engine: str, image: str, output: str) -> int:
    """Says of every rule of the contract whether a check keeps it.

    Rules about reports need reports: give the pods of a run (kubectl get pods -o yaml), or --try, which runs the
    command of the template's first container on this machine. That is enough where the command needs nothing but a
    shell. With --engine it is run in its image, without network and rights. An --image alone is looked at as rank 0
    of a run; it then tells of reports only.

    Exit codes: 0 no rule is broken, 65 one is, or there is nothing to look at, 64 wrong usage.

    \b
    Examples:
      tau-check conformance -f my-check/
      tau-check conformance -f my-check/ --try
      tau-check conformance -f my-check/ --engine podman
      tau-check conformance --image registry.example/my-check@sha256:4e0a… --engine podman
      kubectl get pods -l tau.azure.com/check=my-check -o yaml | tau-check conformance -f my-check/ -f -
    """
    if bool(files) == bool(image) or (image and not engine):
        raise click.UsageError("give -f FILE, or --image together with --engine")
    try:
        items = [*_items(files)]
    except OSError as error:
        complain(f"{error.filename}: {error.strerror}")
        return UNREADABLE
    if bad := next((item for item in items if item.value is None), None):
        complain(f"{bad.where}: {bad.problem}")
        return UNREADABLE
    subject, several = _subject(items)
    if several:
        complain(f"there is more than one {several} in it; give one check at a time")
        return UNREADABLE
    if not image and subject.check is None and subject.template is None and not subject.said:
        complain("there is no registration, no template and no pod in it")
        return UNREADABLE
    if (tried or engine) and (fault := _try(subject, engine, image)):
        complain(fault)
        return UNREADABLE
    found = judged(subject)
    _show(found, output)
    return UNREADABLE if any(each.holds is False for each in found) else 0


def _items(files: tuple[str, ...]) -> Iterator[Item]:
    for name in files:
        if name == "-":
            yield from read_stream(sys.stdin.buffer, "standard input")
            continue
        path = Path(name)
        inside = (
            sorted(each for each in path.iterdir() if each.suffix in (".yaml", ".yml", ".json"))
            if path.is_dir()
            else []
        )
        yield from read_files(inside or [path])


def _subject(items: list[Item]) -> tuple[Subject, str]:
    """What was given, and the kind that was given twice."""
    subject = Subject()
    for item in items:
        value = item.value or {}
        kind = named(value).kind
        if kind == CHECK:
            if subject.check is not None:
                return subject, kind
            subject.check = value
        elif kind == TEMPLATE:
            if subject.template is not None:
                return subject, kind
            subject.template = value
        elif value.get("kind") == "Pod":
            subject.said.append(said_by(value))
    return subject, ""


def _try(subject: Subject, engine: str, image: str) -> str:
    """Fills in what the ranks say; a sentence where that cannot be."""
    if subject.template is None and not image:
        return "--try and --engine need the template among the files"
    launch = section(section(section(subject.check, "spec"), "launch"), "template")
    try:
        if subject.template is None:
            ranks = Trial(image=image, engine=engine).ranks()
        else:
            ranks = trial_of(subject.template, section(launch, "parameters"), engine).ranks()
    except NotTried as error:
        return f"not tried: {error}"
    subject.said += ranks
    for each in ranks:
        code = "did not end" if each.code is None else f"ended with {each.code}"
        click.echo(f"rank {each.rank} {code} and said: {printable(each.message or 'nothing')}", err=True)
    return ""


def _show(found: list[Kept], output: str) -> None:
    if output == "json":
        listed = [
            {"rule": each.rule.id, "sentence": each.rule.sentence, "kept": each.holds, "faults": list(each.faults)}
            for each in found
        ]
        click.echo(json.dumps({"rules": listed}, indent=2))
        return
    width = max(len(each.rule.id) for each in found)
    for each in found:
        click.echo(f"{_WORDS[each.holds]:<13} {each.rule.id:<{width}}  {each.rule.sentence}")
        for fault in each.faults:
            click.echo(f"{'':<13} {'':<{width}}  - {printable(fault)}")
    broken, open_ = (sum(each.holds is value for each in found) for value in (False, None))
    click.echo(f"{len(found) - broken - open_} kept, {broken} broken, {open_} not looked at")
