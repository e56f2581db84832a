"""`tau-check bundle`: one archive with a result, its evidence and a verifier that needs nothing but Python."""

import os
import tempfile
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..contract.document import canonical
from ..contract.kinds import RESULT
from ..evidence.bundle import Bundle
from ..evidence.locating import Place, Stores
from ..facts import Result
from ..objects import section, text
from ..snapshot import Explained
from .evidence_options import stores_of
from .reading import dump_options, items_of, read_dump
from .signing import sign_option
from .terminal import complain, printable

if TYPE_CHECKING:
    from ..evidence.signing import SigningKey

INCOMPLETE = 2


@click.command(short_help="One archive of a result and all its evidence.")
@dump_options
@click.option("--check", "wanted", required=True, metavar="NAMESPACE/NAME", help="Whose newest result.")
@click.option("--store", "entries", multiple=True, metavar="NAME=BASE", help="Where evidence lies. May be repeated.")
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path, dir_okay=False), help="The archive.")
@sign_option
def bundle(
    files: tuple[str, ...],
    more: tuple[str, ...],
    evidence: Path | None,
    cluster: str,
    captured_at: datetime | None,
    now: datetime | None,
    wanted: str,
    entries: tuple[str, ...],
    output: Path,
    key: "SigningKey | None",
) -> int:
    """Writes a tar with the envelope, its evidence, digests, and verify.py for whoever looks at it later.

    Evidence is read from --evidence, or from the stores that --store names, with the credentials in
    EVIDENCE_STORE_<NAME>_<OPTION>, as the portal reads it.

    Exit codes: 0 all evidence is in it and matches, 2 some is not, 64 wrong usage, 65 unreadable input.

    \b
    Examples:
      tau-check bundle -f dump.yaml --evidence evidence/ --check team-vision/ib-pair -o ib-pair.tar
      tar xf ib-pair.tar && python3 ib-pair-*/verify.py
    """
    stores = stores_of(entries, evidence)
    paths = [*files, *more]
    if "-" in paths:
        raise click.UsageError("--file: the dump is read twice, so it cannot be standard input")
    read = read_dump(paths, evidence, cluster, captured_at, now)
    if isinstance(read, int):
        return read
    found = [item for item in read[0] if f"{item.namespace}/{item.name}" == wanted]
    result = found[0].verdict.case.result if found else None
    if not found or result is None or result.envelope is None:
        raise click.UsageError(f"--check: {printable(wanted)} has no result in the dump that can be read")
    made = _bundle(found[0], result, paths, stores)
    made.key = key
    try:
        write_archive(output, made.chunks)
    except OSError as error:
        raise click.UsageError(f"--output: {output} cannot be written: {error.strerror}") from error
    for name, outcome in made.outcomes.items():
        click.echo(printable(f"{outcome:<8}  {name}"))
    wrong = [name for name, outcome in made.outcomes.items() if outcome != "same"]
    if wrong:
        complain(f"{len(wrong)} of {len(made.outcomes)} pieces are not in it as they were sealed")
    return INCOMPLETE if wrong else 0


def _bundle(item: Explained, result: Result, files: list[str], stores: Stores) -> Bundle:
    assert result.envelope is not None
    spec = next(section(each.value, "spec") for each in items_of(files) if each.value and _is(each.value, result))
    run = result.envelope.run
    place = Place(item.cluster, item.namespace, result.envelope.scope.workspace or "", run.id, run.uid)
    data = canonical(spec["envelope"])
    return Bundle(spec, data, result.envelope.evidence, lambda piece: stores.open(piece, place))


def _is(value: dict[str, Any], result: Result) -> bool:
    metadata = section(value, "metadata")
    same = (text(metadata, "uid"), text(metadata, "name")) == (result.uid, result.name)
    return text(value, "kind") == RESULT and same


def write_archive(path: Path, chunks: Callable[[], Any]) -> None:
    """The whole archive or none under its name."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.writelines(chunks())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
