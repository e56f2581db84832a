"""100,000 items under one run: what its envelope lists (at most 256) is evidence, and nobody asks for the rest.

No store is ever listed, so what else lies there costs nothing and is shown nowhere. On the emulators there are 1,000
items, and 100,000 with TAU_DEEP=1.
"""

import io
import os
import tarfile
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from checks.contract.document import canonical
from checks.contract.envelope import read_envelope
from checks.evidence import directory, remote
from checks.evidence.bundle import Bundle
from checks.evidence.comparing import verify
from checks.evidence.configuration import stores_from
from checks.evidence.locating import Stores
from checks.facts import Verification
from tests.contract.example import Example

from .conftest import PLACE, RUN, Made, piece
from .servers import S3, Azure

MANY = 100_000
ON_EMULATORS = MANY if os.environ.get("TAU_DEEP") == "1" else 1_000
LISTED = [0, 1, 500, 999]


def content(number: int) -> bytes:
    return f"item {number}".encode()


def check(stores: Stores, base: str, asked: list[str]) -> None:
    """Everything that is done with a run's evidence. asked: what was opened in the store."""
    items = [piece(f"{base}/run={RUN}/{number}", content(number), f"item-{number}") for number in LISTED]
    tracemalloc.start()
    assert {verify(stores, item, PLACE).state for item in items} == {Verification.VERIFIED}
    assert sorted(names_in(bundle(stores, items))) == sorted(f"item-{number}" for number in LISTED)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * 1024**2
    assert sorted(set(asked)) == sorted(f"run={RUN}/{number}" for number in LISTED)
    assert len(asked) == 2 * len(LISTED)


def bundle(stores: Stores, items: list[Made]) -> bytes:
    spec = Example().result["spec"]
    spec["envelope"]["evidence"] = [{"name": item.name, "sha256": item.sha256} for item in items]
    made = Bundle(spec, canonical(spec["envelope"]), items, lambda item: stores.open(item, PLACE))
    return b"".join(made.chunks())


def names_in(archive: bytes) -> list[str]:
    with tarfile.open(fileobj=io.BytesIO(archive)) as opened:
        return [name.rpartition("/")[2] for name in opened.getnames() if "/evidence/" in name]


def test_in_a_directory(volume: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = volume / f"run={RUN}"
    run.mkdir()
    for number in range(MANY):
        (run / str(number)).write_bytes(content(number))
    asked: list[str] = []
    _note_opened(monkeypatch, directory.Directory, asked)
    monkeypatch.setattr(os, "listdir", _refuse)
    monkeypatch.setattr(os, "scandir", _refuse)
    check(stores_from([f"main=file://{volume}"], lambda *_: ""), f"file://{volume}", asked)


@pytest.mark.parametrize("kind", ["moto", "azurite"])
def test_in_a_bucket_or_container(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    server: S3 | Azure = request.getfixturevalue(kind)
    with ThreadPoolExecutor(16) as pool:
        for _ in pool.map(lambda number: server.put(f"run={RUN}/{number}", content(number)), range(ON_EMULATORS)):
            pass
    asked: list[str] = []
    _note_opened(monkeypatch, remote.Remote, asked)
    check(stores_from([f"main={server.base}"], server.option), server.base, asked)


def _note_opened(monkeypatch: pytest.MonkeyPatch, kind: type, asked: list[str]) -> None:
    before = kind.open  # type: ignore[attr-defined]

    def opened(self: object, path: str, *more: object) -> object:
        asked.append(path)
        return before(self, path, *more)

    monkeypatch.setattr(kind, "open", opened)


def _refuse(*arguments: object) -> None:
    raise AssertionError("the store was listed")


def test_an_envelope_that_lists_more_than_256_is_refused_whole() -> None:
    example = Example()
    [first, *_] = example.envelope["evidence"]
    for count, is_sound in ((256, True), (257, False), (MANY, False)):
        envelope = example.envelope | {"evidence": [first | {"name": f"item-{number}"} for number in range(count)]}
        read = read_envelope(envelope)
        assert (read.envelope is not None and not read.problems) is is_sound, count
        assert len(read.problems) < 50
