"""Stores as fixtures, and pieces of evidence to look for in them."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from checks.evidence.locating import Place

from .emulators import AZURITE, MOTO
from .servers import S3, Azure, Faulty, free_port, needs, running

RUN = "7d0f3c9a51b2e84466aa91c0"
PLACE = Place("west-1", "team-vision", "vision", RUN, "5d0c0000-0000-4000-8000-000000000001")


@dataclass(frozen=True)
class Made:
    """One piece as a result lists it."""

    name: str
    uri: str
    sha256: str
    size_bytes: int
    media_type: str = "text/plain"


def piece(uri: str, data: bytes, name: str = "logs", media_type: str = "text/plain") -> Made:
    return Made(name, uri, hashlib.sha256(data).hexdigest(), len(data), media_type)


@pytest.fixture(scope="session")
def moto() -> Iterator[S3]:
    needs(MOTO)
    port = free_port()
    with running([MOTO, "-H", "127.0.0.1", "-p", str(port)], port):
        yield S3(port)


@pytest.fixture(scope="session")
def azurite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Azure]:
    needs(AZURITE)
    port = free_port()
    folder = tmp_path_factory.mktemp("azurite")
    options: list[str | Path] = ["--blobHost", "127.0.0.1", "--blobPort", str(port), "--location", folder]
    with running([AZURITE, *options, "--silent", "--skipApiVersionCheck", "--disableTelemetry"], port):
        yield Azure(port)


@pytest.fixture
def faulty() -> Iterator[Faulty]:
    server = Faulty()
    yield server
    server.close()


@pytest.fixture
def volume(tmp_path: Path) -> Path:
    folder = tmp_path / "volume"
    folder.mkdir()
    return folder
