"""The five scenarios, from dumps: what the command line, the API and the page say of each, and whether it is the same.

Every scenario is a folder of its own with dumps and evidence, loaded into an empty database and removed again. Nothing
looks at the clock of this machine, so the same is said every time.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from django.test import Client

from checks.models import Cluster
from checks.sample import STORIES, Scenario
from checks.sample.dumps import write_cluster
from checks.sync.dump_load import load

from .readers import Place, Said, api_says, command, from_json, page_says, place_of

NOW = datetime(2026, 11, 30, 8, 24, 11, tzinfo=UTC)
CLUSTERS = ("west-1", "east-1")
RULES = f"rules:\n- {{groups: [platform-admins], clusters: [{', '.join(CLUSTERS)}]}}\n"
GROUP = "platform-admins"


@dataclass(frozen=True, slots=True)
class Told:
    """One check of a scenario, as each reader has it."""

    story: str
    scenario: Scenario
    command_line: Said
    table: str
    api: Said
    page: Said

    @property
    def differences(self) -> list[str]:
        """What is not the same for everybody, or not what the scenario promises; nothing where all is well."""
        said, found = self.command_line, []
        if (said.state, said.reason) != (self.scenario.state, self.scenario.reason):
            found.append(f"promised {self.scenario.state} ({self.scenario.reason})")
        if self.api != said:
            found.append("the API says otherwise")
        if self.page != said:
            found.append("the page says otherwise")
        name = f"{self.scenario.namespace}/{self.scenario.name} on {self.scenario.cluster}"
        if f"{said.state}  {name}  ({said.reason})\n  {said.message}\n" not in self.table:
            found.append("the table of the command line says otherwise")
        return found


def write(folder: Path) -> dict[str, list[Path]]:
    """Writes `<scenario>/<cluster>.json` and `<scenario>/evidence/`; the dumps by scenario."""
    written: dict[str, list[Path]] = {}
    for story, scenarios in STORIES.items():
        (folder / story / "evidence").mkdir(parents=True, exist_ok=True)
        for cluster in CLUSTERS:
            scenes = [scenario.build(NOW) for scenario in scenarios if scenario.cluster == cluster]
            if scenes:
                written.setdefault(story, []).append(write_cluster(folder / story, cluster, NOW, scenes))
    return written


def tour(folder: Path, reader: Callable[[], Client]) -> Iterator[Told]:
    """Goes through the scenarios. reader: a client that is signed in and may see all (of an empty database)."""
    for story, dumps in write(folder).items():
        evidence = folder / story / "evidence"
        arguments = ["explain", *(part for dump in dumps for part in ("-f", str(dump))), "--evidence", str(evidence)]
        spoken = json.loads(command(*arguments, "-o", "json"))["checks"]
        table = command(*arguments)
        load(dumps, evidence=evidence)
        client = reader()
        for scenario in STORIES[story]:
            place = where(scenario)
            item = next(each for each in spoken if place_of(each) == place)
            yield Told(story, scenario, from_json(item), table, api_says(client, place), page_says(client, place))
        Cluster.objects.filter(name__in=CLUSTERS).delete()


def where(scenario: Scenario) -> Place:
    """Where a scenario's check stands."""
    return scenario.cluster, scenario.namespace, scenario.name
