"""What the API server refuses, in words that say which right is missing and who has it; and the exit codes of that."""

import re

from ..cluster.errors import BadKubeconfig, ClusterError, Forbidden, NotServed, Overloaded, Unreachable
from ..contract.kinds import GROUP
from .terminal import UNREADABLE

USAGE, UNREACHABLE, FORBIDDEN = 64, 69, 77
_RBAC = re.compile(
    r'User "(?P<user>[^"]*)" cannot (?P<verb>\w+) resource "(?P<resource>[^"]+)" in API group "(?P<group>[^"]*)"'
    r'(?: in the namespace "(?P<namespace>[^"]+)"| at the cluster scope)?'
)
_POLICY = re.compile(
    r"ValidatingAdmissionPolicy '(?P<policy>[^']+)' with binding '[^']+' denied request: (?P<says>.*)", re.S
)
_READ = ("get", "list", "watch")
_VIEWER, _OPERATOR = "tau-validation-viewer (part of view)", "tau-validation-operator (part of edit)"
_CLUSTER_VIEWER, _APPROVER = "tau-validation-cluster-viewer", "tau-validation-approver"
# By resource, and whether it is only read.
_ROLES = {
    ("validationtemplates", True): _CLUSTER_VIEWER,
    ("validationtemplates", False): _APPROVER,
    ("validationchecks", True): _VIEWER,
    ("validationchecks", False): f"{_OPERATOR}, or {_APPROVER} for reviews,",
    ("validationruns", True): _VIEWER,
    ("validationruns", False): _OPERATOR,
    ("validationresults", True): _VIEWER,
    ("nodes", True): _CLUSTER_VIEWER,
    ("namespaces", True): "view",
    ("validatingadmissionpolicies", True): _CLUSTER_VIEWER,
    ("validatingadmissionpolicybindings", True): _CLUSTER_VIEWER,
}


def in_words(error: ClusterError) -> str:
    """One sentence for a person, or two."""
    said = " ".join(str(error).split())
    if found := _POLICY.search(said):
        return f"{found['says']} (admission policy {found['policy']})"
    if found := _RBAC.search(said):
        resource = found["resource"] + (f".{found['group']}" if found["group"] else "")
        where = f"in the namespace {found['namespace']}" if found["namespace"] else "in the whole cluster"
        role = _ROLES.get((found["resource"], found["verb"] in _READ))
        words = f"{found['user']} may not {found['verb']} {resource} {where}."
        return f"{words} The role {role} would allow it." if role else words
    if isinstance(error, Forbidden) and said == "Unauthorized":
        return "the API server does not accept these credentials (401): sign in again"
    return said


def code_of(error: ClusterError) -> int:
    """The exit code by which a script knows what went wrong."""
    if isinstance(error, BadKubeconfig):
        return USAGE if error.usage else UNREADABLE
    if isinstance(error, Forbidden):
        return FORBIDDEN
    if isinstance(error, (Unreachable, Overloaded, NotServed)):
        return UNREACHABLE
    return UNREADABLE


def not_served(kind: str) -> NotServed:
    """The error where a cluster does not have the kinds of this product."""
    return NotServed(f"this cluster has no {kind}.{GROUP}: the chart of this product is not installed there")
