"""Access by a file of groups: for the demo, and for reading dumps where no API server can be asked.

The file is a list of rules; what a viewer may see is the union of the rules that name them or one of their
groups. Whatever no rule grants is not seen. For example:

    rules:
      - groups: [platform-admins]
        clusters: [west-1]
        fleet: [west-1]
        reviews: true
      - users: [olu]
        namespaces: [{cluster: west-1, namespace: team-vision}]
"""

from functools import cache
from pathlib import Path
from typing import Annotated

import yaml
from django.conf import settings
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from checks.scope import Scope, Viewer
from taugrid_portal.access import AccessError

Name = Annotated[str, Field(min_length=1, max_length=253)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Place(_Strict):
    """One namespace of one cluster."""

    cluster: Name
    namespace: Name


class Rule(_Strict):
    """What some users and groups may see; the words are those of `checks.scope.Scope`."""

    users: list[Name] = []
    groups: list[Name] = []
    clusters: list[Name] = []
    namespaces: list[Place] = []
    fleet: list[Name] = []
    reviews: bool = False

    def is_about(self, viewer: Viewer) -> bool:
        return viewer.username in self.users or not set(self.groups).isdisjoint(viewer.groups)


class Rules(_Strict):
    """The whole file."""

    rules: list[Rule]


class FileAccess:
    """Reads the file that ACCESS_FILE names, once per process."""

    def scope(self, viewer: Viewer) -> Scope:
        granted = [rule for rule in read(settings.ACCESS_FILE).rules if rule.is_about(viewer)]
        return Scope(
            clusters=frozenset(name for rule in granted for name in rule.clusters),
            namespaces=frozenset((place.cluster, place.namespace) for rule in granted for place in rule.namespaces),
            fleet=frozenset(name for rule in granted for name in rule.fleet),
            reviews=any(rule.reviews for rule in granted),
            viewer=viewer,
        )


@cache
def read(path: str) -> Rules:
    """The rules in a file. AccessError names the file and the field that cannot be read."""
    try:
        return Rules.model_validate(yaml.safe_load(Path(path).read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError) as problem:
        raise AccessError(f"The access file {path} cannot be read.") from problem
    except yaml.YAMLError as problem:
        mark = getattr(problem, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark else ""
        raise AccessError(f"The access file {path} is not YAML{where}.") from problem
    except ValidationError as problem:
        first = problem.errors(include_url=False, include_input=False)[0]
        field = ".".join(str(step) for step in first["loc"]) or "the file"
        raise AccessError(f"The access file {path}: {field}: {first['msg']}.") from problem
