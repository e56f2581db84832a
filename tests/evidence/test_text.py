"""Text made to be looked at: bounded whatever it holds, and nothing in it is obeyed."""

import hashlib
import json
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.evidence import text
from checks.evidence.ansi import Span, Terminal, plain
from checks.evidence.locating import Stores
from checks.evidence.text import is_shown, lay_out, read_text

from .conftest import PLACE, Made, piece

LOOKS = {"", "bold"} | {
    f"{c}{b}" for c in ("red", "green", "white", "black", "blue", "yellow", "cyan", "magenta") for b in ("", " bold")
}


def put(volume: Path, data: bytes, media_type: str = "text/plain") -> tuple[Stores, Made]:
    item = piece("s3://x/y", data, media_type=media_type)
    (volume / item.sha256).write_bytes(data)
    return Stores(folder=volume), item


def test_colours_become_looks_and_other_escapes_are_dropped() -> None:
    line = "\x1b[1;31mERROR\x1b[0m at \x1b]8;;https://evil.example\x07here\x1b]8;;\x07\x1b[2J\x1b[38;5;196m!\x1b[38;2;1;2;3mx"
    assert Terminal().spans(line) == [Span("ERROR", "red bold"), Span(" at "), Span("here"), Span("!"), Span("x")]
    assert plain("\x1b[31mno \x1b[mwarning") == "no warning"


def test_a_colour_lasts_over_lines() -> None:
    terminal = Terminal()
    terminal.spans("\x1b[32mbegin")
    assert terminal.spans("still") == [Span("still", "green")]


@given(st.text(alphabet=st.sampled_from("\x1b[]0123456789;m\x07\\ab<>\"'\n"), max_size=200))
def test_whatever_a_line_holds_its_looks_are_from_the_closed_list(line: str) -> None:
    spans = Terminal().spans(line)
    assert {span.look for span in spans} <= LOOKS
    assert "".join(span.text for span in spans) == plain(line)


def test_of_a_long_text_the_first_and_last_thousand_lines_are_shown(volume: Path) -> None:
    shown = read_text(*put(volume, b"".join(b"line %d\n" % n for n in range(1, 50_001))), PLACE)
    assert [line.number for line in shown.first] == list(range(1, 1001))
    assert [line.number for line in shown.last] == list(range(49_001, 50_001))
    assert (shown.total, shown.left_out, shown.difference) == (50_000, 48_000, "")


def test_of_a_very_large_text_only_parts_are_read_and_nothing_is_claimed(volume: Path) -> None:
    with (volume / ("0" * 64)).open("wb") as stream:
        stream.write(b"begin\n")
        stream.truncate(5 * 1024**3)
        stream.seek(0, 2)
        stream.write(b"\nthe end\n")
    item = Made("logs", "s3://x/y", "0" * 64, 5 * 1024**3 + 9)
    tracemalloc.start()
    shown = read_text(Stores(folder=volume), item, PLACE)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert shown.first[0].spans == [Span("begin")] and shown.last[-1].spans == [Span("the end")]
    assert shown.last[-1].number == -1
    assert (shown.total, shown.difference) == (None, None)
    assert peak < 16 * 1024**2


def test_a_line_without_an_end_and_a_text_of_line_ends_stay_small(volume: Path) -> None:
    tracemalloc.start()
    shown = read_text(*put(volume, b"x" * 5_000_000), PLACE)
    assert shown.first[0].cut == 5_000_000 - text.LONGEST_LINE
    shown = read_text(*put(volume, b"\n" * 300_000), PLACE)
    assert shown.total == 300_000 and len(shown.first) + len(shown.last) == 2000
    assert tracemalloc.get_traced_memory()[1] < 48 * 1024**2
    tracemalloc.stop()


def test_a_search_counts_all_and_shows_some(volume: Path) -> None:
    shown = read_text(*put(volume, b"Good\nbad\n" * 3000), PLACE, "good")
    assert shown.hits == 3000 and len(shown.first) == 1000
    assert shown.first[1].number == 3


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=20,
    )
)
def test_json_laid_out_is_the_same_json(value: object) -> None:
    assert json.loads("\n".join(lay_out(json.dumps(value)))) == value


@given(st.text(alphabet=st.sampled_from('{}[],:"\\ ab1\n'), max_size=300))
def test_what_is_no_json_is_laid_out_without_losing_a_character(value: str) -> None:
    def marks(words: str) -> str:
        return "".join(sorted(words.replace(" ", "").replace("\n", "").replace("\\", "")))

    assert marks("".join(lay_out(value))) == marks(value)


def test_deep_json_is_no_trouble(volume: Path) -> None:
    shown = read_text(*put(volume, b"[" * 200_000, "application/json"), PLACE)
    assert shown.is_laid_out and shown.total == 200_000


@pytest.mark.parametrize(
    ("media_type", "shown"),
    [
        ("text/plain", True),
        ("application/x-ndjson", True),
        ("application/vnd.tau+json", True),
        ("text/html", False),
        ("image/svg+xml", False),
        ("application/xhtml+xml", False),
        ("text/javascript", False),
        ("application/gzip", False),
        ("application/octet-stream", False),
    ],
)
def test_only_plain_kinds_of_text_are_shown(media_type: str, shown: bool) -> None:
    assert is_shown(media_type) is shown


def test_compressed_content_is_never_unpacked(volume: Path) -> None:
    import gzip

    bomb = gzip.compress(bytes(50 * 1024**2))
    shown = read_text(*put(volume, bomb), PLACE)
    assert shown.size == len(bomb) and shown.difference == ""
    assert hashlib.sha256(bomb).hexdigest()
