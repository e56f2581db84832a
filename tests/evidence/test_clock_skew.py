"""A real store whose clock is not ours: signed addresses are refused, that is temporary, says why, and ends with it."""

import contextlib
import os
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from checks.evidence import comparing
from checks.evidence.comparing import verify
from checks.evidence.configuration import stores_from
from checks.evidence.locating import Stores
from checks.facts import Verification, Verified

from .conftest import PLACE, RUN, piece
from .emulators import AZURITE
from .servers import Azure, free_port, needs, running

DATA = b"what was seen"
CLOCK = Path(__file__).with_name("skewed_clock.js")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparing, "PAUSES", (0.01,))


@contextlib.contextmanager
def store(folder: Path, port: int, skew: timedelta) -> Iterator[Azure]:
    """Azurite on a folder that outlives it, with a clock that is ahead of ours by `skew`."""
    needs(AZURITE)
    options: list[str | Path] = ["--blobHost", "127.0.0.1", "--blobPort", str(port), "--location", folder]
    environ = os.environ | {
        "NODE_OPTIONS": f"--require {CLOCK}",
        "TAU_SKEW_SECONDS": str(int(skew.total_seconds())),
    }
    command = [AZURITE, *options, "--silent", "--skipApiVersionCheck", "--disableTelemetry"]
    with running(command, port, environ=environ):
        yield Azure(port)


def read(stores: Stores, server: Azure) -> Verified:
    return verify(stores, piece(f"{server.base}/run={RUN}/logs", DATA), PLACE)


@pytest.mark.parametrize("minutes", [15, -15])
def test_a_clock_that_is_far_off_is_a_temporary_fault_with_its_reason_and_passes(tmp_path: Path, minutes: int) -> None:
    port = free_port()
    with store(tmp_path, port, timedelta(minutes=minutes)) as server:
        server.put(f"run={RUN}/logs", DATA)
        token = server.token(timedelta(minutes=10), start=timedelta(0))  # from now, by our clock, as we sign ourselves
        known = {"endpoint": server.endpoint, "sas_token": token}
        stores = stores_from([f"main={server.base}"], lambda _, name: known.get(name, ""))
        found = read(stores, server)
        assert found.state is Verification.UNVERIFIED
        ahead = "ahead of" if minutes > 0 else "behind"
        assert found.why.startswith("the store refuses the credentials: its clock is 1")
        assert found.why.endswith(f"s {ahead} ours")
    with store(tmp_path, port, timedelta(0)):
        assert read(stores, server).state is Verification.VERIFIED


@pytest.mark.parametrize("minutes", [5, -5])
def test_a_clock_that_is_a_little_off_does_no_harm_where_the_address_is_valid_for_longer(
    tmp_path: Path, minutes: int
) -> None:
    with store(tmp_path, free_port(), timedelta(minutes=minutes)) as server:
        server.put(f"run={RUN}/logs", DATA)
        known = {"endpoint": server.endpoint, "sas_token": server.token(timedelta(minutes=10))}
        stores = stores_from([f"main={server.base}"], lambda _, name: known.get(name, ""))
        assert read(stores, server).state is Verification.VERIFIED
