"""People of a test: each has a client certificate of their own, or the admin acts as them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.bed.control import ADMIN, ControlPlane, Refused


@dataclass(frozen=True)
class Person:
    """A user name and groups as the API server knows them; `kubeconfig` holds their own certificate."""

    control: ControlPlane
    name: str
    groups: tuple[str, ...]
    kubeconfig: Path

    def kubectl(self, *arguments: str, stdin: str | None = None) -> str:
        """Run kubectl as this person; raises Refused with the API server's sentence."""
        return self.control.kubectl(*arguments, stdin=stdin, kubeconfig=self.kubeconfig)

    def can(self, verb: str, resource: str, namespace: str | None = None) -> bool:
        """Ask the API server whether this person may; without a namespace: in all of them."""
        place = ["--namespace", namespace] if namespace else ["--all-namespaces"]
        try:
            return self.kubectl("auth", "can-i", verb, resource, *place).strip() == "yes"
        except Refused as refused:
            if str(refused).strip() == "no":
                return False
            raise


def person(control: ControlPlane, name: str, groups: Sequence[str] = ()) -> Person:
    """Somebody with a client certificate: CN is the name, each O a group. No rights come with it."""
    return Person(control, name, tuple(groups), control.kubeconfig_for(name, groups))


def admin(control: ControlPlane) -> Person:
    """The bed's own admin (`system:masters`)."""
    return Person(control, ADMIN, ("system:masters",), control.kubeconfig)


def impersonating(name: str, groups: Sequence[str] = ()) -> list[str]:
    """kubectl's options for the admin to act as somebody else."""
    return [f"--as={name}", *(f"--as-group={group}" for group in groups)]
