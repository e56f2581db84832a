"""Azure Blob and S3. obstore signs a request, urllib3 asks it: obstore's own client would follow redirects anywhere.

Credentials are read again every few minutes and after a refusal, so that a rotated secret needs no restart. A signed
address is a credential for its few minutes: it stays in this module.
"""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any, Literal
from urllib.parse import quote

import obstore
import urllib3
from obstore.exceptions import BaseError as SigningError
from obstore.store import AzureStore, S3Store

from .stores import CHUNK, Body, Missing, Unavailable

CONNECT_SECONDS, READ_SECONDS = 5.0, 20.0
LEAST_BYTES_PER_SECOND = 64 * 1024
VALID = timedelta(minutes=10)
NOTED_SKEW = timedelta(minutes=1)
KEPT_SECONDS = 300.0
CONNECTIONS = 64

Options = Mapping[str, str]
Sign = Callable[[str], str]
Method = Literal["GET", "PUT"]


def azure(account: str, container: str, options: Options, method: Method = "GET") -> Sign:
    """Signs requests to one container. options: sas_token (else the pod's own identity), endpoint.

    There is no account key: it could do everything, and nobody here needs more than to read, or to create.
    """
    endpoint = options.get("endpoint") or f"https://{account}.blob.core.windows.net"
    if token := options.get("sas_token", "").lstrip("?"):
        return lambda path: f"{endpoint}/{container}/{quote(path)}?{token}"
    client: Any = {"allow_http": endpoint.startswith("http://")}
    store = AzureStore(container, account_name=account, endpoint=endpoint, client_options=client)
    return lambda path: obstore.sign(store, method, path, VALID)


def s3(bucket: str, options: Options, method: Method = "GET") -> Sign:
    """Signs requests to one bucket. options: access_key_id, secret_access_key, session_token, region, endpoint."""
    endpoint = options.get("endpoint", "")
    config: dict[str, Any] = {k: v for k, v in options.items() if v}
    config.setdefault("region", "us-east-1")
    client: Any = {"allow_http": endpoint.startswith("http://")}
    store = S3Store(bucket, client_options=client, **config)
    return lambda path: obstore.sign(store, method, path, VALID)


class Signer:
    """Signs addresses, with credentials that are read again when they are old or were refused.

    make: makes a signing function from the credentials as they are now.
    """

    def __init__(self, make: Callable[[], Sign]) -> None:
        self._make = make
        self._sign: Sign | None = None
        self._until = 0.0
        self._lock = threading.Lock()

    def address(self, path: str) -> str:
        """The signed address of a path; a credential for ten minutes. Raises Unavailable."""
        try:
            with self._lock:
                if self._sign is None or time.monotonic() > self._until:
                    self._sign, self._until = self._make(), time.monotonic() + KEPT_SECONDS
                sign = self._sign
            return sign(path)
        except (SigningError, ValueError, OSError):
            raise Unavailable("the credentials for the store cannot be used") from None

    def forget(self) -> None:
        """The store refused what was signed: the credentials are read again next time."""
        with self._lock:
            self._sign = None


def pool() -> urllib3.PoolManager:
    """Connections with time-outs, which try nothing twice."""
    timeout = urllib3.Timeout(connect=CONNECT_SECONDS, read=READ_SECONDS)
    return urllib3.PoolManager(maxsize=CONNECTIONS, timeout=timeout, retries=False)


class Remote:
    """A container or bucket. make: makes a signing function from credentials as they are now."""

    def __init__(self, make: Callable[[], Sign]) -> None:
        self._signer = Signer(make)
        self._pool = pool()

    def open(self, path: str, start: int = 0, end: int | None = None) -> Body:
        """One GET; no redirect is followed, nothing is decompressed."""
        headers = {"Accept-Encoding": "identity"}
        if start or end is not None:
            headers["Range"] = f"bytes={start}-{'' if end is None else end - 1}"
        address = self._signer.address(path)
        try:
            answer = self._pool.request("GET", address, headers=headers, redirect=False, preload_content=False)
        except urllib3.exceptions.HTTPError as error:
            # Without the cause: its text holds the address with its signature.
            raise Unavailable(fault(error)) from None
        if answer.status not in (200, 206):
            answer.close()
            if answer.status in (401, 403):
                self._signer.forget()
            raise refusal(answer)
        size = _size(answer)
        if size is None or "Content-Length" not in answer.headers or (answer.status == 206) != ("Range" in headers):
            answer.close()
            raise Unavailable("the store does not say how large it is")
        return Body(size, answer.headers.get("ETag", ""), _chunks(answer), lambda: _end(answer))


def refusal(answer: urllib3.BaseHTTPResponse) -> Missing | Unavailable:
    """What an answer means that is none of the expected ones."""
    status = answer.status
    if status in (404, 410):
        return Missing("it is not in the store")
    if status in (401, 403):
        return Unavailable(f"the store refuses the credentials{_skew(answer)}")
    if 300 <= status < 400:
        return Unavailable("the store answers with a redirect, and none is followed")
    return Unavailable(f"the store answers {status}")


def _skew(answer: urllib3.BaseHTTPResponse) -> str:
    """What a signature is refused for where two clocks differ; "" where they agree."""
    try:
        theirs = parsedate_to_datetime(answer.headers.get("Date", ""))
    except ValueError:
        return ""
    if theirs.tzinfo is None:
        return ""
    ahead = round((theirs - datetime.now(UTC)).total_seconds())
    if abs(ahead) < NOTED_SKEW.total_seconds():
        return ""
    return f": its clock is {abs(ahead) // 60} min {abs(ahead) % 60} s {'ahead of' if ahead > 0 else 'behind'} ours"


def _size(answer: urllib3.BaseHTTPResponse) -> int | None:
    """The size of the whole piece, from the headers."""
    if answer.status == 206:
        said = answer.headers.get("Content-Range", "").rpartition("/")[2]
    else:
        said = answer.headers.get("Content-Length", "")
    return int(said) if said.isascii() and said.isdigit() else None


def _chunks(answer: urllib3.BaseHTTPResponse) -> Iterator[bytes]:
    """The body, as long as it comes at a bearable pace."""
    length = int(answer.headers.get("Content-Length") or 0)  # a body always has one: see `_size`
    until = time.monotonic() + READ_SECONDS + length / LEAST_BYTES_PER_SECOND
    try:
        while chunk := answer.read1(CHUNK, decode_content=False):  # what is there, so that the clock is looked at
            yield chunk
            length -= len(chunk)
            if time.monotonic() > until:
                raise Unavailable("the store sends it too slowly")
    except urllib3.exceptions.HTTPError as error:
        raise Unavailable(fault(error)) from None
    if length:
        raise Unavailable("the store broke the connection off")


def _end(answer: urllib3.BaseHTTPResponse) -> None:
    """A connection is used again only where its answer was read to the end."""
    if getattr(answer, "length_remaining", 1) == 0:
        answer.release_conn()
    else:
        answer.close()


def fault(error: urllib3.exceptions.HTTPError) -> str:
    """The end of a sentence; the error's own text holds the address with its signature."""
    if isinstance(error, urllib3.exceptions.NewConnectionError):  # which is a kind of time-out to urllib3
        return "the store cannot be reached"
    if isinstance(error, urllib3.exceptions.TimeoutError):
        return "the store does not answer in time"
    if isinstance(error, urllib3.exceptions.SSLError):
        return "the store's certificate is not trusted"
    if isinstance(error, urllib3.exceptions.ProtocolError):
        return "the store broke the connection off"
    return "the store cannot be reached"
