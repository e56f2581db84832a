"""A sample fleet to look at and to test with: dumps of clusters in which every verdict occurs, made from a time.

`write_dumps` writes it; `advance` lets one check of it run, again and again. Needs no Django and no cluster.
"""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from .dumps import CLUSTERS, scenes_of, write_cluster, write_earlier_dump
from .living import advance, living_scene
from .scenarios import LIVING, SCENARIOS, STORIES, Scenario

__all__ = ["CLUSTERS", "LIVING", "SCENARIOS", "STORIES", "Scenario", "advance", "write_dumps", "write_earlier"]


def write_dumps(folder: Path, now: datetime) -> list[Path]:
    """Writes `<cluster>.json` of every cluster and the files of `evidence/`, relative to `now`; the dumps' paths.

    Written twice with the same `now`, the same bytes come out. What stands in the folder under these names is replaced.
    """
    now = now.astimezone(UTC)
    whole = now.replace(microsecond=0)
    (folder / "evidence").mkdir(parents=True, exist_ok=True)
    written = []
    for cluster in CLUSTERS:
        scenes = [*scenes_of(cluster, whole)]
        if cluster == LIVING.cluster:
            scenes.append(living_scene(now))
        written.append(write_cluster(folder, cluster, now, scenes))
    return written


def write_earlier(folder: Path, now: datetime) -> list[Path]:
    """Writes dumps from twelve days before: what was approved then and is different now; their paths, in `earlier/`.

    To be read before the dumps of `write_dumps`, so that a reviewer can be shown what changed since.
    """
    then, place = now.astimezone(UTC) - timedelta(days=12), folder / "earlier"
    place.mkdir(parents=True, exist_ok=True)
    return [write_earlier_dump(place, cluster, then) for cluster in ("west-1", "east-1")]
