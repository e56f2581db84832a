"""What pods left on their volume, brought to the store: exactly what they said, or nothing."""

import hashlib
import os
from pathlib import Path

import pytest

from checks.contract.report import ReportedEvidence
from checks.controller.artifacts import ArtifactError, ArtifactFolder
from checks.controller.pod_files import PodFiles

from .conftest import RUN
from .servers import S3

DATA = b"what the rank logged\n" * 1000


def reported(data: bytes = DATA, name: str = "nccl-log", size: int | None = None) -> ReportedEvidence:
    size = len(data) if size is None else size
    return ReportedEvidence(name=name, sha256=hashlib.sha256(data).hexdigest(), sizeBytes=size)


@pytest.fixture
def store(tmp_path: Path) -> ArtifactFolder:
    return ArtifactFolder(f"file://{tmp_path}/artifacts")


@pytest.fixture
def pods(volume: Path) -> PodFiles:
    """The volume of team-vision, mounted in a folder of its own."""
    (volume / "team-vision").mkdir()
    return PodFiles(f"file://{volume}/{{namespace}}", limit=100_000)


@pytest.fixture
def rank(volume: Path, pods: PodFiles) -> Path:
    folder = volume / "team-vision" / f"run={RUN}" / "rank=1"
    folder.mkdir(parents=True)
    return folder


def bring(pods: PodFiles, store: ArtifactFolder, item: ReportedEvidence, rank: int = 1) -> str:
    return pods.bring(store, "team-vision", RUN, rank, item)


@pytest.mark.parametrize("layout", ["by run and rank", "by content"])
def test_a_piece_is_brought_from_either_layout(
    volume: Path, pods: PodFiles, rank: Path, store: ArtifactFolder, layout: str
) -> None:
    item = reported()
    place = rank / item.name if layout == "by run and rank" else volume / "team-vision" / item.sha256
    assert bring(pods, store, item) == "it is not in the directory"
    place.write_bytes(DATA)
    assert bring(pods, store, item) == "" == bring(pods, store, item)
    assert store.read(item.sha256) == DATA
    place.unlink()
    assert store.read(item.sha256) == DATA


def test_what_is_not_what_was_said_stays_away(pods: PodFiles, rank: Path, store: ArtifactFolder) -> None:
    item = reported()
    (rank / item.name).write_bytes(DATA[:-1] + b"!")
    assert bring(pods, store, item) == "it has another sha256"
    (rank / item.name).write_bytes(DATA + b"!")
    assert bring(pods, store, item) == f"it has {len(DATA) + 1} bytes instead of {len(DATA)}"
    assert bring(pods, store, reported(size=100_001)) == "it is larger than 100000 bytes"
    assert bring(pods, store, item, rank=0) == "it is not in the directory"
    assert store.read(item.sha256) is None


def test_nothing_outside_the_volume_is_brought_and_nothing_in_it_stops_a_run(
    volume: Path, pods: PodFiles, rank: Path, store: ArtifactFolder, tmp_path: Path
) -> None:
    item = reported()
    outside = tmp_path / "outside"
    outside.write_bytes(DATA)
    (rank / item.name).symlink_to(outside)
    assert bring(pods, store, item) == "its path goes through a link or a file"
    (rank / item.name).unlink()
    os.mkfifo(rank / item.name)
    assert bring(pods, store, item) == "it is not a file"
    elsewhere = volume / "team-audio" / f"run={RUN}" / "rank=1"
    elsewhere.mkdir(parents=True)
    (elsewhere / item.name).write_bytes(DATA)
    (rank / item.name).unlink()
    assert bring(pods, store, item) == "it is not in the directory"
    assert store.read(item.sha256) is None


def test_a_volume_that_is_not_mounted_is_tried_again(volume: Path, store: ArtifactFolder) -> None:
    with pytest.raises(ArtifactError, match="not mounted"):
        bring(PodFiles(f"file://{volume}/not-there/{{namespace}}"), store, reported())


@pytest.mark.parametrize("base", ["/var/pods", "s3://bucket", "file:///pods/{workspace}", "file:///pods?x", ""])
def test_what_is_no_folder_is_refused_when_the_controller_starts(base: str) -> None:
    with pytest.raises(ArtifactError):
        PodFiles(base)


def test_a_piece_goes_from_the_volume_to_a_bucket(moto: S3, pods: PodFiles, rank: Path) -> None:
    from checks.controller.stores import store_at

    item = reported()
    (rank / item.name).write_bytes(DATA)
    bucket = store_at(f"{moto.base}/brought", moto.writing)
    assert pods.bring(bucket, "team-vision", RUN, 1, item) == ""
    assert bucket.read(item.sha256) == DATA
