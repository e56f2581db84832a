"""Who holds the Lease: one at a time, the next one when it is given back, or silent for as long as it said."""

import copy
import threading
import time
from typing import Any

import pytest

from checks.cluster.errors import Unreachable
from checks.cluster.writing import AlreadyExists, Conflict
from checks.controller.lease import Lease


class OneLease:
    """The part of an API server that keeps one Lease, with versions."""

    def __init__(self) -> None:
        self.item: dict[str, Any] | None = None
        self.reachable = True

    def get(self, path: str) -> dict[str, Any] | None:
        if not self.reachable:
            raise Unreachable("refused")
        return copy.deepcopy(self.item)

    def create(self, path: str, body: dict[str, Any]) -> None:
        if self.item is not None:
            raise AlreadyExists("it is there")
        self.item = body | {"metadata": body["metadata"] | {"resourceVersion": "1"}}

    def replace(self, path: str, body: dict[str, Any]) -> None:
        assert self.item is not None
        version = self.item["metadata"]["resourceVersion"]
        if body["metadata"]["resourceVersion"] != version:
            raise Conflict("it has changed")
        self.item = body | {"metadata": body["metadata"] | {"resourceVersion": version + "1"}}


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds of this process; a test sets them."""
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


def lease(api: OneLease, holder: str, seconds: float = 15) -> Lease:
    return Lease(api, "tau-system", holder, seconds)  # type: ignore[arg-type]


def takes(one: Lease) -> bool:
    """Whether it gets the Lease at the first try."""
    stop = threading.Event()
    got: list[bool] = []
    worker = threading.Thread(target=lambda: got.append(one.acquire(stop)))
    worker.start()
    worker.join(0.2)
    stop.set()
    worker.join(10)
    return got == [True]


def test_the_first_one_takes_it_and_a_second_one_waits(clock: list[float]) -> None:
    api = OneLease()
    assert takes(lease(api, "a"))
    assert not takes(lease(api, "b"))


def test_it_is_free_as_soon_as_it_is_given_back(clock: list[float]) -> None:
    api = OneLease()
    first = lease(api, "a")
    assert takes(first)
    first.release()
    assert takes(lease(api, "b"))
    first.release()
    assert api.item is not None
    assert api.item["spec"]["holderIdentity"] == "b"


def test_a_silent_holder_loses_it_after_the_time_that_it_stated(clock: list[float]) -> None:
    api = OneLease()
    assert takes(lease(api, "a", seconds=30))
    second = lease(api, "b", seconds=1)
    assert not takes(second)
    clock[0] = 30.0
    assert not takes(second)
    clock[0] = 30.1
    assert takes(second)


def test_a_holder_that_renews_keeps_it_however_wrong_its_clock_is(clock: list[float]) -> None:
    api = OneLease()
    first, second = lease(api, "a"), lease(api, "b")
    assert takes(first)
    for seconds in (10, 20, 30, 40):
        clock[0] = float(seconds)
        assert takes(first)
        assert not takes(second)


def test_a_holder_that_cannot_renew_gives_up_before_another_may_take_it(clock: list[float]) -> None:
    api = OneLease()
    first = lease(api, "a", seconds=0.5)
    assert takes(first)
    api.reachable = False
    clock[0] = 100.0
    held: list[bool] = []
    worker = threading.Thread(target=lambda: held.append(first.hold(threading.Event())))
    worker.start()
    worker.join(0.3)
    clock[0] = 100.4
    worker.join(5)
    assert held == [False]


def test_a_holder_whose_lease_another_has_taken_stops(clock: list[float]) -> None:
    api = OneLease()
    first = lease(api, "a", seconds=0.5)
    assert takes(first)
    assert api.item is not None
    api.item["spec"]["holderIdentity"] = "b"
    assert first.hold(threading.Event()) is False
