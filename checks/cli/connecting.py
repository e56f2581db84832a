"""Commands on a cluster: kubectl's options, the caller they make, and exit codes for what the cluster refuses.

Nothing here imports the Kubernetes client before a cluster is asked: commands on dumps start without it.
"""

import functools
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ..cluster.errors import ClusterError, NotFound
from ..contract.kinds import API_VERSION, CHECK, PLURALS, RUN
from .refusals import code_of, in_words
from .terminal import complain, program

if TYPE_CHECKING:
    from ..cluster.caller import CallerApi

Command = TypeVar("Command", bound=Callable[..., Any])
Object = dict[str, Any]

_OPTIONS = (
    click.option("-n", "--namespace", default="", metavar="NAME", help="Namespace. Default: that of the context."),
    click.option("--kubeconfig", default="", metavar="FILE", help="Default: the files in KUBECONFIG, ~/.kube/config."),
    click.option("--context", default="", metavar="NAME", help="Context of the kubeconfig."),
    click.option("--cluster", default="", metavar="NAME", help="Cluster of the kubeconfig instead of the context's."),
    click.option("--user", default="", metavar="NAME", help="User of the kubeconfig instead of the context's."),
    click.option("--as", "as_user", default="", metavar="NAME", help="Act as this user."),
    click.option("--as-group", "as_groups", multiple=True, metavar="NAME", help="And in this group. May be repeated."),
)
_NAMES = ("namespace", "kubeconfig", "context", "cluster", "user", "as_user", "as_groups")


@dataclass
class Caller:
    """Who asks, and where; connected when it is first asked. Fields as kubectl's options have them."""

    namespace_option: str = ""
    kubeconfig: str = ""
    context: str = ""
    cluster: str = ""
    user: str = ""
    as_user: str = ""
    as_groups: tuple[str, ...] = ()

    @cached_property
    def api(self) -> "CallerApi":
        """The API server. Raises ClusterError."""
        from ..cluster.caller import CallerApi
        from ..cluster.kubeconfig import access

        words = (self.kubeconfig, self.context, self.cluster, self.user, self.as_user, self.as_groups)
        return CallerApi(access(*words))

    @property
    def namespace(self) -> str:
        """The namespace of the option, or of the context."""
        return self.namespace_option or self.api.access.namespace

    @cached_property
    def name(self) -> str:
        """The user name by which the API server knows the caller."""
        return self.api.whoami()

    def path(self, kind: str, name: str = "", namespace: str | None = None) -> str:
        """Where objects of our kinds are; namespace "" for those of the whole cluster."""
        place = self.namespace if namespace is None else namespace
        inside = f"/namespaces/{place}" if place else ""
        return f"/apis/{API_VERSION}{inside}/{PLURALS[kind]}" + (f"/{name}" if name else "")

    def get(self, kind: str, name: str) -> Object:
        """One object of the namespace. Raises NotFound with a sentence."""
        found = self.api.get(self.path(kind, name))
        if found is None:
            what = {CHECK: "check", RUN: "run"}.get(kind, kind)
            raise NotFound(f"there is no {what} {name} in the namespace {self.namespace}")
        return found

    def command(self, *words: str, namespace: str = "") -> str:
        """A command line to go on with: the same cluster, the same namespace or this one."""
        said = [("--kubeconfig", self.kubeconfig), ("--context", self.context), ("--cluster", self.cluster)]
        said += [("--user", self.user), ("--as", self.as_user), *(("--as-group", group) for group in self.as_groups)]
        more = [word for option, value in said if value for word in (option, value)]
        return f"{program()} {shlex.join([*words, '--namespace', namespace or self.namespace, *more])}"


def cluster_options(command: Command) -> Command:
    """kubectl's options, given to the command as a Caller; what the cluster refuses becomes an exit code."""

    @functools.wraps(command)
    def wrapped(*args: Any, **given: Any) -> int:
        values = [given.pop(name) for name in _NAMES]
        return answered(lambda: command(*args, caller=Caller(*values), **given))

    for option in reversed(_OPTIONS):
        wrapped = option(wrapped)
    return wrapped  # type: ignore[return-value]


def answered(work: Callable[[], int]) -> int:
    """The exit code of the work, or of what the cluster said against it, which is told."""
    try:
        return work()
    except ClusterError as error:
        complain(in_words(error))
        return code_of(error)
