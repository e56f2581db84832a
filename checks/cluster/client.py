"""Lists and watches of one API server, as plain JSON values, with errors of our own.

`kubernetes` gives the connection: kubeconfig, exec plugins, rotating in-cluster tokens. Its typed models and its
SharedInformer are not used: they cost more than the request, and the informer cannot read custom resources.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import urllib3
import yaml
from kubernetes import client, config
from pydantic_core import from_json

from .errors import ClusterError, Expired, Forbidden, NotServed, Overloaded, Unreachable

PAGE = 500
CONNECT_SECONDS, READ_SECONDS = 5, 60
Object = dict[str, Any]
Query = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a list: the objects, and the list's resourceVersion on the last page."""

    items: list[Object]
    resource_version: str
    is_last: bool


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a watch: ADDED, MODIFIED, DELETED or BOOKMARK."""

    type: str
    object: Object


def path_of(group: str, version: str, plural: str) -> str:
    """The path under which all objects of a kind are listed."""
    return f"/apis/{group}/{version}/{plural}" if group else f"/api/{version}/{plural}"


class Api:
    """One API server. Threads may share it."""

    def __init__(self, kubeconfig: str = "", context: str = "", settings: client.Configuration | None = None) -> None:
        """kubeconfig: a file; "" is the pod's own service account. settings: of a connection, instead of both.

        Raises ClusterError where none can be read.
        """
        settings = settings or _settings(kubeconfig, context)
        settings.retries = urllib3.Retry(0)
        settings.connection_pool_maxsize = 32
        self._client = client.ApiClient(settings)

    def list(self, path: str, limit: int = PAGE) -> Iterator[Page]:
        """Every object of a kind, page by page. Raises ClusterError; Expired where the list took too long."""
        token = ""
        while True:
            query = [("limit", str(limit))] + ([("continue", token)] if token else [])
            answer = self._json("GET", path, query)
            metadata = answer.get("metadata") or {}
            token = metadata.get("continue") or ""
            items = [item for item in answer.get("items") or () if isinstance(item, dict)]
            kind = str(answer.get("kind", "")).removesuffix("List")
            for item in items:  # items of built-in lists come without their own kind
                item.setdefault("kind", kind)
                item.setdefault("apiVersion", answer.get("apiVersion"))
            yield Page(items, str(metadata.get("resourceVersion", "")), not token)
            if not token:
                return

    def watch(self, path: str, resource_version: str, seconds: int) -> Iterator[Event]:
        """Events after a resourceVersion, until the server ends the watch after `seconds`. Raises ClusterError."""
        query = [("watch", "true"), ("allowWatchBookmarks", "true"), ("timeoutSeconds", str(seconds))]
        query.append(("resourceVersion", resource_version))
        with _own_errors():
            answer = self._call("GET", path, query, read_seconds=seconds + 15)
            try:
                yield Event("CONNECTED", {})
                for line in _lines(answer):
                    yield _event(line)
            finally:
                answer.release_conn()
                answer.close()

    def create(self, path: str, body: Object) -> Object:
        """Posts a review (who may read what); the answer. Raises ClusterError."""
        return self._json("POST", path, [], body)

    def _json(self, method: str, path: str, query: Query, body: Object | None = None) -> Object:
        with _own_errors():
            answer = self._call(method, path, query, READ_SECONDS, body)
            value = _decoded(answer.read(decode_content=True))
            answer.release_conn()
        if not isinstance(value, dict):
            raise Unreachable("the answer is not an object")
        return value

    def _call(self, method: str, path: str, query: Query, read_seconds: int, body: Object | None = None) -> Any:
        """The response, its body not yet read. Raises ClusterError for every status but success."""
        headers = {"Accept": "application/json"} | ({"Content-Type": "application/json"} if body is not None else {})
        answer = self._send(method, path, query, headers, body, read_seconds)
        if not 200 <= answer.status < 300:
            answer.drain_conn()
            answer.release_conn()
            raise _error(answer.status)
        return answer

    def _send(
        self, method: str, path: str, query: Query, headers: dict[str, str], body: Object | None, read_seconds: int
    ) -> Any:
        """The response, whatever its status."""
        method, url, headers, sent, _ = self._client.param_serialize(
            method, path, query_params=query, header_params=headers, body=body, auth_settings=["BearerToken"]
        )
        timeout = (CONNECT_SECONDS, read_seconds)
        return self._client.call_api(method, url, self._headers(headers), sent, _request_timeout=timeout).response

    def _headers(self, headers: dict[str, str]) -> Mapping[str, str]:
        """What is sent, the credentials among them."""
        return headers


def _settings(kubeconfig: str, context: str) -> client.Configuration:
    settings = client.Configuration()
    try:
        if kubeconfig:
            config.load_kube_config(kubeconfig, context or None, settings)  # type: ignore[no-untyped-call]
        else:
            config.load_incluster_config(settings)  # type: ignore[no-untyped-call]
    except (config.ConfigException, yaml.YAMLError, OSError, ValueError, TypeError, AttributeError) as error:
        raise ClusterError(f"no usable credentials in {kubeconfig or 'this pod'}: {_safely(error)}") from None
    return settings


def _safely(error: Exception) -> str:
    """What is wrong with credentials, in words that name files and entries only: a plugin's own words may hold more."""
    if isinstance(error, OSError):
        return error.strerror or "it cannot be read"
    if isinstance(error, config.ConfigException):
        return "its exec plugin failed" if str(error).startswith("exec") else str(error)
    return "it is no kubeconfig"


def _decoded(data: bytes) -> Any:
    """A JSON value. The standard library reads what the quicker reader refuses, such as half a surrogate pair."""
    try:
        return from_json(data)
    except ValueError:
        return json.loads(data)


def _lines(answer: Any) -> Iterator[bytes]:
    """Whole lines of a stream that arrives in pieces."""
    rest = b""
    for piece in answer.stream(amt=2**16, decode_content=True):
        *whole, rest = (rest + piece).split(b"\n")
        yield from filter(None, whole)


def _event(line: bytes) -> Event:
    value = _decoded(line)
    kind, item = str(value.get("type")), value.get("object")
    if kind == "ERROR" or not isinstance(item, dict):
        code = item.get("code") if isinstance(item, dict) else None
        raise _error(code if isinstance(code, int) else 500)
    return Event(kind, item)


def _error(code: int | None) -> ClusterError:
    if code in (401, 403):
        return Forbidden(f"the API server refuses it ({code})")
    if code == 404:
        return NotServed("the API server does not serve this kind")
    if code == 410:
        return Expired("the resourceVersion is too old")
    return Overloaded(f"the API server answered {code}")


@contextmanager
def _own_errors() -> Iterator[None]:
    """Translates; bodies of answers are never repeated, since they may hold anything."""
    try:
        yield
    except client.exceptions.OpenApiException as error:
        raise ClusterError(f"the API server cannot be asked ({type(error).__name__})") from error
    except (urllib3.exceptions.HTTPError, OSError) as error:
        raise Unreachable(f"no answer from the API server ({type(error).__name__})") from error
    except ValueError as error:
        raise Unreachable("the answer is not JSON") from error
