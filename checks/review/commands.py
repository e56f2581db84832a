"""The exact commands that approve or reject what is on the screen. The portal itself never runs one.

Each names the digest that was looked at, so that what is approved is what was seen: the admission policy refuses any
other. Every value is quoted for a POSIX shell.
"""

import shlex
from dataclasses import dataclass

from ..contract.kinds import APPROVED, CHECK, GROUP, PLURALS, REJECTED, REVIEWED_BY

WHY = "say why here"


@dataclass(frozen=True, slots=True)
class Command:
    """One decision: with this product's own command line, and with kubectl alone."""

    tau_check: str
    kubectl: str


def approve(namespace: str, name: str, digest: str, reviewer: str) -> Command:
    """Approves the spec with this digest; a rejection that is there is taken back in the same step."""
    marks = [f"{APPROVED}={digest}", f"{REVIEWED_BY}={reviewer}", f"{REJECTED}-"]
    own = ["tau-check", "approve", name, "--namespace", namespace, "--digest", digest]
    return Command(shlex.join(own), _annotate(namespace, name, marks))


def reject(namespace: str, name: str, reviewer: str) -> Command:
    """Rejects the registration, whatever its spec becomes; an approval that is there is taken back."""
    marks = [f"{REJECTED}={WHY}", f"{REVIEWED_BY}={reviewer}", f"{APPROVED}-"]
    own = ["tau-check", "reject", name, "--namespace", namespace, "--reason", WHY]
    return Command(shlex.join(own), _annotate(namespace, name, marks))


def _annotate(namespace: str, name: str, marks: list[str]) -> str:
    resource = f"{PLURALS[CHECK]}.{GROUP}"
    return shlex.join(["kubectl", "annotate", resource, name, "--namespace", namespace, "--overwrite", *marks])
