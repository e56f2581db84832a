"""The sample fleet with its evidence in a folder that a test may change, and people who see different parts of it."""

import shutil
from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from checks.models import Evidence, Result
from tests.pages.conftest import access, admin, browser, operator, sample

__all__ = ["access", "admin", "browser", "operator", "sample"]


@pytest.fixture
def folder(sample: Path, tmp_path: Path, settings: Settings) -> Path:
    """A copy of the evidence; changes in it are seen at once."""
    shutil.copytree(sample / "evidence", tmp_path / "evidence", symlinks=True)
    settings.EVIDENCE_FOLDER = str(tmp_path / "evidence")
    return tmp_path / "evidence"


@pytest.fixture
def piece(folder: Path, db: None) -> Evidence:
    """The logs of a Passed run of team-vision, whose file is there."""
    rows = Evidence.objects.filter(
        name="logs", state="verified", result__cluster="west-1", result__namespace="team-vision"
    ).exclude(result__run=None)
    return next(row for row in rows.order_by("pk") if (folder / row.sha256).exists())


def address(row: Evidence) -> str:
    return f"/runs/{Result.objects.get(pk=row.result_id).run_uid}/evidence/{row.name}/"
