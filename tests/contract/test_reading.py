"""Reading an envelope from bytes: what is refused, where the problem is, and that the value itself is never said."""

import copy
import json
import time
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.contract.clock import format_time
from checks.contract.document import MAX_DEPTH, MAX_STRING, decode
from checks.contract.envelope import MAX_BYTES, Envelope, parse_envelope, read_envelope
from checks.contract.problem import Problem
from checks.contract.report import parse_report
from tests.contract.example import Example
from tests.contract.vectors_result import nested

ENVELOPE: dict[str, Any] = Example().envelope
SOUND = json.dumps(ENVELOPE)


def bent(path: tuple[str | int, ...], value: Any) -> bytes:
    """The sound envelope with one value replaced (`...`: taken away), as bytes."""
    document = copy.deepcopy(ENVELOPE)
    *steps, last = path
    inner: Any = document
    for step in steps:
        inner = inner[step]
    if value is ...:
        del inner[last]
    else:
        inner[last] = value
    return json.dumps(document).encode()


def problems(data: bytes) -> list[Problem]:
    """What is wrong with the bytes; a test fails where nothing is."""
    found = parse_envelope(data)
    assert isinstance(found, list), "it was read"
    assert found, "no problem is named"
    return found


def test_the_example_is_read() -> None:
    assert isinstance(parse_envelope(SOUND.encode()), Envelope)


@pytest.mark.parametrize(
    ("data", "pointer", "found", "expected"),
    [
        pytest.param(b"", "", "no JSON at line 1 column 1", "one JSON document", id="nothing"),
        pytest.param(b"{} {}", "", "no JSON at line 1 column 4", "one JSON document", id="two documents"),
        pytest.param(b'{"a": 1,}', "", "no JSON at line 1 column 9", "one JSON document", id="trailing comma"),
        pytest.param(b"\xff\xfe{\x00", "", "bytes that are not UTF-8 at offset 0", "JSON in UTF-8", id="not UTF-8"),
        pytest.param(b"\xef\xbb\xbf{}", "", "no JSON at line 1 column 1", "one JSON document", id="byte order mark"),
        pytest.param(b"[]", "", "a list", "an object", id="a list"),
        pytest.param(b"5", "", "an integer", "an object", id="a number"),
        pytest.param(b"null", "", "null", "an object", id="null"),
        pytest.param(b"{}", "/schema", "null", "tau.validation-result.v1", id="no schema"),
        pytest.param(b'{"a":{"b":1,"b":2}}', "/a/b", "a key that is there twice", "each key once", id="a key twice"),
        pytest.param(
            b'{"a":[{"\\u0062":1,"b":1}]}',
            "/a/0/b",
            "a key that is there twice",
            "each key once",
            id="a key twice, written otherwise",
        ),
        pytest.param(
            b'{"x":0,"b":1,"b":2}', "/b", "a key that is there twice", "each key once", id="the second key twice"
        ),
        pytest.param(b'{"a":NaN}', "/a", "a number that is not finite", "a finite number", id="NaN"),
        pytest.param(b'{"a":[-Infinity]}', "/a/0", "a number that is not finite", "a finite number", id="infinity"),
        pytest.param(b'{"a":1e999}', "/a", "a number that is not finite", "a finite number", id="too large a number"),
        pytest.param(
            b'{"a":9007199254740993}',
            "/a",
            "an integer that a double cannot hold",
            "an integer up to 2^53",
            id="2^53 + 1",
        ),
        pytest.param(
            b'{"a":' + b"9" * 400 + b"}",
            "/a",
            "an integer that a double cannot hold",
            "an integer up to 2^53",
            id="400 digits",
        ),
        pytest.param(
            b'{"a":' + b"9" * 5000 + b"}", "/a", "a number that is not finite", "a finite number", id="5000 digits"
        ),
        pytest.param(b'{"a":"\\ud800"}', "/a", "half a surrogate pair", "valid Unicode", id="half a surrogate pair"),
        pytest.param(
            b'{"a":{"\\udc00":1}}', "/a", "a key with half a surrogate pair", "valid Unicode", id="the same as a key"
        ),
        pytest.param(
            json.dumps(nested(MAX_DEPTH)).encode(),
            "/0" * (MAX_DEPTH + 1),
            "too many levels",
            "at most 32 levels",
            id="33 levels",
        ),
        pytest.param(b"[" * 100_000, "", "too many levels", "at most 32 levels", id="100,000 levels"),
    ],
)
def test_bytes_that_are_no_document_are_refused(data: bytes, pointer: str, found: str, expected: str) -> None:
    assert Problem(pointer, found, expected) in problems(data)


