"""What every command shares at its edges: times as arguments, text of unknown origin on a terminal, complaints."""

import json
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import click
import yaml
from rich.console import Console

from ..contract.clock import parse_time

PROGRAM, PLUGIN = "tau-check", "kubectl-tau_check"
UNREADABLE = 65


class Terminal(Console):
    """Where tables are shown."""

    def on_broken_pipe(self) -> None:
        """A reader that has gone is no verdict: not exit code 1, which rich would give."""
        raise BrokenPipeError


class Time(click.ParamType[datetime]):
    """A time on the command line."""

    name = "TIME"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        """The instant. A usage error names the form."""
        if isinstance(value, datetime):
            return value
        at = parse_time(value)
        if at is None:
            self.fail(f"{value!r} is not a time in UTC, such as 2026-11-30T08:24:00Z", param, ctx)
        return at


def printable(text: str) -> str:
    """Text of unknown origin for a terminal: control characters (escape sequences among them) are shown, not obeyed."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def complain(text: str) -> None:
    """One line on standard error."""
    click.echo(f"tau-check: {printable(text)}", err=True)


def program() -> str:
    """How the program was called, for commands to go on with: as itself or as a plugin of kubectl."""
    return f"kubectl {PROGRAM}" if Path(sys.argv[0]).name == PLUGIN else PROGRAM


def print_document(document: Any, output: str) -> None:
    """A value as JSON or YAML on standard output."""
    text = json.dumps(document, indent=2) if output == "json" else yaml.safe_dump(document, sort_keys=False)
    click.echo(text.rstrip("\n"))
