"""The dumps of the sample fleet and their evidence, as files: one JSON document per object, one object per line."""

import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path

from .nodes import nodes
from .objects import Object, dump_head, guard, namespace
from .queues import QUOTA, queues
from .scenarios import SCENARIOS
from .scenarios.approvals import outdated
from .scene import Scene
from .templates import BEFORE, template, templates

CLUSTERS = ("west-1", "east-1", "north-1", "south-1")
INCOMPLETE, UNGUARDED = "north-1", "south-1"


def cluster_objects(cluster: str, now: datetime) -> Iterator[Object]:
    """What a cluster holds beside its checks."""
    for name in (*QUOTA[cluster], "tau-system"):
        yield namespace(cluster, name, now)
    if cluster != UNGUARDED:
        yield from guard(cluster, now)
    yield from nodes(cluster, now)
    yield from queues(cluster, now)
    yield from templates(cluster, now)


def write_cluster(folder: Path, cluster: str, captured_at: datetime, scenes: Iterable[Scene]) -> Path:
    """Writes the dump of one cluster; its evidence goes to the folder beside it."""
    now = captured_at.replace(microsecond=0)
    head = dump_head(cluster, captured_at, complete=cluster != INCOMPLETE)
    objects = [head, *cluster_objects(cluster, now)]
    for scene in scenes:
        objects += scene.objects
        write_evidence(folder / "evidence", scene)
    return write_lines(folder / f"{cluster}.json", map(line, objects))


def write_earlier_dump(folder: Path, cluster: str, captured_at: datetime) -> Path:
    """Writes what a cluster held when its checks were approved: templates and registrations that are different now.

    The dump is not complete, and says so.
    """
    now = captured_at.replace(microsecond=0)
    objects = [dump_head(cluster, captured_at, complete=False)]
    objects += [template(cluster, name, spec, now) for name, spec in BEFORE.items()]
    for scenario in SCENARIOS:
        if scenario.cluster == cluster and scenario.stage is outdated:
            scene = scenario.build(now)
            scene.objects.clear()
            scene.register()
            objects += scene.objects
    return write_lines(folder / f"{cluster}.json", map(line, objects))


def scenes_of(cluster: str, now: datetime) -> Iterator[Scene]:
    """The checks of a cluster at a time of whole seconds."""
    return (scenario.build(now) for scenario in SCENARIOS if scenario.cluster == cluster)


def write_evidence(folder: Path, scene: Scene) -> None:
    """Files named by their sha256; one that cannot be read is a link to a volume that is not mounted."""
    for sha256, content in scene.evidence.items():
        path = folder / sha256
        if content is None:
            path.unlink(missing_ok=True)
            path.symlink_to(Path("volume-not-mounted") / sha256)
        elif path.is_symlink() or not path.exists() or path.read_bytes() != content:
            path.unlink(missing_ok=True)
            path.write_bytes(content)


def line(item: Object) -> bytes:
    """One object as one line of JSON."""
    return json.dumps(item, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def write_lines(path: Path, lines: Iterable[bytes]) -> Path:
    """Replaces a file in one step, so that a reader sees the old one or the new one."""
    draft = path.with_suffix(".draft")
    draft.write_bytes(b"".join(lines))
    return draft.replace(path)
