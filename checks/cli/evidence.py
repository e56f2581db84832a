"""`tau-check evidence`: what results list as evidence, what reading it gave, and archives of it."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..contract.clock import format_time
from ..evidence.locating import Stores
from ..facts import Verification
from ..snapshot import Explained
from .archives import Sealed, sealed_results
from .bundle import write_archive
from .reading import written
from .signing import sign_option
from .sources import Reading, Sources, source_options
from .terminal import complain, print_document, printable

if TYPE_CHECKING:
    from ..evidence.signing import SigningKey


@dataclass(frozen=True, slots=True)
class Piece:
    """One piece of evidence. sha256, size_bytes and uri are None where the result does not list it."""

    name: str
    state: str
    why: str
    required: bool
    sha256: str | None = None
    size_bytes: int | None = None
    uri: str | None = None


class _ListedByDefault(click.Group):
    """`evidence` alone is `evidence list`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Options before a command belong to the list."""
        if not args or args[0] not in (*self.commands, *self.get_help_option_names(ctx)):
            args = ["list", *args]
        return super().parse_args(ctx, args)


@click.group(cls=_ListedByDefault, short_help="Evidence of results: what reading it gave, and archives of it.")
def evidence() -> None:
    """Evidence of results. Without a command it lists."""


@evidence.command("list", short_help="Evidence of each check's newest result, and what reading it gave.")
@click.option("--check", "wanted", default="", metavar="NAMESPACE/NAME", help="Only this check.")
@click.option("-o", "--output", type=click.Choice(["table", "json", "yaml"]), default="table", show_default=True)
@source_options
def list_evidence(sources: Sources, wanted: str, output: str) -> int:
    """Lists the evidence of the newest result of each check: verified, mismatch, missing, or not read.

    Files are looked for in --evidence under their sha256, or in the stores of --store, and read: size and digest are
    compared. Without -f the cluster says what is listed.

    Exit codes: 0 all required evidence is verified, 2 some is not or there is no result, 64 wrong usage, 65 unreadable
    input, 69 the cluster is out of reach, 77 you may not read it.

    \b
    Examples:
      tau-check evidence ib-pair --namespace team-vision --store volume=file:///mnt/artifacts
      tau-check evidence -f dump.yaml --evidence evidence/
      tau-check evidence -f dump.yaml --evidence evidence/ --check team-vision/ib-pair -o json
    """
    reading = sources.read()
    explained = [item for item in reading.explained if wanted in ("", f"{item.namespace}/{item.name}")]
    if wanted and not explained:
        raise click.UsageError(f"--check: there is no check {printable(wanted)} {reading.place}")
    found = [(item, pieces(item)) for item in explained]
    sound = bool(found) and all(
        listed is not None and all(piece.state == Verification.VERIFIED for piece in listed if piece.required)
        for _, listed in found
    )
    return written(lambda: _print(found, reading, output)) or (0 if sound else 2)


@evidence.command("get", short_help="One archive per result, with its evidence.")
@click.option("--all", "every", is_flag=True, help="Every result, not only the newest of each check.")
@click.option(
    "--to",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(),
    help="Folder for the archives. Default: this one.",
)
@sign_option
@source_options
def get_evidence(sources: Sources, every: bool, to: Path, key: "SigningKey | None") -> int:
    """Writes an archive CHECK-RUN-ATTEMPT.tar for each result, as `tau-check bundle` writes one.

    It holds the envelope, the evidence, digests, and verify.py for whoever looks at it later. Evidence is read from
    --evidence or --store. What is left out, or is another than was sealed, is named here and in the archive.

    Exit codes: 0 all evidence is in the archives and matches, 2 some is not or there is no result, 64 wrong usage, 65
    unreadable input, 69 the cluster is out of reach, 77 you may not read it.

    \b
    Examples:
      tau-check evidence get ib-pair --namespace team-vision --store volume=file:///mnt/artifacts
      tau-check evidence get --all --all-namespaces --store blob=az://account/artifacts --to archives/
      tau-check evidence get -f dump.yaml --evidence evidence/ --all --to archives/
    """
    reading = sources.read()
    if reading.evidence is None:
        raise click.UsageError("say where evidence is, by --store NAME=BASE or --evidence DIRECTORY")
    wanted = {(item.cluster, item.namespace, item.name) for item in reading.explained}
    done: set[tuple[str, ...]] = set()
    wrong = 0
    to.mkdir(parents=True, exist_ok=True)
    for snapshot in reading.snapshots:
        for sealed in sealed_results(snapshot):
            check = (snapshot.cluster, sealed.namespace, sealed.check)
            own = (snapshot.cluster, sealed.namespace, sealed.result.name)
            if check not in wanted or own in done or (check in done and not every):
                continue
            done |= {check, own}
            wrong += archive(sealed, reading.evidence, to, key)
    if not done:
        complain(f"there is no result that can be read {reading.place}")
    return 0 if done and not wrong else 2


def archive(sealed: Sealed, read_from: Path | Stores, folder: Path, key: "SigningKey | None") -> int:
    """Writes the archive of one result, and says what became of each piece; how many are not as they were sealed."""
    made = sealed.bundle(read_from, key)
    path = folder / f"{made.name}.tar"
    try:
        write_archive(path, made.chunks)
    except OSError as error:
        raise click.UsageError(f"--to: {path} cannot be written: {error.strerror}") from error
    click.echo(printable(str(path)))
    for name, outcome in made.outcomes.items():
        click.echo(printable(f"  {outcome:<8}  {name}"))
    return sum(outcome != "same" for outcome in made.outcomes.values())


def pieces(item: Explained) -> list[Piece] | None:
    """The evidence of a check's newest result, what is required first; None where there is no sound result."""
    case = item.verdict.case
    if case.result is None or case.result.envelope is None:
        return None
    spec = case.registration.spec if case.registration else None
    required = spec.results.required_evidence if spec else ()
    listed = {piece.name: piece for piece in case.result.envelope.evidence}
    found = []
    for name in dict.fromkeys([*required, *listed]):
        piece, read = listed.get(name), case.result.evidence.get(name)
        if piece is None:
            found.append(Piece(name, str(Verification.MISSING), "the result does not list it", True))
            continue
        state, why = (str(read.state), read.why) if read else (str(Verification.UNVERIFIED), "it was not read")
        found.append(Piece(name, state, why, name in required, piece.sha256, piece.size_bytes, piece.uri))
    return found


