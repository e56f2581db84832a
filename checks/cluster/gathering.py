"""Everything that the verdicts of a namespace, or of a whole cluster, are made from, read once as the caller may.

The order matters: a registration names its last run and a run its result, so each is listed before what it names.
"""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from ..contract.guard import POLICY_NAME
from ..contract.kinds import CHECK, CLUSTER_NAME, GROUP, PLURALS, RESULT, RUN, TEMPLATE
from ..facts import Source
from ..objects import WITHHELD, section, text
from ..snapshot import BINDING, POLICY, Snapshot
from .caller import CallerApi
from .client import path_of
from .errors import ClusterError, Forbidden, NotFound, NotServed

Object = dict[str, Any]
_ADMISSION, _KUEUE = "admissionregistration.k8s.io", "kueue.x-k8s.io"
_OWN = "v1alpha1"


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind to read. essential: verdicts need it; without `namespaced` it is read from the whole cluster."""

    name: str
    group: str
    version: str
    plural: str
    namespaced: bool = False
    essential: bool = True

    @property
    def api_version(self) -> str:
        """As objects say it."""
        return f"{self.group}/{self.version}" if self.group else self.version


KINDS = (
    Kind(TEMPLATE, GROUP, _OWN, PLURALS[TEMPLATE]),
    Kind(POLICY, _ADMISSION, "v1", "validatingadmissionpolicies"),
    Kind(BINDING, _ADMISSION, "v1", "validatingadmissionpolicybindings"),
    Kind(CHECK, GROUP, _OWN, PLURALS[CHECK], namespaced=True),
    Kind(RUN, GROUP, _OWN, PLURALS[RUN], namespaced=True),
    Kind(RESULT, GROUP, _OWN, PLURALS[RESULT], namespaced=True),
    Kind("Node", "", "v1", "nodes"),
)
QUEUES = (
    Kind("ClusterQueue", _KUEUE, "v1beta2", "clusterqueues", essential=False),
    Kind("LocalQueue", _KUEUE, "v1beta2", "localqueues", namespaced=True, essential=False),
    Kind("Workload", _KUEUE, "v1beta2", "workloads", namespaced=True, essential=False),
)


@dataclass
class Gathered:
    """What was read. unread: what the API server said, by the plural that the caller may not read.

    is_guess: the cluster's name is only the kubeconfig's.
    """

    cluster: str
    namespace: str
    at: datetime
    objects: list[Object] = field(default_factory=list)
    unread: dict[str, ClusterError] = field(default_factory=dict)
    is_guess: bool = False

    @property
    def essential_unread(self) -> dict[str, ClusterError]:
        """What is missing for verdicts."""
        optional = {kind.plural for kind in QUEUES}
        return {plural: error for plural, error in self.unread.items() if plural not in optional}

    @property
    def complete(self) -> bool:
        """Whether verdicts have everything that they need."""
        return not self.essential_unread

    def snapshot(self) -> Snapshot:
        """The objects, as those of a dump."""
        found = Snapshot(self.cluster, self.at, self.complete)
        for item in self.objects:
            found.add(item)
        return found

    def source(self, snapshot: Snapshot, why: str) -> Source:
        """How the cluster was seen. why: what is missing, as a sentence."""
        return Source(self.cluster, self.complete, self.at, snapshot.guard(), why=why)


def gather(api: CallerApi, namespace: str = "", name: str = "", *, queues: bool = False) -> Gathered:
    """Reads a namespace and what its verdicts need from around it; "" reads every namespace.

    name: of the cluster, as its results say it; "" where the cluster says it itself. Raises ClusterError: Forbidden
    where not even the checks may be read, NotServed where the cluster does not have them.
    """
    found = Gathered(name, namespace, datetime.now(UTC))
    _read_namespaces(api, found)
    for kind in (*KINDS, *(QUEUES if queues else ())):
        try:
            found.objects += _listed(api, kind, namespace)
        except Forbidden as error:
            if kind.namespaced and kind.essential:
                raise
            found.unread[kind.plural] = error
        except NotFound as error:
            if kind.essential:
                raise NotServed(
                    f"this cluster has no {kind.plural}.{kind.group}: is the product's chart installed?"
                ) from error
    said = name or _said_name(found.objects)
    found.cluster, found.is_guess = said or api.access.cluster, not said
    found.at = datetime.now(UTC)
    return found


def _read_namespaces(api: CallerApi, found: Gathered) -> None:
    kind = Kind("Namespace", "", "v1", "namespaces")
    try:
        if not found.namespace:
            found.objects += _listed(api, kind, "")
            return
        item = api.get(f"/api/v1/namespaces/{found.namespace}")
        if item is None:
            raise NotFound(f"there is no namespace {found.namespace}")
        found.objects.append(item)
    except Forbidden as error:
        found.unread[kind.plural] = error


def _listed(api: CallerApi, kind: Kind, namespace: str) -> list[Object]:
    path = path_of(kind.group, kind.version, kind.plural)
    if kind.namespaced and namespace:
        path = path.removesuffix(kind.plural) + f"namespaces/{namespace}/{kind.plural}"
    found = [item for page in api.list(path) for item in page.items]
    own = {"kind": kind.name, "apiVersion": kind.api_version}
    return [{key: value for key, value in item.items() if key != WITHHELD} | own for item in found]


def _said_name(objects: list[Object]) -> str:
    """The name that whoever installed the product gave this cluster: it stands on the policy that guards results."""
    for item in objects:
        metadata = section(item, "metadata")
        if item["kind"] == POLICY and text(metadata, "name") == POLICY_NAME:
            return text(section(metadata, "annotations"), CLUSTER_NAME)
    return ""