def test_an_integer_that_a_double_holds_is_that_double() -> None:
    assert decode(b"9007199254740992", 100) == (9007199254740992.0, [])
    assert decode(b"9007199254740991", 100) == (9007199254740991, [])
    assert decode(b"-9007199254740993", 100)[1]


def test_a_document_over_its_limit_is_refused_before_it_is_read() -> None:
    (problem,) = problems(b"[" * (MAX_BYTES + 1))
    assert problem == Problem("", f"{MAX_BYTES + 1} bytes", f"at most {MAX_BYTES} bytes")


def test_an_object_over_the_limit_in_canonical_bytes_is_refused() -> None:
    longer = bent(("details", "data"), {str(n): "é" * 4000 for n in range(40)})
    assert [problem.expected for problem in problems(longer)] == ["at most 262144 bytes"]


@pytest.mark.parametrize(
    ("path", "value", "found", "expected"),
    [
        (("cleanup",), ..., "nothing", "this field"),
        (("verified",), True, "a boolean", "no such field in this version of the contract"),
        (("outcome",), "skipped", "a string", "one of 'passed', 'failed' or 'unknown'"),
        (("outcome",), True, "a boolean", "one of 'passed', 'failed' or 'unknown'"),
        (("freshForSeconds",), "86400", "a string", "an integer"),
        (("freshForSeconds",), 86400.5, "a number", "an integer"),
        (("freshForSeconds",), True, "a boolean", "an integer"),
        (("freshForSeconds",), 0, "an integer", "at least 1"),
        (("freshForSeconds",), 366 * 86400 + 1, "an integer", "at most 31622400"),
        (("targets", "observed"), {}, "an object", "a list"),
        (("targets", "observed", 0), None, "null", "an object"),
        (("targets", "observed", 0, "uid"), "", "a string", "text that matches"),
        (("targets", "observed", 0, "rank"), -1, "an integer", "at least 0"),
        (("targets", "requested", "count"), 0, "an integer", "at least 1"),
        (("targets", "requested", "nodes"), ["gpu-03"], "a list", "as many different nodes as `count`, or null"),
        (("targets", "requested", "nodes"), ["gpu-03", "gpu-03"], "a list", "as many different nodes"),
        (("evidence", 1, "name"), "manifest", "a list", "names that all differ"),
        (("run", "id"), "7D0F3C9A51B2E84466AA91C0", "a string", "text that matches"),
        (("run", "attempt"), 1001, "an integer", "at most 1000"),
        (("check", "specDigest"), "sha256:" + "A" * 64, "a string", "text that matches"),
        (("check", "specDigest"), "md5:" + "a" * 64, "a string", "text that matches"),
        (("evidence", 0, "sha256"), "g" * 64, "a string", "text that matches"),
        (("evidence", 0, "sha256"), "a" * 64 + "\n", "a string", "at most 64 characters"),
        (("evidence", 0, "sizeBytes"), -1, "an integer", "at least 0"),
        (("errors", 0), 5, "an integer", "a string"),
        (("errors", 0), {"reason": "x"}, "nothing", "this field"),
        (("details", "schema"), "", "a string", "text that matches"),
        (("message",), "x" * (MAX_STRING + 1), "a string of 4097 characters", "at most 4096 characters"),
    ],
    ids=str,
)
def test_a_wrong_field_is_named_with_its_kind_and_what_belongs_there(
    path: tuple[str | int, ...], value: Any, found: str, expected: str
) -> None:
    where = "/" + "/".join(map(str, path))
    data = bent(("errors",), [value]) if path[0] == "errors" else bent(path, value)
    assert any(
        (problem.pointer.startswith(where) or where.startswith(problem.pointer + "/"))
        and problem.found == found
        and problem.expected.startswith(expected)
        for problem in problems(data)
    ), problems(data)


