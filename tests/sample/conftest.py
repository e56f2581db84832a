"""The sample fleet, written once for all tests of it, and read as any dump is read."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from checks.dump import read_files
from checks.sample import write_dumps
from checks.snapshot import Explained, snapshots

NOW = datetime(2026, 11, 30, 8, 24, 11, 250_000, tzinfo=UTC)
Place = tuple[str, str, str]


def explain(paths: list[Path], evidence: Path) -> dict[Place, Explained]:
    """The verdict of every check, by cluster, namespace and name, as of the dumps' own time."""
    found = snapshots(read_files(paths), "", None)
    assert not [problem for snapshot in found for problem in snapshot.problems]
    every = (item for snapshot in found for item in snapshot.explain(snapshot.captured_at, evidence))
    return {(item.cluster, item.namespace, item.name): item for item in every}


@pytest.fixture(scope="session")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a sample written at NOW. Nobody changes it."""
    folder = tmp_path_factory.mktemp("fleet")
    write_dumps(folder, NOW)
    return folder


@pytest.fixture(scope="session")
def explained(fleet: Path) -> dict[Place, Explained]:
    """Every check of the sample with its verdict."""
    return explain(sorted(fleet.glob("*.json")), fleet / "evidence")
