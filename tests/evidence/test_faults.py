"""Stores that misbehave: never green, never a final word on what is temporary, and no credential in a sentence."""

import logging
import time

import pytest

from checks.evidence import comparing, remote
from checks.evidence.comparing import verify
from checks.evidence.configuration import stores_from
from checks.evidence.locating import Stores
from checks.facts import Verification

from .conftest import PLACE, RUN, Made, piece
from .servers import Faulty, free_port


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "READ_SECONDS", 0.5)
    monkeypatch.setattr(remote, "LEAST_BYTES_PER_SECOND", 10_000)
    monkeypatch.setattr(comparing, "PAUSES", (0.01, 0.02))


@pytest.fixture
def stores(faulty: Faulty) -> Stores:
    return stores_from(["main=s3://evidence"], faulty.option)


@pytest.fixture
def item(faulty: Faulty) -> Made:
    return piece(f"s3://evidence/run={RUN}/logs", faulty.content)


@pytest.mark.parametrize(
    ("plan", "why"),
    [
        ("500", "the store answers 500"),
        ("429", "the store answers 429"),
        ("403", "the store refuses the credentials"),
        ("silent", "the store does not answer in time"),
        ("dripping", "the store sends it too slowly"),
        ("cut", "the store broke the connection off"),
        ("sizeless", "the store does not say how large it is"),
    ],
)
def test_a_temporary_fault_leaves_the_piece_unverified_with_its_reason(
    faulty: Faulty, stores: Stores, item: Made, plan: str, why: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    faulty.plan = [plan]
    started = time.monotonic()
    found = verify(stores, item, PLACE)
    assert (found.state, found.why) == (Verification.UNVERIFIED, why)
    assert found.at is not None and time.monotonic() - started < 20
    assert len(faulty.asked) == 3
    assert "s3-reader-secret" not in caplog.text and "X-Amz-Signature" not in caplog.text


@pytest.mark.parametrize("plan", [["500", "good"], ["cut", "500", "good"], ["silent", "good"]])
def test_a_fault_that_passes_is_tried_again(faulty: Faulty, stores: Stores, item: Made, plan: list[str]) -> None:
    faulty.plan = plan
    assert verify(stores, item, PLACE).state is Verification.VERIFIED


def test_a_size_that_is_not_the_results_is_final_before_anything_is_downloaded(
    faulty: Faulty, stores: Stores, item: Made
) -> None:
    faulty.plan = ["lying"]
    found = verify(stores, item, PLACE)
    assert found.state is Verification.MISMATCH and found.why == "9007 bytes instead of 9000"
    assert len(faulty.asked) == 1


def test_missing_is_final_and_found_when_looked_at_again(faulty: Faulty, stores: Stores, item: Made) -> None:
    faulty.plan = ["404", "good"]
    assert verify(stores, item, PLACE).state is Verification.MISSING
    assert verify(stores, item, PLACE).state is Verification.VERIFIED


@pytest.mark.parametrize("status", ["301", "302", "307", "308"])
def test_no_redirect_is_followed(faulty: Faulty, stores: Stores, item: Made, status: str) -> None:
    other = Faulty()
    faulty.plan, faulty.elsewhere = [status], f"{other.endpoint}/evidence/run={RUN}/logs"
    found = verify(stores, item, PLACE)
    other.close()
    assert found.why == "the store answers with a redirect, and none is followed"
    assert other.asked == []


def test_a_store_that_is_down_is_said_to_be_so() -> None:
    def option(store: str, name: str) -> str:
        return {"endpoint": f"http://127.0.0.1:{free_port()}", "access_key_id": "a", "secret_access_key": "b"}.get(
            name, ""
        )

    found = verify(stores_from(["main=s3://evidence"], option), piece(f"s3://evidence/run={RUN}/x", b"x"), PLACE)
    assert (found.state, found.why) == (Verification.UNVERIFIED, "the store cannot be reached")