@pytest.mark.parametrize(
    "uri",
    [
        "https://a.example/x?sv=1",
        "https://a.example/x#y",
        "https://me@a.example/x",
        "https://a.example/../x",
        "https://a.example/x/..",
        "https://a.example/./x",
        "https://a.example/%2e%2e/x",
        "https://a.example/%2E%2e/x",
        "https://a.example/.%2e/x",
        "https://a.example/a%2f..%2fx",
        "https://a.example/a%5c..",
        "https://a.example/%0d%0ax",
        "https://a.example/%zz",
        "https://a.example/x y",
        "https://a.example\\x",
        "//a.example/x",
        "/etc/passwd",
        "C:/x",
        "https://a.example/" + "x" * 2048,
        "",
    ],
)
def test_an_evidence_uri_that_is_not_what_is_fetched_is_refused(uri: str) -> None:
    (problem,) = problems(bent(("evidence", 0, "uri"), uri))
    assert problem.pointer == "/evidence/0/uri" and problem.found == "a string"
    assert uri == "" or uri not in str(problem)


@pytest.mark.parametrize(
    "uri",
    ["https://a.example/a/b%20c/.hidden/x...y/~z", "https://a.example:8443/", "file:///srv/tau/x", "s3://bucket/k//e"],
)
def test_an_ordinary_evidence_uri_is_read(uri: str) -> None:
    assert isinstance(parse_envelope(bent(("evidence", 0, "uri"), uri)), Envelope)


SECRETS = [
    "AKIAIOSFODNN7EXAMPLE",
    "-----BEGIN RSA PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----",
    "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
    "ghp_" + "a1" * 18,
    "github_pat_" + "a1" * 12,
    "xoxb-1234567890-abcdef",
    "Authorization: Bearer abcdefghijklmnopqrstuvwxyz",
    "x\nbearer abcdefghijklmnopqrstuvwxyz",
    "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=abc",
    "https://a.example/x?sv=2024&sig=abcdefghij%2Bkl",
    "postgres://user:hunter22@db.example/x",
    "password=hunter22",
    "line\npassword = hunter22",
    "line\tPASSWORD:hunter22",
    "DB_PASSWORD=hunter22",
    "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI",
    "api_key: 0123456789abcdef",
    "token=abcdef123456",
    "token: abcdef123456",
]


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("path", [("message",), ("details", "data", "a"), ("targets", "observed", 0, "image")], ids=str)
def test_what_looks_like_a_credential_is_refused_and_never_said(secret: str, path: tuple[str | int, ...]) -> None:
    pointer = "/" + "/".join(map(str, path))
    found = problems(bent(path, secret))
    assert Problem(pointer, "a string that looks like a credential", "nothing secret") in found
    assert all(secret not in str(problem) for problem in found)


@pytest.mark.parametrize("secret", ["AKIAIOSFODNN7EXAMPLE", "password=hunter22", "ghp_" + "a1" * 18])
def test_a_credential_as_a_key_is_refused_and_never_said(secret: str) -> None:
    for data in (bent(("details", "data", secret), 1), bent((secret,), 1), bent(("cleanup", secret), {"a": None})):
        found = problems(data)
        assert any(problem.expected == "nothing secret" for problem in found)
        assert all(secret not in str(problem) for problem in found)


