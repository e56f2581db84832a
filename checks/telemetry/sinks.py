"""Where lines go: standard output, a file, or an HTTP(S) address. A sink takes a batch wholly, or raises.

No credential is part of an address, of an error or of a log line: a token is read from its file for each request.
"""

import hashlib
import os
import sys
from pathlib import Path
from typing import IO, Protocol
from urllib.parse import quote, unquote, urlsplit

import urllib3

from .spool import Batch

TABLE = "{table}"
CONNECT_SECONDS, READ_SECONDS = 5.0, 20.0
_MOST_TOKEN_BYTES = 64 * 1024
_NEVER = (400, 413, 422)  # the sink understood the request, and will say the same the next time


class SinkError(Exception):
    """The batch was not taken now; the text says why. retry_after: seconds, where the sink asks for them."""

    def __init__(self, why: str, retry_after: float | None = None) -> None:
        super().__init__(why)
        self.retry_after = retry_after


class SinkRefusal(SinkError):
    """This batch, or this sink's idea of it, will not be taken, however often it is sent."""


class ConfigurationError(Exception):
    """A sink is described wrongly; the text names the option and says what to give instead."""


class Sink(Protocol):
    """name: a word for logs, metrics and the spool's cursor."""

    name: str

    def send(self, batch: Batch) -> None:
        """Returns when the batch is where it belongs. Raises SinkError."""


class Stdout:
    """Standard output, which nothing else of the controller is written to."""

    name = "stdout"

    def __init__(self, stream: IO[str] | None = None) -> None:
        self._stream = stream or sys.stdout

    def send(self, batch: Batch) -> None:
        """Raises SinkError where nobody reads it any more."""
        try:
            self._stream.write("".join(f"{line}\n" for line in batch.lines))
            self._stream.flush()
        except (OSError, ValueError) as error:
            raise SinkError(f"standard output cannot be written: {error}") from error


class File:
    """A file that is only appended to, one for each table where the path says {table}."""

    name = "file"

    def __init__(self, path: str) -> None:
        self._path = path

    def send(self, batch: Batch) -> None:
        """Appends durably; what was written halfway is taken back. Raises SinkError."""
        path = Path(self._path.replace(TABLE, batch.table))
        data = b"".join(line.encode() + b"\n" for line in batch.lines)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("ab+", buffering=0) as file:
                end = file.seek(0, os.SEEK_END)
                if end and os.pread(file.fileno(), 1, end - 1) != b"\n":
                    data = b"\n" + data  # somebody's torn line stays one, and takes none of ours with it
                try:
                    written = file.write(data)
                    if written != len(data):
                        raise OSError(28, "No space left on device")
                    os.fsync(file.fileno())
                except OSError:
                    os.ftruncate(file.fileno(), end)
                    raise
        except OSError as error:
            raise SinkError(f"the file cannot be written: {error.strerror}") from error


class Http:
    """POSTs NDJSON. Certificates are verified, no redirect is followed, nothing of an answer is kept but its status.

    A batch carries `Idempotency-Key`, which is the same each time it is sent.
    """

    name = "http"

    def __init__(self, url: str, token_file: Path | None = None, ca_file: Path | None = None) -> None:
        self._url, self._token_file = url, token_file
        self._pool = urllib3.PoolManager(
            timeout=urllib3.Timeout(connect=CONNECT_SECONDS, read=READ_SECONDS),
            retries=False,
            cert_reqs="CERT_REQUIRED",
            ca_certs=str(ca_file) if ca_file else None,
        )

    def send(self, batch: Batch) -> None:
        """Raises SinkError, SinkRefusal."""
        body = "".join(f"{line}\n" for line in batch.lines).encode()
        headers = {
            "Content-Type": "application/x-ndjson",
            "Idempotency-Key": hashlib.sha256(body).hexdigest(),
            "Tau-Table": batch.table,
            **self._authorization(),
        }
        url = self._url.replace(quote(TABLE), batch.table).replace(TABLE, batch.table)
        try:
            answer = self._pool.request(
                "POST", url, body=body, headers=headers, redirect=False, preload_content=False, decode_content=False
            )
        except (urllib3.exceptions.HTTPError, ValueError) as error:
            raise SinkError(_fault(error)) from None
        status, later = answer.status, _seconds(answer.headers.get("Retry-After", ""))
        answer.close()  # its body is nobody's business here
        if 200 <= status < 300:
            return
        if status in _NEVER:
            raise SinkRefusal(f"the sink answers {status}")
        if 300 <= status < 400:
            raise SinkError(f"the sink answers {status}, a redirect, and none is followed")
        raise SinkError(f"the sink answers {status}", later)

    def _authorization(self) -> dict[str, str]:
        file = self._token_file
        if file is None:
            return {}
        try:
            with file.open("rb") as stream:
                token = stream.read(_MOST_TOKEN_BYTES).strip()
        except OSError as error:
            raise SinkError(f"the token file cannot be read: {error.strerror}") from None
        if not token or not all(0x21 <= byte <= 0x7E for byte in token):
            raise SinkError("the token file holds no token: one line of visible ASCII characters")
        return {"Authorization": f"Bearer {token.decode('ascii')}"}


def _fault(error: Exception) -> str:
    """What is wrong with a connection, without anything that was sent."""
    reason = getattr(error, "reason", None) or error
    words = {
        urllib3.exceptions.NewConnectionError: "the sink does not answer: no connection",
        urllib3.exceptions.ConnectTimeoutError: "the sink does not answer: no connection in time",
        urllib3.exceptions.ReadTimeoutError: "the sink does not answer in time",
        urllib3.exceptions.SSLError: "the sink's certificate is not accepted",
        urllib3.exceptions.ProtocolError: "the sink ended the connection",
    }
    return next((text for kind, text in words.items() if isinstance(reason, kind)), "the sink cannot be reached")


def _seconds(said: str) -> float | None:
    return min(600.0, float(said)) if said.isascii() and said.isdigit() and len(said) < 10 else None


def sink_from(uri: str, token_file: Path | None = None, ca_file: Path | None = None) -> File | Http:
    """The sink that an address describes: file:///path, https://host/path, http://host/path. Raises
    ConfigurationError."""
    try:
        parts = urlsplit(uri)
        port, host = parts.port, parts.hostname
    except ValueError:
        raise ConfigurationError("--telemetry-sink: this is no address") from None
    if parts.query or parts.fragment or parts.username is not None or "?" in uri or "#" in uri:
        raise ConfigurationError(
            "--telemetry-sink: an address without user, query and fragment; a token belongs into --telemetry-token-file"
        )
    if parts.scheme == "file" and not parts.netloc and parts.path.startswith("/"):
        if token_file or ca_file:
            raise ConfigurationError("--telemetry-token-file and --telemetry-ca-file are for an https:// sink")
        return File(unquote(parts.path))
    if parts.scheme not in ("http", "https") or not host or port == 0:
        raise ConfigurationError("--telemetry-sink: file:///path, https://host/path or http://host/path")
    if parts.scheme == "http" and (token_file or ca_file) and host not in ("localhost", "127.0.0.1", "::1"):
        raise ConfigurationError("--telemetry-token-file: a token is sent over https:// only")
    if ca_file is not None and not ca_file.is_file():
        raise ConfigurationError(f"--telemetry-ca-file: there is no file {ca_file}")
    return Http(uri, token_file, ca_file)
