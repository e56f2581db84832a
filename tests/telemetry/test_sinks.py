"""Where lines go: what a file is left like, what an address may be, and what becomes of a token."""

import datetime
import errno
import io
import ipaddress
import os
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from checks.telemetry.sinks import ConfigurationError, File, Http, SinkError, Stdout, sink_from
from checks.telemetry.spool import Batch
from tests.telemetry.receiver import Receiver, running

TOKEN = "sha-la-la-very-secret-0123456789"
BATCH = Batch(1, 2, "TauExpRunLifecycle", ('{"observation_id":"a"}', '{"observation_id":"b"}'))
TEXT = '{"observation_id":"a"}\n{"observation_id":"b"}\n'


def test_standard_output() -> None:
    stream = io.StringIO()
    Stdout(stream).send(BATCH)
    assert stream.getvalue() == TEXT
    stream.close()
    with pytest.raises(SinkError, match="standard output"):
        Stdout(stream).send(BATCH)


def test_a_file_of_each_table(tmp_path: Path) -> None:
    sink = sink_from(f"file://{tmp_path}/new/{{table}}.ndjson")
    sink.send(BATCH)
    sink.send(BATCH)
    assert (tmp_path / "new" / "TauExpRunLifecycle.ndjson").read_text() == TEXT * 2


def test_a_torn_line_of_a_crash_takes_no_other_with_it(tmp_path: Path) -> None:
    (tmp_path / "lines").write_text('{"observation_id":"tor')
    File(str(tmp_path / "lines")).send(BATCH)
    assert (tmp_path / "lines").read_text() == '{"observation_id":"tor\n' + TEXT


def test_a_disk_that_is_full_leaves_no_half_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sink = File(str(tmp_path / "lines"))
    sink.send(BATCH)

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(SinkError, match="No space left"):
        sink.send(BATCH)
    assert (tmp_path / "lines").read_text() == TEXT


@pytest.mark.parametrize(
    "uri",
    [
        "https://user:pass@host/path",
        "https://user@host/path",
        "https://host/path?sig=abc",
        "https://host/path?",
        "https://host/path#part",
        "ftp://host/path",
        "file://host/path",
        "file:relative",
        "https:///path",
        "https://host:99999/",
        "/var/log/tau",
        "",
    ],
)
def test_what_is_no_address_of_a_sink(uri: str) -> None:
    with pytest.raises(ConfigurationError, match="--telemetry-sink") as raised:
        sink_from(uri)
    assert "pass" not in str(raised.value).replace("password", "") and "sig" not in str(raised.value)


def test_a_token_goes_over_https_only(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="https:// only"):
        sink_from("http://collector.monitoring:8080/", tmp_path / "token")


def token_in(folder: Path, text: str = TOKEN + "\n") -> Path:
    (folder / "token").write_text(text)
    return folder / "token"


def test_a_token_is_read_again_for_each_request(tmp_path: Path, receiver: Receiver) -> None:
    sink = Http(receiver.url, token_in(tmp_path))
    sink.send(BATCH)
    token_in(tmp_path, "another-one")
    sink.send(BATCH)
    sent = [request.headers["Authorization"] for request in receiver.requests]
    assert sent == [f"Bearer {TOKEN}", "Bearer another-one"]
    assert receiver.requests[0].headers["Content-Type"] == "application/x-ndjson"


@pytest.mark.parametrize("text", ["", "\n", f"{TOKEN}\nX-Other: header", f"{TOKEN} {TOKEN}", "to\u00e4ken"])
def test_what_is_no_token_is_not_sent_and_not_said(text: str, tmp_path: Path, receiver: Receiver) -> None:
    with pytest.raises(SinkError, match="holds no token") as raised:
        Http(receiver.url, token_in(tmp_path, text)).send(BATCH)
    assert TOKEN not in str(raised.value) and receiver.requests == []


def test_no_error_says_the_token(tmp_path: Path, receiver: Receiver) -> None:
    receiver.answers = [401, 500, "hang up"]
    sink = Http(receiver.url, token_in(tmp_path))
    errors = []
    for _ in range(3):
        with pytest.raises(SinkError) as raised:
            sink.send(BATCH)
        errors.append(repr(raised.value) + repr(raised.value.__cause__))
    receiver.stop()
    with pytest.raises(SinkError) as raised:
        sink.send(BATCH)
    assert TOKEN not in "".join(errors) + repr(raised.value)


def test_a_token_file_that_is_gone(tmp_path: Path, receiver: Receiver) -> None:
    with pytest.raises(SinkError, match="token file cannot be read: No such file"):
        Http(receiver.url, tmp_path / "nowhere").send(BATCH)


def certificate(folder: Path, host: str) -> tuple[Path, ssl.SSLContext]:
    """A certificate for this host that vouches for itself; its file, and a server with it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, host)])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(host))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / "tls.pem").write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    (folder / "ca.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "tls.pem")
    return folder / "ca.pem", context


@pytest.fixture(params=["127.0.0.1", "127.0.0.2"])
def secured(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Receiver, Path, bool]]:
    """A server with TLS, who vouches for it, and whether its certificate is for where it is."""
    ca_file, context = certificate(tmp_path, request.param)
    for receiver in running(Receiver(context=context)):
        yield receiver, ca_file, request.param == "127.0.0.1"


def test_certificates_are_verified(secured: tuple[Receiver, Path, bool], tmp_path: Path) -> None:
    receiver, ca_file, right = secured
    token = token_in(tmp_path)
    with pytest.raises(SinkError, match="certificate is not accepted"):
        Http(receiver.url, token).send(BATCH)
    if right:
        Http(receiver.url, token, ca_file).send(BATCH)
        assert len(receiver.requests) == 1
    else:
        with pytest.raises(SinkError, match="certificate is not accepted"):
            Http(receiver.url, token, ca_file).send(BATCH)
        assert receiver.requests == []
