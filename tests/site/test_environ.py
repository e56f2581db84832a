"""Values from the environment: what is read, and the sentence for what cannot be."""

from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from taugrid_portal import environ

HERE = Path("portal.sqlite3")


@pytest.mark.parametrize(
    ("text", "want"), [("true", True), ("1", True), ("On", True), ("no", False), ("0", False), ("", True)]
)
def test_a_truth_value_is_read(monkeypatch: pytest.MonkeyPatch, text: str, want: bool) -> None:
    monkeypatch.setenv("X", text)
    assert environ.boolean("X", True) is want


@pytest.mark.parametrize(
    ("text", "read", "sentence"),
    [
        ("maybe", lambda: environ.boolean("X", False), "X is “maybe”; it takes true or false."),
        (
            "99999",
            lambda: environ.integer("X", 1, most=65535),
            "X is “99999”; it takes a whole number from 0 to 65535.",
        ),
        ("-1", lambda: environ.integer("X", 1), "it takes a whole number"),
        ("٣", lambda: environ.integer("X", 1), "it takes a whole number"),
        ("red", lambda: environ.choice("X", ("a", "b"), "a"), "X is “red”; it takes one of: a, b."),
        ("mysql://u:hunter2@h/n", lambda: environ.database("X", HERE), "X takes postgresql://"),
        ("postgresql://u:hunter2@h:port/n", lambda: environ.database("X", HERE), "its host or port cannot be read"),
        ("postgresql://u:hunter2@h/", lambda: environ.database("X", HERE), "X takes postgresql://"),
        ("postgresql://h/n?sslmod=x", lambda: environ.database("X", HERE), "X has unknown options: sslmod."),
        ("sqlite://", lambda: environ.database("X", HERE), "or sqlite:///path"),
    ],
)
def test_what_cannot_be_read_is_a_sentence_without_the_secret(
    monkeypatch: pytest.MonkeyPatch, text: str, read: object, sentence: str
) -> None:
    monkeypatch.setenv("X", text)
    with pytest.raises(ImproperlyConfigured) as caught:
        read()  # type: ignore[operator]
    assert sentence in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_words_are_separated_by_commas_or_spaces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("X", "a, b  c")
    assert environ.words("X") == ["a", "b", "c"]


def test_a_secret_may_be_in_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "key").write_text("hunter2\n")
    monkeypatch.setenv("X_FILE", str(tmp_path / "key"))
    assert environ.secret("X") == "hunter2"
    monkeypatch.setenv("X", "another")
    with pytest.raises(ImproperlyConfigured, match="both set"):
        environ.secret("X")


@pytest.mark.parametrize(("content", "sentence"), [(None, "No such file"), (b"", "is empty"), (b"\xff", "not text")])
def test_a_secret_file_that_cannot_be_read_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: bytes | None, sentence: str
) -> None:
    path = tmp_path / "key"
    if content is not None:
        path.write_bytes(content)
    monkeypatch.setenv("X_FILE", str(path))
    with pytest.raises(ImproperlyConfigured, match=sentence) as caught:
        environ.secret("X")
    assert str(path) in str(caught.value)


def test_a_postgresql_address_is_taken_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("X", "postgresql://po%40rtal:p%2Fw@db.example:6432/por%20tal?sslmode=verify-full")
    read = environ.database("X", HERE)
    assert (read["USER"], read["PASSWORD"], read["HOST"], read["PORT"]) == ("po@rtal", "p/w", "db.example", "6432")
    assert read["NAME"] == "por tal"
    assert read["OPTIONS"]["sslmode"] == "verify-full"


def test_sqlite_waits_for_a_busy_database_and_lets_pages_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("X", raising=False)
    assert environ.database("X", HERE)["NAME"] == HERE
    monkeypatch.setenv("X", "sqlite:////var/lib/portal.db")
    read = environ.database("X", HERE)
    assert read["NAME"] == Path("/var/lib/portal.db")
    assert read["OPTIONS"]["transaction_mode"] == "IMMEDIATE"
    assert "journal_mode=WAL" in read["OPTIONS"]["init_command"]
