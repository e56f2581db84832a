"""What the controller writes to stores: conditional, whole or not at all, and never over anything else."""

import hashlib
import logging
import os
import signal
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from checks.controller.artifacts import ArtifactConflict, ArtifactError, ArtifactStore, NotAsSaid, put
from checks.controller.stores import from_environment, store_at
from checks.evidence import comparing, remote
from checks.evidence.comparing import verify
from checks.evidence.configuration import stores_from
from checks.evidence.locating import Stores
from checks.facts import Verification

from .conftest import PLACE, Made, piece
from .servers import S3, Azure, Faulty, free_port

ROOT = Path(__file__).parents[2]
Server = S3 | Azure


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparing, "PAUSES", (0.01,))


@pytest.fixture(params=["moto", "azurite"])
def server(request: pytest.FixtureRequest) -> Server:
    found: Server = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def prefix(request: pytest.FixtureRequest) -> str:
    """A part of the store of its own for each test."""
    return hashlib.sha256(request.node.name.encode()).hexdigest()[:12]


@pytest.fixture
def store(server: Server, prefix: str) -> ArtifactStore:
    return store_at(f"{server.base}/{prefix}", server.writing)


def sha256_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def chunks_of(data: bytes, size: int = 1000) -> Iterator[bytes]:
    yield from (data[start : start + size] for start in range(0, len(data), size))


def state(server: Server, store: ArtifactStore, data: bytes) -> Verification:
    """What the sync finds, with credentials that can only read."""
    return verify(reading(server, store), piece(store.uri(sha256_of(data)), data), PLACE).state


def reading(server: Server, store: ArtifactStore) -> Stores:
    """The same store as the portal has it."""
    return stores_from([f"main={store.uri('').rstrip('/')}"], server.option)


@pytest.mark.parametrize("data", [b"what was seen", b"", b"line of a log\n" * 100_000])
def test_what_is_written_is_what_the_sync_verifies(server: Server, store: ArtifactStore, data: bytes) -> None:
    assert state(server, store, data) is Verification.MISSING and store.read(sha256_of(data)) is None
    first = put(store, data)
    assert first == put(store, data)  # the same bytes again: nothing happens
    assert (first.uri, first.size) == (store.uri(sha256_of(data)), len(data))
    assert state(server, store, data) is Verification.VERIFIED
    assert store.read(first.sha256) == data


@pytest.mark.parametrize("there", [b"other bytes", b"what was sEEn"])
def test_other_bytes_are_a_conflict_and_stay(
    server: Server, store: ArtifactStore, prefix: str, there: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    data = b"what was seen"
    server.put(f"{prefix}/{sha256_of(data)}", there)
    with pytest.raises(ArtifactConflict, match="other bytes stand under"):
        store.copy([data], sha256_of(data), len(data))
    assert state(server, store, data) is Verification.MISMATCH
    assert store.read(sha256_of(data)) is None
    assert put(store, data).uri.endswith(sha256_of(data))  # the reader will find it, and it is logged
    assert "other bytes stand under" in caplog.text


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ((sha256_of(b"other"), 5000), "another sha256"),
        ((sha256_of(b"x" * 5000), 4999), "larger than 4999 bytes"),
        ((sha256_of(b"x" * 5000), 5001), "5000 bytes instead of 5001"),
        ((sha256_of(b"x"), 0), "larger than 0 bytes"),
    ],
)
def test_a_stream_that_is_not_what_was_said_leaves_nothing(
    server: Server, store: ArtifactStore, said: tuple[str, int], why: str
) -> None:
    with pytest.raises(NotAsSaid, match=why):
        store.copy(chunks_of(b"x" * 5000), *said)
    assert store.read(said[0]) is None
    item = piece(store.uri(said[0]), b"")
    found = verify(reading(server, store), item, PLACE)
    assert found.state is not Verification.VERIFIED
    whole = b"x" * 5000
    store.copy(chunks_of(whole), sha256_of(whole), 5000)  # the connection is none the worse
    assert state(server, store, whole) is Verification.VERIFIED


_KILLED = """
import os, signal, sys
from checks.controller.stores import from_environment, store_at
from tests.evidence.test_uploading import FIRST, SECOND, put, sha256_of

def halves(data):
    yield data[: len(data) // 2]
    yield data[len(data) // 2 : -1]
    os.kill(os.getpid(), signal.SIGKILL)
    yield data[-1:]

store = store_at(sys.argv[1], from_environment)
put(store, FIRST)
if sys.argv[2] == "between":
    os.kill(os.getpid(), signal.SIGKILL)
store.copy(halves(SECOND), sha256_of(SECOND), len(SECOND))
"""
FIRST, SECOND = b"the first piece\n" * 1000, b"the second piece\n" * 200_000


