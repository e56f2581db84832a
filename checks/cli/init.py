"""`tau-check init`: a new check from a working skeleton."""

import re
import string
from pathlib import Path

import click
import yaml

from ..contract.document import digest
from ..contract.kinds import CHECK, TEMPLATE
from . import skeleton
from .terminal import UNREADABLE, complain
from .validating import Named, problems_of

# To be replaced; a registry that does not exist cannot be pulled from by mistake.
PLACEHOLDER = "registry.example/busybox@sha256:" + "0" * 64
_NAME = re.compile(r"^[a-z]([-a-z0-9]{0,20}[a-z0-9])?$")
_IMAGE = re.compile(r"^[a-z0-9][a-z0-9._:/-]{0,200}@sha256:[0-9a-f]{64}$")
_PLAIN = re.compile(r"^[A-Za-z0-9][A-Za-z0-9 ._@()-]{0,100}$")


@click.command(short_help="A new check from a working skeleton.")
@click.argument("name")
@click.option("--namespace", default="team-vision", show_default=True, help="Workspace to register it in.")
@click.option("--image", default=PLACEHOLDER, help="Image with a shell, by digest. Default: a placeholder to replace.")
@click.option("--count", type=click.IntRange(1, 512), default=2, show_default=True, help="How many nodes it tests.")
@click.option("--title", default="", help="What people read. Default: the name.")
@click.option("--owner", default="Platform team", show_default=True, help="Who answers for it.")
@click.option("--queue", default="jobqueue", show_default=True, help="Kueue LocalQueue of the workspace.")
@click.option(
    "--directory",
    type=click.Path(path_type=Path, file_okay=False),
    help="Where to write it. Default: a new folder of the check's name.",
)
def init(
    name: str, namespace: str, image: str, count: int, title: str, owner: str, queue: str, directory: Path | None
) -> int:
    """Writes template.yaml, check.yaml and README.md of a new check that `tau-check validate` accepts as it is.

    The skeleton starts one pod on each of --count nodes; a few lines of shell look for a path and report. Change them
    to what you want to prove. Nothing that is there already is overwritten.

    \b
    Examples:
      tau-check init storage-path
      tau-check init storage-path --namespace team-search --count 1 --image registry.example/tools@sha256:4e0a…
    """
    words = {"title": title or name.replace("-", " ").capitalize(), "owner": owner}
    _insist(_NAME.fullmatch(name), "NAME", "lower-case letters, digits and -, at most 22, beginning with a letter")
    _insist(_IMAGE.fullmatch(image), "--image", "an image by digest, such as registry.example/tools@sha256:<64 hex>")
    for option, value in words.items():
        _insist(_PLAIN.fullmatch(value), f"--{option}", "letters, digits, spaces and . _ @ ( ) -")
    for option, value in (("namespace", namespace), ("queue", queue)):
        _insist(re.fullmatch(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", value), f"--{option}", "a Kubernetes name")
    values = {"NAME": name, "NAMESPACE": namespace, "IMAGE": image, "COUNT": str(count), "QUEUE": queue}
    values |= {"TITLE": words["title"], "OWNER": words["owner"], "TYPE": f"checks.example.org/{name}"}
    files = rendered(values)
    folder = directory or Path(name)
    there = [file for file in files if (folder / file).exists()]
    if there:
        complain(f"{folder / there[0]} is there already; nothing was written")
        return UNREADABLE
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, content in files.items():
            (folder / file).write_text(content, encoding="utf-8")
    except OSError as error:
        complain(f"{error.filename}: {error.strerror}")
        return UNREADABLE
    for file in files:
        click.echo(f"Wrote {folder / file}")
    if image == PLACEHOLDER:
        click.echo("Replace the image in template.yaml by one with a shell, by digest.")
    click.echo(f"Next: tau-check validate {folder}")
    click.echo(f"Then: tau-check register {folder}")
    return 0


def rendered(values: dict[str, str]) -> dict[str, str]:
    """The files of the skeleton, by name. Raises ValueError where they would not keep the contract."""
    template = string.Template(skeleton.TEMPLATE).substitute(values)
    document = yaml.safe_load(template)
    check = string.Template(skeleton.CHECK).substitute(values | {"DIGEST": digest(document["spec"])})
    problems = problems_of(Named(TEMPLATE, values["NAME"], document), [])
    problems += problems_of(Named(CHECK, values["NAME"], yaml.safe_load(check)), [document])
    if problems:
        raise ValueError("; ".join(map(str, problems)))
    return {
        "template.yaml": template,
        "check.yaml": check,
        "README.md": string.Template(skeleton.README).substitute(values),
    }


def _insist(right: object, option: str, expected: str) -> None:
    if not right:
        raise click.UsageError(f"{option}: {expected}")
