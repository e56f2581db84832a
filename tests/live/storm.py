"""A storm of writes to the API server, and what the database says of it."""

import random
import threading
from pathlib import Path
from typing import Any

from kubernetes import client, config

from checks.models import Node

NAMES = [f"storm-{number}" for number in range(40)]


class Storm(threading.Thread):
    """Creates, changes, deletes and recreates nodes without a pause."""

    def __init__(self, kubeconfig: Path) -> None:
        super().__init__(daemon=True)
        self.api: Any = client.CoreV1Api(config.new_client_from_config(str(kubeconfig)))  # type: ignore[no-untyped-call]
        self.random = random.Random(7)
        self.calm = threading.Event()
        self.writes = 0

    def run(self) -> None:
        """Until it is calm."""
        while not self.calm.is_set():
            self.gust(self.random.choice(NAMES))
            self.writes += 1

    def gust(self, name: str) -> None:
        """One write; a conflict is as good as any."""
        labels = {"kubernetes.azure.com/agentpool": f"pool-{self.random.randrange(9)}"}
        try:
            if self.random.random() < 0.3:
                self.api.delete_node(name)
            else:
                self.api.patch_node(name, {"metadata": {"labels": labels}})
        except client.ApiException as error:
            if error.status == 404:
                self.api.create_node({"metadata": {"name": name, "labels": labels}})

    def nodes(self) -> set[tuple[str, str, str]]:
        """Name, UID and pool of every node that is there."""
        found = [item.metadata for item in self.api.list_node().items if item.metadata.name in NAMES]
        return {(m.name, m.uid, (m.labels or {}).get("kubernetes.azure.com/agentpool", "")) for m in found}

    def clear(self) -> None:
        """Removes what is left."""
        for name, _, _ in self.nodes():
            self.api.delete_node(name)


def rows() -> set[tuple[str, str, str]]:
    """Name, UID and pool of every node that the database says is there."""
    found = Node.objects.filter(gone_at=None, name__in=NAMES)
    return set(found.values_list("name", "uid", "pool"))
