"""What people see of evidence: whose it is, whether it is what was sealed, and that it cannot hurt."""

import json
import logging
from collections.abc import Callable
from pathlib import Path

import pytest

from checks.models import Evidence
from tests.pages.conftest import Browser

from .conftest import address


def test_logs_are_lines_with_numbers_and_say_that_they_are_what_was_sealed(
    operator: Browser, piece: Evidence, folder: Path
) -> None:
    page = operator.open(address(piece))
    lines = (folder / piece.sha256).read_text().splitlines()
    assert page.words(".lines .number") == [str(n) for n in range(1, len(lines) + 1)]
    assert page.html.select(".lines .text")[0].get_text() == lines[0]
    assert "its size and sha256 are those of the result" in page.text


def test_changed_between_verification_and_view_is_said_in_the_page(
    operator: Browser, piece: Evidence, folder: Path
) -> None:
    data = bytearray((folder / piece.sha256).read_bytes())
    data[-2] ^= 1
    (folder / piece.sha256).write_bytes(data)
    page = operator.open(address(piece))
    assert "This is not what was sealed: its sha256 is" in page.one("#difference").get_text()
    assert "are those of the result" not in page.text
    refused = operator.open(address(piece) + "content", status=409)
    assert data[:200] not in refused.body


def test_a_piece_that_grew_or_went_is_said_to_have(operator: Browser, piece: Evidence, folder: Path) -> None:
    (folder / piece.sha256).write_bytes((folder / piece.sha256).read_bytes() + b"more")
    assert f"the result says {piece.size_bytes}" in operator.open(address(piece)).text
    operator.open(address(piece) + "content", status=409)
    (folder / piece.sha256).unlink()
    assert "It cannot be read now: it is not in the directory" in operator.open(address(piece)).text
    operator.open(address(piece) + "content", status=410)


def test_a_download_is_a_file_from_a_stranger(operator: Browser, piece: Evidence, folder: Path) -> None:
    answer = operator.get(address(piece) + "content")
    assert b"".join(answer.streaming_content) == (folder / piece.sha256).read_bytes()  # type: ignore[attr-defined]
    assert answer["Content-Type"] == "application/octet-stream"
    assert answer["Content-Disposition"].startswith('attachment; filename="')
    assert answer["Content-Security-Policy"].startswith("sandbox; default-src 'none'")
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Content-Length"] == str(piece.size_bytes)
    assert answer["Cache-Control"] == "private, no-store"


@pytest.mark.parametrize(
    ("asked", "start", "end"), [("bytes=0-9", 0, 10), ("bytes=5-", 5, None), ("bytes=-7", -7, None)]
)
def test_a_range_gives_that_part(
    operator: Browser, piece: Evidence, folder: Path, asked: str, start: int, end: int | None
) -> None:
    data = (folder / piece.sha256).read_bytes()
    answer = operator.get(address(piece) + "content", headers={"range": asked})
    assert answer.status_code == 206
    assert b"".join(answer.streaming_content) == data[start:end]  # type: ignore[attr-defined]
    first = start % len(data)
    assert answer["Content-Range"] == f"bytes {first}-{(end or len(data)) - 1}/{len(data)}"
    beyond = operator.get(address(piece) + "content", headers={"range": f"bytes={len(data)}-"})
    assert (beyond.status_code, beyond["Content-Range"]) == (416, f"bytes */{len(data)}")


@pytest.mark.parametrize("what", ["", "content"])
def test_who_may_not_read_the_run_gets_the_answer_for_nothing_and_no_store_is_asked(
    browser: Callable[..., Browser], piece: Evidence, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def asked(*arguments: object) -> None:
        raise AssertionError("evidence was opened for somebody who may not read it")

    monkeypatch.setattr("checks.evidence.locating.Stores.open", asked)
    stranger = browser("people-without-rights")
    there = stranger.open(address(piece) + what, status=404)
    nowhere = stranger.open(f"/runs/{'0' * 36}/evidence/logs/{what}", status=404)
    assert there.text == nowhere.text


def test_each_read_is_in_the_audit_log(operator: Browser, piece: Evidence, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "audit")
    operator.open(address(piece))
    b"".join(operator.get(address(piece) + "content").streaming_content)  # type: ignore[attr-defined]
    said = [record.msg for record in caplog.records if record.name == "audit"]
    assert [(line["how"], line["outcome"], line["viewer"]) for line in said] == [  # type: ignore[index]
        ("view", "same", "ada@example.org"),
        ("download", "same", "ada@example.org"),
    ]


def test_a_search_shows_only_the_lines_with_it(operator: Browser, piece: Evidence, folder: Path) -> None:
    lines = (folder / piece.sha256).read_text().splitlines()
    word = next(word for line in lines for word in line.split() if word.isalpha())
    page = operator.open(f"{address(piece)}?q={word}")
    hits = [n for n, line in enumerate(lines, 1) if word.casefold() in line.casefold()]
    assert page.words(".lines .number") == [str(n) for n in hits[:2000]]


def test_json_is_laid_out_and_html_is_not_shown(operator: Browser, piece: Evidence) -> None:
    placement = Evidence.objects.get(result=piece.result_id, name="placement")
    page = operator.open(address(placement))
    shown = "\n".join(line.get_text() for line in page.html.select(".lines .text"))
    assert len(page.words(".lines .number")) > 1 and json.loads(shown)
    assert "Laid out for reading" in page.text
