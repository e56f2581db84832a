"""Reading and comparing, on a directory, on Azurite and on moto's S3 as real servers."""

import hashlib
import os
import tracemalloc
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from urllib.parse import quote

import pytest

from checks.evidence import comparing
from checks.evidence.comparing import verify
from checks.evidence.configuration import stores_from
from checks.evidence.locating import Stores
from checks.evidence.stores import Missing, Unavailable
from checks.facts import Verification

from .conftest import PLACE, RUN, piece
from .servers import S3, Azure

DATA = b"line of a log\n" * 50_000
NAMES = ["plain.log", "two words.log", "per%cent", "plus+and&and=.txt", "ümläut-日本", "a:b;c,d'e!(f)*$@", "~tilde~"]


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparing, "PAUSES", (0.01,))


def quoted(name: str) -> str:
    return quote(name, safe="=")


def check_store(stores: Stores, base: str, server: S3 | Azure) -> None:
    good = piece(f"{base}/run={RUN}/logs", DATA)
    assert verify(stores, good, PLACE).state is Verification.MISSING
    server.put(f"run={RUN}/logs", DATA)
    found = verify(stores, good, PLACE)
    assert (found.state, found.reader, found.why) == (Verification.VERIFIED, "stores-1", "")
    server.put(f"run={RUN}/logs", DATA[:-1] + b"X")
    assert verify(stores, good, PLACE).why == "another sha256"
    server.put(f"run={RUN}/logs", DATA + b"more")
    longer = verify(stores, good, PLACE)
    assert longer.state is Verification.MISMATCH and longer.why == f"{len(DATA) + 4} bytes instead of {len(DATA)}"
    server.delete(f"run={RUN}/logs")
    assert verify(stores, good, PLACE).state is Verification.MISSING
    empty = piece(f"{base}/run={RUN}/empty", b"")
    server.put(f"run={RUN}/empty", b"")
    assert verify(stores, empty, PLACE).state is Verification.VERIFIED
    for name in NAMES:
        server.put(f"run={RUN}/{name}", name.encode())
        odd = piece(f"{base}/run={RUN}/{quoted(name)}", name.encode())
        assert verify(stores, odd, PLACE).state is Verification.VERIFIED, name
    check_ranges(stores, base, server)


def check_ranges(stores: Stores, base: str, server: S3 | Azure) -> None:
    server.put(f"run={RUN}/ranged", DATA)
    with stores.open(piece(f"{base}/run={RUN}/ranged", DATA), PLACE, 1000, 1010) as body:
        assert (body.size, b"".join(body.chunks)) == (len(DATA), DATA[1000:1010])
    with stores.open(piece(f"{base}/run={RUN}/ranged", DATA), PLACE, len(DATA) - 5) as body:
        assert b"".join(body.chunks) == DATA[-5:]


def test_s3_as_a_real_server(moto: S3) -> None:
    check_store(stores_from([f"main={moto.base}"], moto.option), moto.base, moto)


def test_azure_blob_as_a_real_server(azurite: Azure) -> None:
    check_store(stores_from([f"main={azurite.base}"], azurite.option), azurite.base, azurite)


def test_azure_takes_a_read_only_sas_and_a_new_one_without_a_restart(azurite: Azure) -> None:
    mounted = {"sas_token": azurite.token(timedelta(minutes=-5)), "endpoint": azurite.endpoint}
    stores = stores_from([f"main={azurite.base}"], lambda _, name: mounted.get(name, ""))
    azurite.put(f"run={RUN}/sas", DATA)
    item = piece(f"{azurite.base}/run={RUN}/sas", DATA)
    refused = verify(stores, item, PLACE)
    assert (refused.state, refused.why) == (Verification.UNVERIFIED, "the store refuses the credentials")
    mounted["sas_token"] = azurite.token(timedelta(minutes=5))
    assert verify(stores, item, PLACE).state is Verification.VERIFIED


@pytest.fixture
def local(volume: Path) -> Stores:
    return stores_from([f"main=file://{volume}"], lambda store, option: "")


def test_a_directory_gives_its_files_and_nothing_through_a_link(volume: Path, local: Stores, tmp_path: Path) -> None:
    run = volume / f"run={RUN}"
    run.mkdir()
    (run / "logs").write_bytes(DATA)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "logs").write_bytes(DATA)
    (run / "link").symlink_to(outside / "logs")
    (volume / "deep").mkdir()
    (volume / "deep" / f"run={RUN}").symlink_to(outside)
    os.mkfifo(run / "pipe")
    base = f"file://{volume}"
    assert verify(local, piece(f"{base}/run={RUN}/logs", DATA), PLACE).state is Verification.VERIFIED
    for path in (f"run={RUN}/link", f"deep/run={RUN}/logs"):
        found = verify(local, piece(f"{base}/{path}", DATA), PLACE)
        assert (found.state, found.why) == (Verification.UNVERIFIED, "its path goes through a link or a file")
    assert verify(local, piece(f"{base}/run={RUN}/pipe", DATA), PLACE).why == "it is not a file"
    assert verify(local, piece(f"{base}/run={RUN}", DATA), PLACE).why == "it is not a file"


def test_a_volume_that_is_not_mounted_is_the_stores_fault(volume: Path, local: Stores) -> None:
    item = piece(f"file://{volume}/run={RUN}/logs", DATA)
    with pytest.raises(Missing):
        local.open(item, PLACE)
    volume.rmdir()
    with pytest.raises(Unavailable, match="directory cannot be opened"):
        local.open(item, PLACE)


def test_a_large_file_is_read_in_constant_memory(volume: Path, local: Stores) -> None:
    with (volume / "x").open("wb") as stream:
        stream.truncate(300 * 1024**2)
    digest = hashlib.sha256()
    for _ in range(300):
        digest.update(bytes(1024**2))
    (volume / "x").rename(volume / digest.hexdigest())
    item = piece(f"file://{volume}/{digest.hexdigest()}", b"")
    tracemalloc.start()
    found = verify(local, replace(item, sha256=digest.hexdigest(), size_bytes=300 * 1024**2), PLACE)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.state is Verification.VERIFIED and peak < 4 * 1024**2
