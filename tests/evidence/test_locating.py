"""Which addresses a result may name: everything else is refused before a store is asked."""

from pathlib import Path

import pytest

from checks.evidence.comparing import verify
from checks.evidence.configuration import ConfigurationError, stores_from
from checks.evidence.locating import Place, Stores
from checks.evidence.stores import Body, Refused
from checks.facts import Verification

from .conftest import PLACE, RUN, piece

DATA = b"what the pods said"
BASE = "s3://evidence/v2"


def nothing(store: str, option: str) -> str:
    return ""


@pytest.fixture
def stores(monkeypatch: pytest.MonkeyPatch) -> Stores:
    """Stores that fail the test when they are asked."""

    def asked(*arguments: object) -> Body:
        raise AssertionError("a refused address was asked for")

    monkeypatch.setattr("checks.evidence.remote.Remote.open", asked)
    return stores_from([f"main={BASE}", "spaces=s3://shared/{namespace}"], nothing)


@pytest.mark.parametrize(
    "uri",
    [
        f"s3://elsewhere/v2/run={RUN}/logs",
        f"https://evidence/v2/run={RUN}/logs",
        f"s3://evidence/v2x/run={RUN}/logs",
        f"{BASE}/../run={RUN}/logs",
        f"{BASE}/run={RUN}/%2e%2e/logs",
        f"{BASE}/run={RUN}/%252e%252e/logs",
        f"{BASE}/run={RUN}/a%2fb%5cc",
        f"{BASE}/run={RUN}//logs",
        f"{BASE}/run={RUN}/./logs",
        f"{BASE}/run={RUN}/logs?versionId=1",
        f"{BASE}/run={RUN}/logs#top",
        f"s3://me:secret@evidence/v2/run={RUN}/logs",
        f"{BASE}/run={RUN}/lo\ngs",
        f"{BASE}/run={RUN}/%ff",
        f"{BASE}/run=000000000000000000000000/logs",
        f"{BASE}/run=000000000000000000000000/{RUN}/logs",
        f"{BASE}/workspace=other/run={RUN}/logs",
        f"{BASE}/namespace=team-other/run={RUN}/logs",
        f"{BASE}/logs",
        f"s3://shared/team-other/run={RUN}/logs",
        BASE,
    ],
)
def test_an_address_that_this_result_may_not_name_is_refused_before_any_request(stores: Stores, uri: str) -> None:
    found = verify(stores, piece(uri, DATA), PLACE)
    assert found.state is Verification.UNVERIFIED
    assert found.why.startswith("its address ") and "secret" not in found.why


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        (f"{BASE}/project=p/experiment=_/group=g/run={RUN}/logs", f"v2/project=p/experiment=_/group=g/run={RUN}/logs"),
        (f"{BASE}/{RUN}/rank%200/a%2Bb.log", f"v2/{RUN}/rank 0/a+b.log"),
        (f"{BASE}/run={PLACE.run_uid}/logs", f"v2/run={PLACE.run_uid}/logs"),
        (f"s3://shared/team-vision/run={RUN}/logs", f"team-vision/run={RUN}/logs"),
        (f"{BASE}/workspace=vision/run={RUN}/logs", f"v2/workspace=vision/run={RUN}/logs"),
    ],
)
def test_an_address_of_this_run_is_found_in_its_store(stores: Stores, uri: str, path: str) -> None:
    assert stores.locate(piece(uri, DATA), PLACE)[1] == path


def test_a_store_by_content_takes_the_sha256_of_the_piece_and_no_other(stores: Stores) -> None:
    mine = piece(f"{BASE}/x", DATA)
    assert stores.locate(piece(f"{BASE}/{mine.sha256}", DATA), PLACE)[1] == f"v2/{mine.sha256}"
    with pytest.raises(Refused, match="does not name the run"):
        stores.locate(piece(f"{BASE}/{'0' * 64}", DATA), PLACE)


def test_a_place_without_a_workspace_reaches_nothing_that_is_kept_by_workspace() -> None:
    stores = stores_from(["main=s3://evidence/{workspace}"], nothing)
    nowhere = Place("west-1", "default", "", RUN)
    with pytest.raises(Refused):
        stores.locate(piece(f"s3://evidence//run={RUN}/logs", DATA), nowhere)


@pytest.mark.parametrize(
    ("entry", "word"),
    [
        ("s3://evidence", "NAME=BASE"),
        ("Main=s3://evidence", "NAME=BASE"),
        ("main=ftp://evidence", "'main'"),
        ("main=http://artifacts.example/x", "'main'"),
        ("main=s3://evidence?sig=abcdefghijkl", "'main'"),
        ("main=https://me:secret@acct.blob.core.windows.net/c", "'main'"),
        ("main=file:///var/../etc", "'main'"),
        ("main=file:///{namespace}/x", "'main'"),
    ],
)
def test_a_wrong_store_is_named_and_its_secret_is_not(entry: str, word: str) -> None:
    with pytest.raises(ConfigurationError, match=word) as found:
        stores_from([entry], nothing)
    assert "secret" not in str(found.value) and "abcdefghijkl" not in str(found.value)


def test_two_stores_of_one_name_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="twice"):
        stores_from(["a=s3://evidence", "a=s3://other"], nothing)


def test_a_folder_beside_a_dump_is_read_by_sha256_whatever_the_address_says(volume: Path) -> None:
    item = piece("https://artifacts.example/anything", DATA)
    (volume / item.sha256).write_bytes(DATA)
    assert verify(Stores(folder=volume), item, PLACE).state is Verification.VERIFIED
