"""The digest of a document survives every way of writing it down that keeps its meaning."""

import io
import json
from decimal import Decimal
from typing import Any

import pytest
import rfc8785
import yaml
from hypothesis import assume, given
from hypothesis import strategies as st

from checks.contract.document import canonical, digest, plain
from checks.contract.kinds import CHECK, RESULT, TEMPLATE
from checks.dump import read_stream
from checks.objects import spec_digest
from tests.contract.example import Example

finite = st.floats(allow_nan=False, allow_infinity=False)
leaves = st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | finite | st.text(max_size=20)
documents = st.dictionaries(
    st.text(max_size=8),
    st.recursive(
        leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_size=6,
)
NUMBERS = [
    0,
    -0.0,
    1,
    1.0,
    388.2,
    0.1,
    1e21,
    1e20,
    123456789012345680000.0,
    1e-6,
    1e-7,
    5e-324,
    2**53 - 1,
    2.0**53,
    1.5e300,
]


def read_back(text: str) -> Any:
    """The one object of a dump."""
    (item,) = read_stream(io.BytesIO(text.encode()), "dump")
    assert item.value is not None, item.problem
    return plain(item.value)[0]


def as_go_writes(value: Any) -> str:
    """JSON as Go's encoding/json writes it, which is what the API server gives back: its numbers, its escapes."""
    if isinstance(value, bool) or value is None or isinstance(value, int):
        return json.dumps(value)
    if isinstance(value, float):
        size = abs(value)
        if size == 0 or 1e-6 <= size < 1e21:
            text = format(Decimal(repr(value)), "f")
            return text.rstrip("0").rstrip(".") if "." in text else text
        mantissa, _, exponent = repr(value).partition("e")
        return f"{mantissa.removesuffix('.0')}e{exponent.replace('-0', '-')}"
    if isinstance(value, str):
        escaped = json.dumps(value, ensure_ascii=False)
        for character in "<>&\u2028\u2029":
            escaped = escaped.replace(character, f"\\u{ord(character):04x}")
        return escaped
    if isinstance(value, list):
        return "[" + ",".join(map(as_go_writes, value)) + "]"
    return "{" + ",".join(f"{as_go_writes(key)}:{as_go_writes(value[key])}" for key in sorted(value)) + "}"


@given(documents)
def test_canonical_bytes_are_those_of_rfc_8785(value: Any) -> None:
    assert canonical(value) == rfc8785.dumps(value)


@given(documents)
def test_json_keeps_the_digest(value: Any) -> None:
    assume("items" not in value)
    for text in (json.dumps(value), json.dumps(value, indent=2, ensure_ascii=False), as_go_writes(value)):
        assert digest(read_back(text)) == digest(value)


@given(documents)
def test_yaml_keeps_the_digest(value: Any) -> None:
    assume("items" not in value)
    text = yaml.safe_dump({"spec": value}, sort_keys=False)
    assert digest(read_back(text)["spec"]) == digest(value)


@pytest.mark.parametrize("number", NUMBERS, ids=repr)
def test_a_number_keeps_the_digest_however_it_is_written(number: float) -> None:
    value = {"a": number}
    written = [json.dumps(value), yaml.safe_dump(value), as_go_writes(value), canonical(value).decode()]
    assert {digest(read_back(text)) for text in written} == {digest(value)}, written


@pytest.mark.parametrize(
    ("text", "same"),
    [("1.0", "1"), ("1E2", "100"), ("-0", "0"), ("388.20", "388.2"), ("1e21", "1000000000000000000000")],
)
def test_two_spellings_of_one_number_have_one_digest(text: str, same: str) -> None:
    assert digest(read_back(f'{{"a": {text}}}')) == digest(read_back(f'{{"a": {same}}}'))


@pytest.mark.parametrize(
    "text", ["1", "1.0", "true", "null", "~", "2026-11-30", "0x1f", "1e3", ".inf", "no", "1_000", "", "- a"]
)
def test_a_quoted_scalar_stays_text(text: str) -> None:
    assert read_back(f"a: '{text}'") == {"a": text}
    assert read_back(f'a: "{text}"') == {"a": text}


@pytest.mark.parametrize(
    "text", ["2026-11-30", "2026-11-30T05:12:00Z", "2.27.7", "no", "yes", "on", "1_000", "1:30", "0x1f", "1e3", "12E4"]
)
def test_a_plain_scalar_that_is_no_json_value_stays_text(text: str) -> None:
    assert read_back(f"a: {text}") == {"a": text}


@pytest.mark.parametrize("kind", [TEMPLATE, CHECK, RESULT])
def test_the_example_has_the_digests_it_states(kind: str) -> None:
    example = Example()
    stated = {
        TEMPLATE: example.check["spec"]["launch"]["template"]["digest"],
        CHECK: example.check["status"]["specDigest"],
        RESULT: example.result["spec"]["digest"],
    }[kind]
    item = {"spec": example.envelope} if kind == RESULT else example.one(kind)
    assert spec_digest(item) == stated
    assert spec_digest(read_back(as_go_writes(item))) == stated
    assert spec_digest(read_back(yaml.safe_dump(item))) == stated


@pytest.mark.parametrize("value", [{"a": float("nan")}, {"a": 2**53}, {"a": "\ud800"}, {"\ud800": 1}])
def test_what_has_no_canonical_form_has_no_digest(value: Any) -> None:
    with pytest.raises(ValueError, match=r"."):
        canonical(value)
