"""`tau-check validate`: documents of the contract, offline, with every problem at its file, line and field."""

import io
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from ..contract.kinds import CHECK, TEMPLATE
from ..contract.problem import Problem
from ..dump import Item, read_stream
from ..objects import spec_digest
from .places import Places
from .terminal import UNREADABLE, complain, printable
from .validating import Named, named, notes_of, problems_of


@dataclass(frozen=True, slots=True)
class Document:
    """A document with the file it stands in, and its number there."""

    file: str
    number: int
    named: Named


@dataclass(frozen=True, slots=True)
class Fault:
    """A problem with its place; line None where it is not known."""

    file: str
    line: int | None
    kind: str
    name: str
    problem: Problem

    def __str__(self) -> str:
        where = self.file if self.line is None else f"{self.file}:{self.line}"
        what = f"{self.kind} {self.name}".strip()
        return f"{where}: {what}: {self.problem}"


@click.command(short_help="Check files of the contract, offline.")
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
@click.option("-o", "--output", type=click.Choice(["table", "json"]), default="table", show_default=True)
def validate(files: tuple[str, ...], output: str) -> int:
    """Says everything that is wrong with templates, registrations, runs, results, envelopes and pod reports.

    Files are YAML or JSON, with any number of documents; a folder stands for the .yaml, .yml and .json files in it;
    - is standard input. Give a registration and its template together, and the pinned digest and the parameters are
    compared too. Objects of other kinds are left alone.

    Exit codes: 0 all are valid, 65 one is not or cannot be read, 64 wrong usage.

    \b
    Examples:
      tau-check validate my-check/
      tau-check validate template.yaml check.yaml -o json
      kubectl get tvc,tvt -A -o yaml | tau-check validate -
      kubectl get pod POD -o jsonpath='{.status.containerStatuses[0].state.terminated.message}' | tau-check validate -
    """
    found = examine(files)
    for each in found.documents:
        for note in notes_of(each.named, found.templates):
            click.echo(f"{printable(each.file)}: note: {printable(note)}", err=True)
    if found.skipped:
        click.echo(f"note: left alone: {printable(', '.join(sorted(found.skipped)))}", err=True)
    _show(found.documents, found.faults, output)
    if not found.documents and not found.faults:
        complain("there is no document of the contract in it")
        return UNREADABLE
    return UNREADABLE if found.faults else 0


@dataclass
class Examined:
    """The documents of some files, everything that is wrong with them, and what was no document of the contract."""

    documents: list[Document] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    skipped: set[str] = field(default_factory=set)

    @property
    def templates(self) -> list[dict[str, Any]]:
        """The templates among the documents."""
        return [each.named.value for each in self.documents if each.named.kind == TEMPLATE]


def examine(files: tuple[str, ...], also: Callable[[Named], Iterable[Problem]] = lambda named: ()) -> Examined:
    """Reads the files and looks for every problem. also: what else is wrong with a document."""
    found = Examined()
    contents: dict[str, bytes] = {}
    for file, data in _contents(files, found.faults):
        contents[file] = data
        for item in read_stream(io.BytesIO(data), file):
            number = int(item.where.rpartition(" ")[2])
            _take(file, number, item, found)
    places: dict[str, Places] = {}
    for each in found.documents:
        what = each.named
        for problem in [*also(what), *problems_of(what, found.templates)]:
            if each.file not in places:
                places[each.file] = Places(contents[each.file])
            line = places[each.file].line(each.number, problem.pointer)
            found.faults.append(Fault(each.file, line, what.kind, printable(what.name), problem))
    return found


def _contents(files: tuple[str, ...], faults: list[Fault]) -> Iterator[tuple[str, bytes]]:
    for name in files:
        if name == "-":
            yield "standard input", sys.stdin.buffer.read()
            continue
        path = Path(name)
        try:
            inside = sorted(each for each in path.iterdir() if each.suffix in (".yaml", ".yml", ".json"))
        except NotADirectoryError:
            inside = [path]
        except OSError:
            inside = [path]  # said when it is opened
        for each in inside:
            try:
                yield str(each), each.read_bytes()
            except OSError as error:
                why = error.strerror or "nothing that can be opened"
                faults.append(Fault(str(each), None, "file", "", Problem("", why, "a file that can be read")))


def _take(file: str, number: int, item: Item, found: Examined) -> None:
    if item.value is None:
        found.faults.append(Fault(file, None, f"object {number}", "", Problem("", item.problem, "YAML or JSON")))
        return
    what = named(item.value)
    if what.kind:
        found.documents.append(Document(file, number, what))
    else:
        found.skipped.add(
            str(item.value.get("kind") or item.value.get("schema") or "a document that says no kind")[:80]
        )


def _show(documents: list[Document], faults: list[Fault], output: str) -> None:
    if output == "json":
        listed = [
            {
                "file": fault.file,
                "line": fault.line,
                "kind": fault.kind,
                "name": fault.name,
                "field": fault.problem.pointer,
                "found": fault.problem.found,
                "expected": fault.problem.expected,
            }
            for fault in faults
        ]
        click.echo(json.dumps({"documents": len(documents), "problems": listed}, indent=2))
        return
    for fault in faults:
        click.echo(printable(str(fault)))
    broken = {(fault.file, fault.kind, fault.name) for fault in faults}
    for each in documents:
        what = each.named
        if (each.file, what.kind, printable(what.name)) not in broken:
            sealed = f", spec digest {spec_digest(what.value)}" if what.kind in (TEMPLATE, CHECK) else ""
            click.echo(printable(f"{each.file}: {what.kind} {what.name} is valid{sealed}"))
