"""For every folder: the fixtures of the test bed, so that one run starts one bed, and how long generated tests run."""

import os

import pytest
from hypothesis import HealthCheck, settings

pytest_plugins = ["tests.cluster.fixtures", "tests.chromium"]

# `make test` tries a few hundred cases of what is generated, `make test-deep` (TAU_DEEP=1) some thousands.
_QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
settings.register_profile("quick", max_examples=200, deadline=None, suppress_health_check=_QUIET)
settings.register_profile("deep", max_examples=5000, deadline=None, suppress_health_check=_QUIET)
settings.load_profile("deep" if os.environ.get("TAU_DEEP") == "1" else "quick")


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings_parallel_suffix: None, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """SQLite in a file, as people run it: in memory, threads would lock each other out of whole tables."""
    from django.db import connection

    if connection.vendor == "sqlite":
        folder = tmp_path_factory.mktemp("database")
        connection.settings_dict["TEST"]["NAME"] = str(folder / "test.sqlite3")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks what uses a database, however it asks for one: those tests run on PostgreSQL as well."""
    for item in items:
        if {"db", "transactional_db"} & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.database)