@pytest.mark.parametrize("when", ["between", "in the middle"])
def test_a_writer_that_is_killed_leaves_whole_pieces_and_another_goes_on(
    server: Server, store: ArtifactStore, prefix: str, when: str
) -> None:
    words = ("endpoint", "sas_token", "access_key_id", "secret_access_key")
    env = {f"TAU_ARTIFACTS_{word}".upper(): server.writing(word) for word in words}
    command = [sys.executable, "-c", _KILLED, f"{server.base}/{prefix}", when]
    done = subprocess.run(command, cwd=ROOT, env=os.environ | env, check=False)
    assert done.returncode == -signal.SIGKILL
    assert state(server, store, FIRST) is Verification.VERIFIED
    assert state(server, store, SECOND) is Verification.MISSING
    for data in (FIRST, SECOND):
        put(store, data)
        assert state(server, store, data) is Verification.VERIFIED


def test_a_large_piece_is_written_in_constant_memory(server: Server, store: ArtifactStore) -> None:
    chunk, count = b"0123456789abcdef" * 16384, 160
    digest = hashlib.sha256()
    for _ in range(count):
        digest.update(chunk)
    tracemalloc.start()
    store.copy((chunk for _ in range(count)), digest.hexdigest(), count * len(chunk))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * 1024**2
    item = Made("logs", store.uri(digest.hexdigest()), digest.hexdigest(), count * len(chunk))
    assert verify(reading(server, store), item, PLACE).state is Verification.VERIFIED


def test_a_token_that_may_only_create_and_read_is_enough_and_is_read_again(azurite: Azure, tmp_path: Path) -> None:
    secret = tmp_path / "token"
    secret.write_text(azurite.token(timedelta(minutes=-5), create=True))

    def option(name: str) -> str:
        return secret.read_text() if name == "sas_token" else azurite.writing(name)

    store = store_at(f"{azurite.base}/rotated", option)
    with pytest.raises(ArtifactError, match="the store refuses the credentials"):
        put(store, b"words")
    secret.write_text(azurite.token(timedelta(minutes=5), create=True))
    put(store, b"words")
    secret.write_text(azurite.token(timedelta(minutes=5)))  # a token that can only read
    reader = store_at(f"{azurite.base}/rotated", option)
    put(reader, b"words")  # what is there is compared
    with pytest.raises(ArtifactError, match="the store refuses the credentials"):
        put(reader, b"other words")


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "READ_SECONDS", 0.5)


@pytest.mark.parametrize("status", ["301", "302", "307", "308", "500", "503", "403", "409", "412", "silent"])
def test_a_store_that_does_badly_is_a_temporary_fault_that_tells_no_secret(
    faulty: Faulty, impatient: None, status: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    other = Faulty()
    faulty.plan, faulty.elsewhere = [status, "404"], f"{other.endpoint}/evidence/x"
    store = store_at("s3://evidence", lambda name: faulty.option("", name))
    with pytest.raises(ArtifactError) as caught:
        put(store, b"words")
    other.close()
    assert other.asked == []
    assert str(caught.value).startswith("the artifact store cannot be written: ")
    assert caught.value.__cause__ is None and caught.value.__suppress_context__
    for words in (str(caught.value), caplog.text):
        assert "s3-reader-secret" not in words and "X-Amz" not in words


def test_a_store_that_is_down_is_said_to_be_so() -> None:
    options = {"endpoint": f"http://127.0.0.1:{free_port()}", "access_key_id": "a", "secret_access_key": "b"}
    store = store_at("s3://evidence", lambda name: options.get(name, ""))
    for attempt in (lambda: put(store, b"words"), lambda: store.read("0" * 64)):
        with pytest.raises(ArtifactError, match="the store cannot be reached"):
            attempt()


@pytest.mark.parametrize("base", ["s3://x", "ftp://host/x", "s3://bucket/{namespace}", "az://me:secret@account/x", ""])
def test_what_is_no_store_is_refused_when_the_controller_starts(base: str) -> None:
    with pytest.raises(ArtifactError):
        store_at(base, lambda name: "")


def test_credentials_come_from_the_environment_or_a_mounted_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TAU_ARTIFACTS_REGION", "eu-west-1")
    (tmp_path / "token").write_text("sig=1\n")
    monkeypatch.setenv("TAU_ARTIFACTS_SAS_TOKEN_FILE", str(tmp_path / "token"))
    assert [from_environment(name) for name in ("region", "sas_token", "endpoint")] == ["eu-west-1", "sig=1", ""]
