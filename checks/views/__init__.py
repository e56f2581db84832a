"""The pages. Each one asks the queries within the viewer's scope and renders; no rule about checks is here."""

from . import evidence
from .details import check, run, runs
from .lists import checks, fleet, nodes

__all__ = ["check", "checks", "evidence", "fleet", "nodes", "run", "runs"]