@pytest.mark.parametrize(
    "text",
    [
        "a token ring of 8 tokens",
        "unexpected token: identifier",
        "the secret is out; secretName: nccl-keys, imagePullSecrets: []",
        "no password was asked for",
        "sha256:" + "0123456789abcdef" * 4,
        "e" * 64,
        "GPU-4f5c1a2b-7d0f-3c9a-51b2-e84466aa91c0",
        "gpu-03:eth0 http://10.0.0.1:9400/metrics",
        "bearer of bad news",
        "NCCL INFO NET/IB : Using [0]mlx5_0:1/IB/SHARP [RO]; OOB eth0:10.0.0.4<0>",
        "passwordless ssh, tokenizer=fast",
        "configuration=design=assign",
    ],
)
def test_ordinary_words_are_no_credentials(text: str) -> None:
    assert isinstance(parse_envelope(bent(("message",), text)), Envelope)


@pytest.mark.parametrize("text", ["x" * 3000 + '"' + "x" * 3000, '"' * 4097, "\n" * 4097, "é" * 4097, "x" * 100_000])
def test_a_string_that_is_too_long_is_refused_whatever_it_is_made_of(text: str) -> None:
    expected = Problem("/details/data/a", f"a string of {len(text)} characters", "at most 4096 characters")
    assert expected in problems(bent(("details", "data", "a"), text))
    assert isinstance(parse_envelope(bent(("details", "data", "a"), text[:MAX_STRING])), Envelope)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("times", "started"), "2026-11-30T06:08:49+01:00"),
        (("times", "started"), "2026-11-30T05:08:49z"),
        (("times", "started"), "2026-11-30 05:08:49Z"),
        (("times", "started"), "2026-11-30T05:08:49"),
        (("times", "started"), "2026-11-30T24:00:00Z"),
        (("times", "started"), "2026-11-30T05:08:60Z"),
        (("times", "started"), "2026-02-29T05:08:49Z"),
        (("times", "started"), "2026-11-30T05:08:49.Z"),
        (("times", "started"), "2026-11-30T05:08:49.1234567Z"),
        (("times", "started"), "2026-11-30T05:08:49Z\n"),
        pytest.param(("times", "started"), "٢٠٢٦-11-30T05:08:49Z", id="digits of another script"),
        (("times", "started"), "0001-01-01T00:00:00Z"),
        (("times", "started"), "9999-12-31T23:59:59Z"),
        (("times", "started"), "2026-11-30T05:08:42Z"),
        (("times", "started"), None),
        (("times", "completed"), None),
        (("times", "cleaned"), None),
        (("times", "cleaned"), "2026-11-30T05:12:01Z"),
        (("times", "queued"), "yesterday"),
        (("times", "created"), "yesterday"),
        (("times", "observed"), "yesterday"),
        (("validUntil",), "yesterday"),
        (("validUntil",), "2026-11-30T05:11:59Z"),
        (("evidence", 4, "capturedAt"), "yesterday"),
        (("evidence", 4, "capturedAt"), "2026-11-30T05:12:01Z"),
        (("evidence", 4, "capturedAt"), "2026-11-30T05:07:59Z"),
    ],
    ids=str,
)
def test_a_wrong_time_is_a_problem_of_the_clock_only(path: tuple[str | int, ...], value: str | None) -> None:
    found = problems(bent(path, value))
    assert all(problem.clock for problem in found)
    assert any(
        problem.pointer in ("/" + "/".join(map(str, path)), "/times/observed", "/times/completed") for problem in found
    )
    assert value is None or all(value not in str(problem) for problem in found)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("times", "queued"), None),
        (("times", "admitted"), None),
        (("times", "created"), "2026-11-30T05:08:02Z"),
        (("times", "observed"), "2026-11-30T05:12:00.000001Z"),
        (("validUntil",), "2026-11-30T05:12:00Z"),
        (("evidence", 0, "capturedAt"), "2026-11-30T05:08:00Z"),
        (("evidence", 0, "capturedAt"), "2026-11-30T05:12:00Z"),
    ],
    ids=str,
)
def test_times_that_are_equal_or_not_reached_are_in_order(path: tuple[str | int, ...], value: str | None) -> None:
    assert isinstance(parse_envelope(bent(path, value)), Envelope)


