"""`tau-check status`: one line per check, worst first, from the cluster or from a dump."""

import click
from rich.text import Text

from ..contract.clock import format_time
from ..contract.reasons import State, severity
from ..snapshot import Explained
from .reading import STYLE, exit_code, written
from .sources import Reading, Sources, source_options
from .terminal import Terminal, print_document, printable


@click.command(short_help="One line per check, worst first.")
@click.option(
    "-o", "--output", type=click.Choice(["table", "json", "yaml", "name"]), default="table", show_default=True
)
@source_options
def status(sources: Sources, output: str) -> int:
    """Shows how many checks are in which state, and each in one line: the worst first.

    Without -f it reads the cluster, with the rights of your kubeconfig; with -f it reads dumps, and --cluster is the
    cluster of the dump.

    Exit codes: 0 every check is Passed, 1 a check is Failed, 2 something is not proven, 64 wrong usage, 65 unreadable
    input, 69 the cluster is out of reach, 77 you may not read it.

    \b
    Examples:
      tau-check status --namespace team-vision
      tau-check status --all-namespaces --store volume=file:///mnt/artifacts
      tau-check status -f dump.yaml --evidence evidence/
      kubectl get tau,nodes,ns -A -o yaml | tau-check status -f - --cluster west-1 --captured-at 2026-11-30T08:24:00Z
    """
    reading = sources.read()
    reading.explained.sort(key=lambda item: (_severity(item), item.cluster, item.namespace, item.name))
    states = [item.verdict.state for item in reading.explained]
    return written(lambda: _print(reading, output)) or exit_code(states)


def _severity(item: Explained) -> int:
    last = item.verdict.last
    return severity(item.verdict.state, last.state if last else None)


def _counts(explained: list[Explained]) -> dict[str, int]:
    return {str(state): sum(item.verdict.state is state for item in explained) for state in State}


def _print(reading: Reading, output: str) -> None:
    explained = reading.explained
    if output == "name":
        for item in explained:
            click.echo(printable(f"{item.cluster}/{item.namespace}/{item.name}"))
    elif output == "table":
        _table(reading)
    else:
        rows = [
            {
                "cluster": item.cluster,
                "namespace": item.namespace,
                "name": item.name,
                "state": str(item.verdict.state),
                "reason": str(item.verdict.reason),
                "message": item.verdict.message,
            }
            for item in explained
        ]
        counts = _counts(explained)
        print_document({"asOf": format_time(reading.as_of), "summary": counts, "checks": rows}, output)


def _table(reading: Reading) -> None:
    explained = reading.explained
    console = Terminal(highlight=False, markup=False, emoji=False, soft_wrap=True)
    counted = ", ".join(f"{count} {state}" for state, count in _counts(explained).items() if count)
    console.print(f"As of {format_time(reading.as_of)}: {counted or f'there is no check {reading.place}'}.")
    rows = [("STATE", "REASON", "CHECK", "CLUSTER", "MESSAGE")]
    rows += [
        (
            str(item.verdict.state),
            printable(str(item.verdict.reason)),
            printable(f"{item.namespace}/{item.name}"),
            printable(item.cluster),
            printable(item.verdict.message),
        )
        for item in explained
    ]
    widths = [max(len(row[column]) for row in rows) + 2 for column in range(4)] + [0]
    styles = ["dim", *(STYLE[item.verdict.state] for item in explained)]
    for row, style in zip(rows if explained else [], styles, strict=False):
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        console.print(Text.assemble((cells[0], style), *cells[1:]))
