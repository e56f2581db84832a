"""Two versions of a document side by side."""

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.review.difference import Change, Line, Piece, alone, changes, compare, fold, lines_of

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)


def shown(pieces: tuple[Piece, ...]) -> str:
    return "".join(piece.text for piece in pieces)


def marked(pieces: tuple[Piece, ...]) -> list[str]:
    return [piece.text for piece in pieces if piece.marked]


def only_changes(lines: list[Line]) -> list[tuple[str, str, str]]:
    return [
        (str(line.change), shown(line.left).strip(), shown(line.right).strip())
        for line in lines
        if line.change is not Change.SAME
    ]


def test_a_changed_value_is_one_row_with_only_the_change_marked() -> None:
    (line,) = [x for x in compare({"image": "a@sha256:11"}, {"image": "a@sha256:12"}) if x.change is not Change.SAME]
    assert (marked(line.left), marked(line.right)) == (["1"], ["2"])
    assert (shown(line.left), shown(line.right)) == ("image: a@sha256:11", "image: a@sha256:12")


def test_a_new_key_does_not_shift_what_stands_below_it() -> None:
    before = {"containers": [{"name": "rank", "image": "x"}], "restartPolicy": "Never"}
    after = {"containers": [{"name": "rank", "image": "x", "command": ["sh", "-c"]}], "restartPolicy": "Never"}
    assert only_changes(compare(before, after)) == [
        ("added", "", "command:"),
        ("added", "", "- sh"),
        ("added", "", "- -c"),
    ]


def test_what_was_removed_is_on_the_left_alone() -> None:
    assert only_changes(compare({"a": 1, "hostNetwork": True}, {"a": 1})) == [("removed", "hostNetwork: true", "")]


def test_the_order_of_keys_is_no_difference() -> None:
    assert changes(compare({"a": 1, "b": {"c": 2, "d": 3}}, {"b": {"d": 3, "c": 2}, "a": 1})) == 0


def test_a_script_is_shown_line_by_line() -> None:
    before, after = {"args": ["set -e\nrun\nexit\n"]}, {"args": ["set -e\nrun --fast\nexit\n"]}
    assert only_changes(compare(before, after)) == [("changed", "run", "run --fast")]


@pytest.mark.parametrize("hidden", ["\u202e", "\u200b", "\x1b[2K", "\u2066", "\x00", "\r"])
def test_characters_that_hide_or_reorder_text_stand_escaped(hidden: str) -> None:
    text = "\n".join(lines_of({"args": [f"run {hidden}safe\nsecond line"]}))
    assert hidden not in text
    assert "\\" in text


def test_equal_stretches_fold_and_every_change_keeps_its_surroundings() -> None:
    before: dict[str, Any] = {f"key{n:03}": n for n in range(100)}
    folded = fold(compare(before, before | {"key050": -1}))
    assert [line.folded for line in folded if line.change is Change.FOLDED] == [47, 46]
    assert len(folded) == 2 + 7


def test_a_document_alone_has_every_line_on_the_right() -> None:
    assert [(line.after, shown(line.right)) for line in alone({"b": 1, "a": 2})] == [(1, "a: 2"), (2, "b: 1")]


@given(JSON, JSON)
def test_whatever_is_compared_each_side_shows_its_whole_document(before: Any, after: Any) -> None:
    lines = compare(before, after)
    assert [shown(line.left) for line in lines if line.before] == lines_of(before)
    assert [shown(line.right) for line in lines if line.after] == lines_of(after)
    assert [line.before for line in lines if line.before] == list(range(1, len(lines_of(before)) + 1))
    assert (changes(lines) == 0) == (lines_of(before) == lines_of(after))


@given(JSON)
def test_a_document_has_no_difference_to_itself(document: Any) -> None:
    assert changes(compare(document, document)) == 0


def test_very_long_documents_are_compared_in_bounded_time() -> None:
    before, after = ({"env": [f"{word}{n}" for n in range(20_000)]} for word in ("left", "right"))
    began = time.perf_counter()
    assert changes(compare(before, after)) == 20_000
    assert time.perf_counter() - began < 5
