"""The short way to canonical bytes gives what the long way gives, or leaves the value to it."""

from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from checks.contract.document import MAX_DEPTH, ordinary, plain

LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats()
    | st.sampled_from([0.0, -0.0, 1e21, 1e-7, 2.0, 0.1, 123456789012345.6])
    | st.text(st.characters(exclude_categories=[]), max_size=8)
)
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4)
)


@given(VALUES)
def test_what_it_gives_is_canonical_and_plain(value: Any) -> None:
    data = ordinary(value)
    if data is not None:
        assert plain(value) == (value, [])
        assert data == rfc8785.dumps(value)


@pytest.mark.parametrize("levels", range(MAX_DEPTH - 2, MAX_DEPTH + 3))
@pytest.mark.parametrize("end", [1, [], {}, [1]], ids=["a number", "a list", "an object", "a list of one"])
def test_it_stops_where_a_value_gets_too_deep(levels: int, end: Any) -> None:
    value = end
    for level in range(levels):
        value = [value] if level % 2 else {"a": value}
    assert (ordinary(value) is None) == bool(plain(value)[1])


def test_it_takes_an_envelope_with_measurements() -> None:
    assert ordinary({"details": {"busBandwidth": 368.4, "ranks": [0, 1]}, "outcome": "passed"}) is not None


class Special(str):
    """A string that may be more than one."""


@pytest.mark.parametrize("value", [{1: 2}, {"a": (1, 2)}, {"a": Special("x")}, {"a": b"x"}, "text", 1, None, {"a"}])
def test_it_leaves_what_is_not_beyond_doubt(value: Any) -> None:
    assert ordinary(value) is None
