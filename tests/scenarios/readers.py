"""What the command line, the API and the page say of one check, each in the words of its own, brought to one form."""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import quote

from bs4 import BeautifulSoup, Tag
from click.testing import CliRunner
from django.test import Client

from checks.cli import commands
from checks.contract.clock import format_time

Place = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Said:
    """What one reader was told of a check. clauses: each with what it found."""

    state: str
    reason: str
    message: str
    clauses: tuple[tuple[str, str], ...]


def place_of(item: dict[str, Any]) -> Place:
    """Cluster, namespace and name of a check as JSON."""
    return item["cluster"], item["namespace"], item["name"]


def command(*arguments: str) -> str:
    """What `tau-check` prints. Raises what it raises."""
    answer = CliRunner().invoke(commands, arguments, standalone_mode=False)
    if answer.exception is not None:
        raise answer.exception
    return answer.stdout


def from_json(item: dict[str, Any]) -> Said:
    """A check as the command line and the API write it."""
    clauses = tuple((clause["clause"], clause["holds"]) for clause in item["proof"])
    return Said(item["state"], item["reason"], item["message"], clauses)


def api_says(client: Client, place: Place) -> Said:
    """The answer of the API."""
    response = client.get(f"/api/portal/checks/{_address(place)}")
    if response.status_code != 200:
        raise RuntimeError(f"the API answers {response.status_code} for {_address(place)}")
    return from_json(json.loads(response.content)["check"])


def page_says(client: Client, place: Place) -> Said:
    """The banner and the clauses of the check's page."""
    response = client.get(f"/checks/{_address(place)}/")
    if response.status_code != 200:
        raise RuntimeError(f"the page answers {response.status_code} for {_address(place)}")
    html = BeautifulSoup(response.content, "html.parser")
    banner = html.select("#verdict")[0]
    clauses = tuple(
        (str(each["id"]).removeprefix("clause-"), str(each["data-holds"])) for each in html.select(".clause")
    )
    sentence = banner.select(".banner-says > p")[0]
    return Said(_words(banner.select("h2")[0]), _words(banner.select(".reason")[0]), _words(sentence), clauses)


def _address(place: Place) -> str:
    return "/".join(quote(part, safe="") for part in place)


def _words(part: Tag) -> str:
    """The text of an element; a time that is shown short is read as the machine-readable time that it carries."""
    for time in part.select("time[datetime]"):
        time.string = format_time(datetime.fromisoformat(str(time["datetime"])))
    return " ".join(part.get_text().split())
