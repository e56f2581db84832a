"""Settings that would be unsafe stop the portal before it starts, each under its own id."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from pytest_django.fixtures import Settings

from taugrid_portal.access import file
from taugrid_portal.system_checks import settings_are_safe

SAFE: dict[str, Any] = {
    "PORTAL_MODE": "production",
    "SAMPLE_DATA": False,
    "SECRET_KEY": "k8w2-9fjq-xm31-zz0p-7hbn-4tuc-61ls-vr5e-dgia-yo0m-22xw",
    "PORTAL_URL": "https://portal.example.org",
    "OIDC_ISSUER": "https://login.example.org/realms/gpu",
    "OIDC_RP_CLIENT_ID": "portal",
    "OIDC_RP_CLIENT_SECRET": "secret",
    "OIDC_RP_SCOPES": "openid profile",
    "OIDC_SIGNING_ALGORITHMS": ["RS256"],
    "ACCESS": "file",
    "DEBUG": False,
}
DEMO = SAFE | {
    "PORTAL_MODE": "demo",
    "SAMPLE_DATA": True,
    "PORTAL_URL": "http://localhost:8000",
    "HOST": "127.0.0.1",
    "OIDC_ISSUER": "http://localhost:8001",
}


def ids(settings: Settings, changed: dict[str, Any]) -> list[str | None]:
    for name, value in changed.items():
        setattr(settings, name, value)
    return [message.id for message in settings_are_safe(None)]


@pytest.mark.parametrize("safe", [SAFE, DEMO], ids=["production", "demo"])
def test_safe_settings_pass(settings: Settings, safe: dict[str, Any]) -> None:
    assert ids(settings, safe) == []


@pytest.mark.parametrize(
    ("changed", "want"),
    [
        ({"SECRET_KEY": ""}, "taugrid.E001"),
        ({"SECRET_KEY": "short"}, "taugrid.E001"),
        ({"SECRET_KEY": "a" * 60}, "taugrid.E001"),
        ({"PORTAL_URL": ""}, "taugrid.E002"),
        ({"PORTAL_URL": "portal.example.org"}, "taugrid.E002"),
        ({"PORTAL_URL": "https://portal.example.org/tau"}, "taugrid.E002"),
        ({"PORTAL_URL": "https://portal.example.org:port"}, "taugrid.E002"),
        ({"PORTAL_URL": "http://portal.example.org"}, "taugrid.E003"),
        ({"OIDC_ISSUER": ""}, "taugrid.E004"),
        ({"OIDC_ISSUER": "login.example.org"}, "taugrid.E004"),
        ({"OIDC_ISSUER": "https://login.example.org/?realm=a"}, "taugrid.E004"),
        ({"OIDC_ISSUER": "http://login.example.org"}, "taugrid.E005"),
        ({"OIDC_ISSUER": "http://localhost:8001"}, "taugrid.E005"),
        ({"OIDC_RP_CLIENT_ID": ""}, "taugrid.E006"),
        ({"OIDC_RP_CLIENT_SECRET": ""}, "taugrid.E006"),
        ({"OIDC_RP_SCOPES": "profile"}, "taugrid.E007"),
        ({"OIDC_SIGNING_ALGORITHMS": ["RS256", "HS256"]}, "taugrid.E008"),
        ({"OIDC_SIGNING_ALGORITHMS": ["none"]}, "taugrid.E008"),
        ({"OIDC_SIGNING_ALGORITHMS": []}, "taugrid.E008"),
        ({"ACCESS_FILE": "/nowhere/access.yaml"}, "taugrid.E010"),
        ({"ACCESS": "file", "ACCESS_BACKENDS": {"file": "not.there.Access"}}, "taugrid.E010"),
        ({"DEBUG": True}, "taugrid.E011"),
        ({"WHITENOISE_USE_FINDERS": False, "STATIC_ROOT": "/nowhere"}, "taugrid.E012"),
        ({"EVIDENCE_STORES": ["main=ftp://elsewhere"]}, "taugrid.E013"),
        ({"BUNDLE_SIGNING_KEY": "not a key"}, "taugrid.E013"),
    ],
)
def test_an_unsafe_setting_stops_the_portal(settings: Settings, changed: dict[str, Any], want: str) -> None:
    assert ids(settings, SAFE | changed) == [want]


@pytest.mark.parametrize(
    "changed",
    [
        {"PORTAL_URL": "https://portal.example.org"},
        {"HOST": "0.0.0.0"},
        {"OIDC_ISSUER": "https://login.example.org"},
        {"ACCESS": "kubernetes", "ACCESS_BACKENDS": {"kubernetes": "taugrid_portal.access.file.FileAccess"}},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_sample_data_never_runs_beside_production_settings(settings: Settings, changed: dict[str, Any]) -> None:
    assert "taugrid.E009" in ids(settings, DEMO | changed)


def test_sample_data_never_goes_into_a_production_database(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(settings.DATABASES, "default", {"ENGINE": "django.db.backends.postgresql"})
    assert ids(settings, DEMO) == ["taugrid.E009"]


def test_an_access_file_that_says_something_unknown_is_named(settings: Settings, tmp_path: Path) -> None:
    path = tmp_path / "rules.yaml"
    path.write_text("rules:\n- {groups: [a], cluster: west-1}\n")
    file.read.cache_clear()
    for name, value in (SAFE | {"ACCESS_FILE": str(path)}).items():
        setattr(settings, name, value)
    (message,) = settings_are_safe(None)
    assert message.id == "taugrid.E010"
    assert "rules.0.cluster" in message.msg


def test_the_whole_site_passes_what_django_itself_looks_at(settings: Settings) -> None:
    settings.ROOT_URLCONF = "taugrid_portal.urls"
    call_command("check", fail_level="WARNING")


def manage(*arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        env=kept | environment,
        cwd=Path(__file__).parent.parent.parent,
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_without_any_setting_everything_that_is_missing_is_said_at_once() -> None:
    said = manage("check", "--tag", "taugrid").stderr
    for identifier in ("E001", "E002", "E004", "E006"):
        assert f"taugrid.{identifier}" in said
    assert "Traceback" not in said


def test_a_value_that_cannot_be_read_is_one_sentence() -> None:
    result = manage("check", DEBUG="perhaps")
    assert result.returncode == 1
    assert result.stderr == "Settings: DEBUG is “perhaps”; it takes true or false.\n"