def _print(found: list[tuple[Explained, list[Piece] | None]], reading: Reading, output: str) -> None:
    if output == "table":
        for item, listed in found:
            _table(item, listed)
        if not found:
            click.echo(f"There is no check {reading.place}.")
        return
    rows = [
        {
            "cluster": item.cluster,
            "namespace": item.namespace,
            "name": item.name,
            "evidence": None if listed is None else [_row(piece) for piece in listed],
        }
        for item, listed in found
    ]
    print_document({"asOf": format_time(reading.as_of), "checks": rows}, output)


def _row(piece: Piece) -> dict[str, object]:
    return {
        "name": piece.name,
        "state": piece.state,
        "why": piece.why,
        "required": piece.required,
        "sha256": piece.sha256,
        "sizeBytes": piece.size_bytes,
        "uri": piece.uri,
    }


def _table(item: Explained, listed: list[Piece] | None) -> None:
    click.secho(printable(f"{item.namespace}/{item.name} on {item.cluster}"), bold=True)
    if listed is None:
        click.echo("  no result that can be read")
    for piece in listed or []:
        needed = "required" if piece.required else "not required"
        why = f": {piece.why}" if piece.why else ""
        click.echo(printable(f"  {piece.state:<10}  {piece.name} ({needed}){why}"))
        if piece.uri:
            click.echo(printable(f"              {piece.size_bytes} bytes, sha256 {piece.sha256}, {piece.uri}"))
