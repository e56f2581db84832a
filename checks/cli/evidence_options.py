"""Where a command reads evidence: a folder, or stores with the credentials that the portal would use."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from ..evidence.locating import Stores

Command = TypeVar("Command", bound=Callable[..., Any])
VARIABLE = "EVIDENCE_STORES"
_OPTIONS = (
    click.option(
        "--evidence",
        type=click.Path(path_type=Path, file_okay=False, exists=True),
        help="Folder of evidence files named by their sha256.",
    ),
    click.option(
        "--store",
        "stores",
        multiple=True,
        metavar="NAME=BASE",
        help=f"Store that evidence lies in. May be repeated. Default: those in {VARIABLE}.",
    ),
)


def evidence_options(command: Command) -> Command:
    """--evidence and --store."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def evidence_from(folder: Path | None, entries: tuple[str, ...]) -> Path | Stores | None:
    """What evidence is read from; None where nothing says where it is. Raises a usage error."""
    if folder is not None:
        return folder
    entries = entries or tuple(os.environ.get(VARIABLE, "").replace(",", " ").split())
    return stores_of(entries) if entries else None


def stores_of(entries: tuple[str, ...], folder: Path | None = None) -> Stores:
    """Configured stores. Raises a usage error."""
    from ..evidence.configuration import ConfigurationError, stores_from  # loads the clients of all stores

    try:
        return stores_from(entries, credential, folder)
    except ConfigurationError as error:
        raise click.UsageError(f"--store: {error}") from error


def credential(store: str, option: str) -> str:
    """One option of a store, from the environment or the file that it names; "" where there is none."""
    from ..evidence.configuration import variable

    name = variable(store, option)
    path = os.environ.get(f"{name}_FILE")
    try:
        return Path(path).read_text(encoding="utf-8").strip() if path else os.environ.get(name, "")
    except (OSError, UnicodeDecodeError):
        return ""
