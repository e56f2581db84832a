"""The container image: what its Dockerfile promises, and that what it copies is enough to run. No Docker is needed."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCKERFILE = ROOT / "deploy" / "Dockerfile"


def instructions() -> list[tuple[str, str]]:
    """(instruction, words) with continued lines joined."""
    text = re.sub(r"\\\n", " ", re.sub(r"^#.*\n", "", DOCKERFILE.read_text(), flags=re.MULTILINE))
    return [(line.split()[0], line.partition(" ")[2].strip()) for line in text.splitlines() if line.strip()]


def sources() -> list[str]:
    """What is copied from the checkout."""
    copies = [words.split() for name, words in instructions() if name == "COPY" and "--from" not in words]
    return [source for words in copies for source in words[:-1]]


def test_nothing_is_installed_that_is_not_locked_by_hash() -> None:
    installs = [words for name, words in instructions() if name == "RUN" and "install" in words.split()]
    assert len(installs) == 1
    for option in ("--require-hashes", "--no-deps", "--only-binary :all:", "-r requirements/runtime.txt"):
        assert option in installs[0]
    locked = (ROOT / "requirements" / "runtime.txt").read_text()
    assert locked.count("==") <= locked.count("--hash=sha256:")
    assert "index" not in locked


def test_the_image_runs_as_a_user_without_a_name_or_rights() -> None:
    last_stage = instructions()[max(i for i, (name, _) in enumerate(instructions()) if name == "FROM") :]
    assert ("USER", "65532:65532") in last_stage
    assert not any("chown" in words for _, words in last_stage)
    assert last_stage[-2:] == [("ENTRYPOINT", '["python", "manage.py"]'), ("CMD", '["serve"]')]


def test_the_base_is_chosen_once_and_has_a_version() -> None:
    assert [words for name, words in instructions() if name == "FROM"] == ["${BASE} AS build", "${BASE}"]
    (base,) = (words.removeprefix("BASE=") for name, words in instructions() if name == "ARG")
    assert re.fullmatch(r"python:3\.\d+-slim-\w+", base)


def test_only_what_is_copied_is_sent_to_the_builder() -> None:
    lines = (ROOT / "deploy" / "Dockerfile.dockerignore").read_text().splitlines()
    assert "*" in lines
    assert {line[1:] for line in lines if line.startswith("!")} == set(sources())


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with exactly what the image has under /app."""
    app = tmp_path_factory.mktemp("app")
    for source in sources():
        if (ROOT / source).is_dir():
            shutil.copytree(ROOT / source, app / source, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            (app / source).parent.mkdir(exist_ok=True)
            shutil.copy(ROOT / source, app / source)
    return app


def manage(app: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """manage.py in that folder, with nothing of this checkout or of the test run in its environment."""
    keep = {"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, "manage.py", *words],
        cwd=app,
        env=keep | {"PYTHONPATH": str(app)} | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_what_is_copied_is_enough_to_gather_the_static_files(image: Path) -> None:
    done = manage(image, "collectstatic", "--noinput", STATIC_ROOT=str(image / "build" / "static"))
    assert done.returncode == 0, done.stderr
    assert (image / "build" / "static" / "staticfiles.json").is_file()


def test_the_image_without_settings_says_all_that_is_missing_and_does_not_serve(image: Path) -> None:
    done = manage(image, "serve")
    assert done.returncode != 0
    for setting in ("SECRET_KEY", "PORTAL_URL", "OIDC_ISSUER", "OIDC_CLIENT_SECRET"):
        assert setting in done.stderr
    assert "Traceback" not in done.stderr


def test_the_database_is_brought_up_to_date_with_the_databases_address_alone(image: Path, tmp_path: Path) -> None:
    address = tmp_path / "database-url"
    address.write_text(f"sqlite:///{tmp_path}/portal.sqlite3\n")
    done = manage(image, "migrate", "--noinput", "--skip-checks", DATABASE_URL_FILE=str(address))
    assert done.returncode == 0, done.stderr


def test_every_setting_that_the_chart_sets_is_one_that_the_site_reads() -> None:
    code = "".join(path.read_text() for path in (ROOT / "taugrid_portal").glob("*.py"))
    read = set(re.findall(r'environ\.\w+\(\s*"([A-Z_]+)"', code))
    template = (ROOT / "deploy" / "chart" / "templates" / "portal" / "portal.yaml").read_text()
    written = {name.removesuffix("_FILE") for name in re.findall(r"name: ([A-Z][A-Z_]+)\b", template)}
    assert written - read == set()
    assert len(written) > 12


def test_the_controller_is_in_the_image_and_knows_the_settings_that_the_chart_gives_it(image: Path) -> None:
    words = [sys.executable, "-m", "checks.controller", "--help"]
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(image), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(words, cwd=image, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    chart = (ROOT / "deploy" / "chart" / "templates" / "controller" / "controller.yaml").read_text()
    code = "".join(file.read_text() for file in sorted((image / "checks" / "controller").glob("*.py")))
    settings = set(re.findall(r"name: ([A-Z][A-Z_]+)\b", chart))
    assert {"CLUSTER_NAME", "POD_NAMESPACE", "TAU_ARTIFACTS"} <= settings
    assert sorted(name for name in settings if not re.search(rf"\b{name}\b", code)) == []


def test_the_sync_starts_without_settings_of_sign_in_and_says_what_it_lacks(image: Path) -> None:
    done = manage(image, "sync")
    assert done.returncode == 2
    assert "No cluster is configured: set CLUSTER_NAME" in done.stderr
