"""`tau-check dump`: what the caller may read of a cluster, as one file for whoever looks at it elsewhere."""

import json
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import click
import yaml

from .. import __version__
from ..contract.clock import format_time
from ..contract.kinds import API_VERSION
from ..evidence.locating import Stores
from ..facts import Result
from ..snapshot import Snapshot
from .archives import Sealed, sealed_results
from .connecting import Caller, cluster_options
from .evidence_options import evidence_from, evidence_options
from .reading import written
from .refusals import in_words
from .terminal import complain, printable, program
from .withholding import withheld

Object = dict[str, Any]
INCOMPLETE = 2


@click.command(short_help="A support bundle of what you may read.")
@click.option("-A", "--all-namespaces", "everywhere", is_flag=True, help="Every namespace of the cluster.")
@click.option(
    "--known-as", default="", metavar="NAME", help="Name of the cluster in its results, where it does not say."
)
@click.option("--to", type=click.Path(path_type=Path, dir_okay=False), help="File to write. Default: standard output.")
@click.option(
    "--with-evidence",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Also copy the evidence of every result into this folder, by sha256.",
)
@click.option("-o", "--output", type=click.Choice(["yaml", "json"]), default="yaml", show_default=True)
@evidence_options
@cluster_options
def dump(
    everywhere: bool,
    known_as: str,
    to: Path | None,
    folder: Path | None,
    output: str,
    evidence: Path | None,
    stores: tuple[str, ...],
    caller: Caller,
) -> int:
    """Writes templates, registrations, runs, results, nodes, queues and policies, as far as you may read them.

    No secret is in it: values of environment variables and whatever looks like a credential are withheld, nodes are cut
    down to identity, capacity and conditions, and Secrets, ConfigMaps, pods and logs are not read at all. What could
    not be read is named in it. `tau-check explain -f` and the portal's `load_dump` read it; a dump of one namespace
    stands for its whole cluster there.

    Exit codes: 0 everything that verdicts need is in it, 2 something is not, 64 wrong usage, 69 the cluster is out of
    reach, 77 you may not read the checks.

    \b
    Examples:
      tau-check dump --namespace team-vision --to dump.yaml
      tau-check dump --all-namespaces -o json | gzip > west-1.json.gz
      tau-check dump -n team-vision --to dump.yaml --with-evidence evidence --store volume=file:///mnt/artifacts
      tau-check explain -f dump.yaml --evidence evidence
    """
    from ..cluster.gathering import gather

    read_from = evidence_from(evidence, stores)
    if folder is not None and read_from is None:
        raise click.UsageError("--with-evidence: say where evidence is, by --store NAME=BASE or --evidence DIRECTORY")
    place = "" if everywhere else caller.namespace
    gathered = gather(caller.api, place, known_as, queues=True)
    head: Object = {
        "apiVersion": API_VERSION,
        "kind": "TauDump",
        "metadata": {"name": gathered.cluster},
        "capturedAt": format_time(gathered.at),
        "complete": gathered.complete,
        "toolVersion": __version__,
        "objects": len(gathered.objects),
        **({"namespaces": [place]} if place else {}),
    }
    whys = [in_words(error) for error in gathered.unread.values()]
    if whys:
        head["unread"] = whys
    cleaned = [withheld(item) for item in gathered.objects]
    objects = [head, *(item for item, _ in cleaned)]
    with _stream(to) as stream:
        code = written(lambda: _write(objects, stream, output))
    if code:
        return code
    for why in whys:
        complain(f"not in it: {why}")
    missing = _copy(gathered.snapshot(), read_from, folder) if folder is not None and read_from is not None else 0
    count = sum(number for _, number in cleaned)
    hidden = f"; {count} values were withheld" if count else ""
    click.echo(f"{len(objects) - 1} objects of {printable(gathered.cluster)}{hidden}.", err=True)
    if to is not None:
        more = f" --evidence {folder}" if folder else ""
        click.echo(f"Next: {program()} explain -f {to}{more}", err=True)
    return 0 if gathered.complete and not missing else INCOMPLETE


@contextmanager
def _stream(path: Path | None) -> Iterator[IO[str]]:
    """Standard output, or the file, which is there whole or not at all; only its owner reads it."""
    if path is None:
        yield sys.stdout
        return
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    except OSError as error:
        raise click.UsageError(f"--to: {path} cannot be written: {error.strerror}") from error
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            yield stream
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _write(objects: list[Object], stream: IO[str], output: str) -> None:
    for item in objects:
        if output == "json":
            stream.write(json.dumps(item, ensure_ascii=False, separators=(",", ":")) + "\n")
        else:
            stream.write("---\n" + yaml.dump(item, Dumper=_Plain, sort_keys=False, allow_unicode=True))
    stream.flush()


class _Plain(yaml.CSafeDumper):
    """YAML without anchors, which the reader of dumps refuses."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _copy(snapshot: Snapshot, read_from: Path | Stores, folder: Path) -> int:
    """Copies every piece that is as it was sealed; how many were not, each of which was said."""
    folder.mkdir(parents=True, exist_ok=True)
    missing = 0
    for sealed in sealed_results(snapshot):
        missing += _pieces(sealed, sealed.result, read_from, folder)
    return missing


def _pieces(sealed: Sealed, result: Result, read_from: Path | Stores, folder: Path) -> int:
    missing = 0
    for piece in result.envelope.evidence if result.envelope else ():
        target = folder / piece.sha256
        if target.exists():
            continue
        why = sealed.copy(piece, read_from, target)
        if why:
            complain(f"evidence {piece.name} of {result.name} is not in it: {why}")
            missing += 1
    return missing