def test_a_string_of_just_the_limit_is_no_problem_beside_one_that_is_too_long() -> None:
    data = bent(("details", "data"), {"a": "x" * MAX_STRING, "b": "x" * (MAX_STRING + 1)})
    assert [problem.pointer for problem in problems(data)] == ["/details/data/b"]


def test_a_time_of_a_failed_run_may_be_missing() -> None:
    document = copy.deepcopy(ENVELOPE) | {"outcome": "failed"}
    for name in ("queued", "admitted", "started", "completed", "cleaned"):
        document["times"][name] = None
    assert isinstance(parse_envelope(json.dumps(document).encode()), Envelope)


def test_lists_have_a_limit() -> None:
    target = ENVELOPE["targets"]["observed"][0] | {"accelerators": None}
    assert [p.expected for p in problems(bent(("targets", "observed"), [target] * 513))] == ["at most 512 items"]
    assert isinstance(parse_envelope(bent(("targets", "observed"), [target] * 300)), Envelope)
    assert "at most 100 items" in [p.expected for p in problems(bent(("errors",), ["x"] * 101))]
    assert "at most 256 items" in [
        p.expected for p in problems(bent(("cleanup", "remaining"), ENVELOPE["cleanup"]["owned"] * 129))
    ]


def test_a_flood_of_problems_is_cut() -> None:
    assert len(problems(b"[" + b"NaN," * 60_000 + b"1]")) == 50
    assert len(problems(bent(("errors",), [5] * 100))) <= 50


def test_a_pointer_shows_no_key_that_could_harm_a_terminal() -> None:
    (problem,) = problems(bent(("\x1b[31m",), 1))
    assert problem.pointer == "/…"
    (problem,) = problems(bent(("a/b~c",), 1))
    assert problem.pointer == "/a~1b~0c"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None), max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)


@given(st.binary(max_size=300) | json_values.map(lambda value: json.dumps(value).encode()))
def test_no_bytes_raise(data: bytes) -> None:
    for parsed in (parse_envelope(data), parse_report(data)):
        assert isinstance(parsed, list) and parsed
        assert all(str(problem).isprintable() for problem in parsed)


def _paths(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(inner for key, item in items for inner in _paths(item, (*path, key)))]


PATHS = [path for path in _paths(ENVELOPE) if path]


@given(st.sampled_from(PATHS), json_values | st.just(...))
def test_no_value_at_any_place_raises(path: tuple[str | int, ...], value: Any) -> None:
    read = parse_envelope(bent(path, value))
    assert isinstance(read, Envelope) or all(str(problem) for problem in read)


@given(st.sampled_from(PATHS), st.integers(0, 7), st.data())
def test_flipping_a_bit_never_raises(path: tuple[str | int, ...], bit: int, data: st.DataObject) -> None:
    raw = bytearray(SOUND.encode())
    raw[data.draw(st.integers(0, len(raw) - 1))] ^= 1 << bit
    parse_envelope(bytes(raw))


@pytest.mark.parametrize("path", [("validUntil",), ("times", "observed")], ids=["the promise", "the observation"])
def test_a_time_that_is_none_is_no_promise(path: tuple[str, ...]) -> None:
    read = read_envelope(json.loads(bent(path, "2026-02-30T00:00:00Z")))
    assert read.envelope is not None
    assert read.envelope.valid_until_at is None
    assert [problem.clock for problem in read.problems] == [True]


def test_a_time_is_written_in_utc_wherever_the_machine_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    at = datetime(2026, 7, 1, 12, 30, tzinfo=timezone(timedelta(hours=2)))
    with monkeypatch.context() as elsewhere:
        elsewhere.setenv("TZ", "Asia/Tokyo")
        time.tzset()
        said = format_time(at)
    time.tzset()
    assert said == "2026-07-01T10:30:00Z"
