"""`tau-check diff`: what changed between two dumps or files in what people approve: registrations and templates."""

import difflib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import yaml

from ..contract.kinds import APPROVED, CHECK, REJECTED, REVIEWED_BY, TEMPLATE
from ..objects import section, spec_digest, text
from .reading import items_of, written
from .terminal import UNREADABLE, complain, printable

Object = dict[str, Any]
Key = tuple[str, str, str]
_STYLES = {"+": "green", "-": "red", "@": "cyan"}


@dataclass(frozen=True, slots=True)
class Difference:
    """One object that is not the same in both. change: added, removed, or changed; lines: of a unified diff."""

    kind: str
    namespace: str
    name: str
    change: str
    before: str
    after: str
    lines: tuple[str, ...]


@click.command(short_help="What changed in registrations and templates.")
@click.argument("before", metavar="BEFORE", type=click.Path(allow_dash=True))
@click.argument("after", metavar="AFTER", type=click.Path(allow_dash=True))
@click.option("-o", "--output", type=click.Choice(["table", "json", "name"]), default="table", show_default=True)
def diff(before: str, after: str, output: str) -> int:
    """Compares the templates and registrations of two dumps or files: specs, and who approved what.

    Everything else (runs, results, nodes, status) is left alone: it changes all the time, and nobody approves it.

    Exit codes: 0 nothing changed, 1 something did, 65 unreadable input, 64 wrong usage.

    \b
    Examples:
      tau-check diff yesterday.yaml today.yaml
      kubectl get tvc,tvt -A -o yaml | tau-check diff approved.yaml -
      tau-check diff a.yaml b.yaml -o name
    """
    if before == after == "-":
        raise click.UsageError("only one of BEFORE and AFTER can be standard input")
    old, new = _objects(before), _objects(after)
    if old is None or new is None:
        return UNREADABLE
    found = list(_differences(old, new))
    return written(lambda: _print(found, output)) or (1 if found else 0)


def _objects(file: str) -> dict[Key, Object] | None:
    """What is compared, by kind, namespace and name; None where the file cannot be read to its end (it was said)."""
    found: dict[Key, Object] = {}
    try:
        for item in items_of([file]):
            if item.value is None:
                complain(f"{item.where}: {item.problem}")
                return None
            kind, metadata = text(item.value, "kind"), section(item.value, "metadata")
            key = (kind, text(metadata, "namespace"), text(metadata, "name"))
            if kind not in (TEMPLATE, CHECK):
                continue
            if found.setdefault(key, item.value) != item.value:
                complain(f"{item.where}: another {kind} {key[2]} than the one before it")
                return None
    except OSError as error:
        complain(f"{Path(file)}: {error.strerror}")
        return None
    return found


def _differences(old: dict[Key, Object], new: dict[Key, Object]) -> Iterator[Difference]:
    for key in sorted({*old, *new}, key=lambda key: (key[0] != TEMPLATE, key)):
        one, other = old.get(key), new.get(key)
        left, right = _lines(one), _lines(other)
        if left == right:
            continue
        change = "added" if one is None else "removed" if other is None else "changed"
        lines = list(difflib.unified_diff(left, right, lineterm="", n=3))[2:]
        digests = (spec_digest(one) if one else "", spec_digest(other) if other else "")
        yield Difference(*key, change, *digests, tuple(lines))


def _lines(item: Object | None) -> list[str]:
    """What is compared of an object, as YAML with its keys in one order."""
    if item is None:
        return []
    annotations = section(section(item, "metadata"), "annotations")
    marks = {key: annotations[key] for key in (APPROVED, REJECTED, REVIEWED_BY) if key in annotations}
    shown = ({"annotations": marks} if marks else {}) | {"spec": item.get("spec")}
    return yaml.safe_dump(shown, sort_keys=True, allow_unicode=False, width=1_000_000).splitlines()


def _print(found: list[Difference], output: str) -> None:
    if output == "json":
        listed = [
            {
                "kind": each.kind,
                "namespace": each.namespace or None,
                "name": each.name,
                "change": each.change,
                "digestBefore": each.before or None,
                "digestAfter": each.after or None,
                "lines": list(each.lines),
            }
            for each in found
        ]
        click.echo(json.dumps(listed, indent=2))
        return
    for each in found:
        place = "/".join(part for part in (each.namespace, each.name) if part)
        if output == "name":
            click.echo(printable(f"{each.kind}/{place}"))
            continue
        click.secho(printable(f"{each.kind} {place} {each.change}{_digests(each)}"), bold=True)
        for line in each.lines:
            click.secho(printable(f"  {line}"), fg=_STYLES.get(line[:1]))
    if output == "table" and not found:
        click.echo("No registration and no template changed.")


def _digests(each: Difference) -> str:
    if each.before == each.after:
        return ": the spec is the same, its approval is not"
    parts = [part[:19] + "…" for part in (each.before, each.after) if part]
    return f": spec digest {' to '.join(parts)}" if parts else ""
