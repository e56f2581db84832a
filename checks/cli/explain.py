"""`tau-check explain`: every check with its state, reason, sentence and proof, from the cluster or from a dump."""

from typing import Any

import click
from rich.text import Text

from .. import wire
from ..contract.clock import format_time
from ..proof import Holds, first_fault, prove
from ..snapshot import Explained
from .reading import STYLE, exit_code, written
from .sources import Reading, Sources, source_options
from .terminal import Terminal, print_document, printable

_MARK = {Holds.YES: "✓", Holds.NO: "✗", Holds.NOT_KNOWN: "·"}


@click.command(short_help="Checks with the proof of each.")
@click.option(
    "-o", "--output", type=click.Choice(["table", "json", "yaml", "name"]), default="table", show_default=True
)
@source_options
def explain(sources: Sources, output: str) -> int:
    """Shows checks with their state, the reason, and the proof clause by clause.

    Without -f it reads the cluster, with the rights of your kubeconfig, and judges by the clock of this machine. Where
    your rights do not reach everything that a proof needs, it says which one is missing, and nothing is Passed.

    With -f it reads a dump: what `kubectl get … -o yaml` or `-o json` prints, or `tau-check dump` writes; gzip is read
    too. Verdicts are as of the time of capture then, and --cluster is the cluster of the dump.

    Exit codes: 0 every check is Passed, 1 a check is Failed, 2 something is not proven, 64 wrong usage, 65 unreadable
    input, 69 the cluster is out of reach, 77 you may not read it.

    \b
    Examples:
      tau-check explain ib-pair --namespace team-vision --store volume=file:///mnt/artifacts
      tau-check explain --all-namespaces --context west-1 -o json
      tau-check explain -f dump.yaml --evidence evidence/
      kubectl get tau,nodes,ns -A -o yaml | tau-check explain -f - --cluster west-1 --captured-at 2026-11-30T08:24:00Z
      tau-check explain -f dump.yaml -o json | jq '.checks[] | select(.state != "Passed")'
    """
    reading = sources.read()
    states = [item.verdict.state for item in reading.explained]
    return written(lambda: _print(reading, output)) or exit_code(states)


def as_json(item: Explained) -> dict[str, Any]:
    """One check as contract.md gives it."""
    return wire.explained(item.cluster, item.namespace, item.name, item.verdict).model_dump(mode="json")


def _print(reading: Reading, output: str) -> None:
    if output == "name":
        for item in reading.explained:
            click.echo(printable(f"{item.cluster}/{item.namespace}/{item.name}"))
    elif output != "table":
        print_document(as_document(reading), output)
    else:
        _table(reading)


def as_document(reading: Reading) -> dict[str, Any]:
    """All checks as contract.md gives them."""
    return {"asOf": format_time(reading.as_of), "checks": [as_json(item) for item in reading.explained]}


def _table(reading: Reading) -> None:
    console = Terminal(highlight=False, soft_wrap=True, markup=False, emoji=False)
    console.print(f"As of {format_time(reading.as_of)}. A verdict is a proof of one moment, not continuous health.")
    if not reading.explained:
        console.print(f"There is no check {reading.place}.")
    for item in reading.explained:
        verdict, last = item.verdict, item.verdict.last
        state = (str(verdict.state), f"bold {STYLE[verdict.state]}")
        name = (printable(f"{item.namespace}/{item.name}"), "bold")
        console.print()
        console.print(Text.assemble(state, "  ", name, printable(f" on {item.cluster}  ({verdict.reason})")))
        console.print(f"  {printable(verdict.message)}")
        if last and last.state is not verdict.state:
            console.print(f"  The last sealed verdict was {last.state} ({printable(last.reason)}).")
        clauses = prove(verdict)
        for clause in clauses:
            console.print(f"  {_MARK[clause.holds]} {clause.says}")
            console.print(f"    {printable(clause.detail)} ({printable(clause.source)})", style="dim")
        fault = first_fault(clauses, verdict)
        if fault and fault.next_step:
            console.print(f"  Next: {fault.next_step}")
