"""The client of the command line: whatever the caller may do, under the caller's own name."""

import ssl
from collections.abc import Mapping
from typing import Any

import urllib3
from urllib3 import HTTPHeaderDict
from urllib3.exceptions import ConnectTimeoutError, MaxRetryError, NameResolutionError, NewConnectionError, SSLError

from .client import Object, Query
from .errors import BadKubeconfig, ClusterError, Forbidden, Unreachable
from .kubeconfig import Access
from .writing import WritingApi

_WHO = "/apis/authentication.k8s.io/v1/selfsubjectreviews"


class CallerApi(WritingApi):
    """Reads and writes as the person whose kubeconfig it is, or as whom they act."""

    def __init__(self, access: Access) -> None:
        self.access = access
        try:
            super().__init__(settings=access.settings)
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else type(error).__name__
            raise BadKubeconfig(f"the certificates of the kubeconfig cannot be used: {why}") from error

    def whoami(self) -> str:
        """The user name by which the API server knows the caller. Raises ClusterError."""
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
        info = (self.create(_WHO, body).get("status") or {}).get("userInfo") or {}
        name = str(info.get("username") or "")
        if not name or name == "system:anonymous":
            raise Forbidden("the API server does not know who you are: the kubeconfig's user has no credentials")
        return name

    def _headers(self, headers: dict[str, str]) -> Mapping[str, str]:
        """Impersonation; a group each has a header of its own."""
        found = HTTPHeaderDict(headers)
        for name, value in self.access.headers:
            found.add(name, value)
        return found

    def _json(self, method: str, path: str, query: Query, body: Object | None = None) -> Object:
        try:
            return super()._json(method, path, query, body)
        except Unreachable as error:
            raise Unreachable(f"{self.access.server} {_why(error)}") from error
        except ClusterError as error:
            if isinstance(error.__cause__, Exception) and "SSL" in str(error.__cause__):
                raise Unreachable(f"{self.access.server} cannot be trusted: its certificate is another") from error
            raise


def _why(error: BaseException) -> str:
    """How a server did not answer, in words."""
    cause: Any = error.__cause__
    if isinstance(cause, MaxRetryError):
        cause = cause.reason
    if isinstance(cause, NameResolutionError):
        return "does not answer: its name is not known"
    if isinstance(cause, NewConnectionError):  # is a time-out too, by its class
        return f"does not answer: {'connection refused' if 'refused' in str(cause) else 'no connection'}"
    if isinstance(cause, (ConnectTimeoutError, urllib3.exceptions.ReadTimeoutError)):
        return "does not answer in time"
    if isinstance(cause, (SSLError, ssl.SSLError)):
        return "cannot be trusted: its certificate is another"
    return str(error)
