"""What can go wrong with an API server, in our own words; the client library's exceptions stay in this package."""


class ClusterError(Exception):
    """The API server could not be asked, or did not answer as it should. The text is safe to show and to log."""


class Unreachable(ClusterError):
    """No answer: refused, timed out, cut, or a certificate that is not trusted."""


class Forbidden(ClusterError):
    """These credentials may not do this (401 and 403)."""


class NotServed(ClusterError):
    """The API server does not have this kind."""


class Expired(ClusterError):
    """The resourceVersion is too old (410): list again."""


class Overloaded(ClusterError):
    """The API server asks to wait (429) or failed itself (5xx)."""


class BadKubeconfig(ClusterError):
    """A kubeconfig cannot be read, or does not hold what was asked for by name (`usage`)."""

    def __init__(self, message: str, *, usage: bool = False) -> None:
        super().__init__(message)
        self.usage = usage


class Refusal(ClusterError):
    """The API server understood the request and says no; the text is its own sentence."""


class NotFound(Refusal):
    """There is no such object (404)."""


class AlreadyExists(Refusal):
    """An object of this name is there already (409)."""


class Conflict(Refusal):
    """The object is no longer the one that was read, by resourceVersion or UID (409)."""
