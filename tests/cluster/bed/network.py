"""One bridge per node, each with its own subnet: a node's address is the bridge's, pods get the rest.

Pods of two nodes reach each other because the kernel forwards between these bridges only; the machine's own
`ip_forward` is left as it is, and there is no address translation and no way out.
"""

import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.bed.ledger import Ledger

PREFIX = "tau-bed-"


class NoNetwork(Exception):
    """A bridge could not be made; the message is what `ip` said."""


@dataclass(frozen=True)
class Bridge:
    """A bridge named after the third number of its subnet 10.88.N.0/24."""

    number: int

    @property
    def name(self) -> str:
        """The interface's name."""
        return f"{PREFIX}{self.number}"

    @property
    def address(self) -> str:
        """The node's address, and the pods' gateway."""
        return f"10.88.{self.number}.1"

    @property
    def subnet(self) -> str:
        """Where pod addresses come from."""
        return f"10.88.{self.number}.0/24"


def create_bridge(ledger: Ledger) -> Bridge:
    """Make a bridge on the first free subnet; the kernel refuses a name twice, so beds never collide."""
    refused = ""
    for number in range(256):
        bridge = Bridge(number)
        if Path(f"/sys/class/net/{bridge.name}").exists():
            continue
        made = _ip("link", "add", bridge.name, "type", "bridge")
        if made.returncode == 0:
            ledger.bridge(bridge.name)
            _bring_up(bridge)
            return bridge
        refused = made.stderr.strip()
    raise NoNetwork(f"No bridge could be made: {refused or 'all 256 subnets are in use'}.")


def _bring_up(bridge: Bridge) -> None:
    for words in (
        ("address", "add", f"{bridge.address}/24", "dev", bridge.name),
        ("link", "set", bridge.name, "up"),
    ):
        done = _ip(*words)
        if done.returncode:
            raise NoNetwork(f"ip {' '.join(words)}: {done.stderr.strip()}")
    Path(f"/proc/sys/net/ipv4/conf/{bridge.name}/forwarding").write_text("1")


def _ip(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
