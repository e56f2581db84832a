"""Checks run in a real image by a real engine: podman, with an image made of Debian's static busybox."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.cli.invoke import invoke as run

from .test_conformance import GOOD, UNREADABLE, broken, rules

BUSYBOX = Path("/bin/busybox")
pytestmark = [
    pytest.mark.skipif(shutil.which("podman") is None, reason="podman is not installed"),
    pytest.mark.skipif(not BUSYBOX.exists(), reason="busybox-static is not installed"),
]
IMAGE = "localhost/tau-busybox:1"
CONF = """[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
[engine]
cgroup_manager = "cgroupfs"
"""


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The image, in the caller's own storage under a name of its own; skips where podman can run nothing."""
    folder = tmp_path_factory.mktemp("image")
    programs = folder / "root" / "bin"
    programs.mkdir(parents=True)
    shutil.copy(BUSYBOX, programs / "busybox")
    for name in ("sh", "true", "printf", "ls", "test", "cat"):
        (programs / name).symlink_to("busybox")
    for name in ("dev", "proc", "tmp"):
        (folder / "root" / name).mkdir()
    (folder / "containers.conf").write_text(CONF + ('runtime = "runc"\n' if shutil.which("runc") else ""))
    os.environ["CONTAINERS_CONF"] = str(folder / "containers.conf")
    subprocess.run(["tar", "-C", folder / "root", "-cf", folder / "image.tar", "."], check=True)
    subprocess.run(["podman", "import", "-q", folder / "image.tar", IMAGE], check=True, capture_output=True)
    tried = subprocess.run(
        ["podman", "run", "--rm", "--network", "none", IMAGE, "true"], capture_output=True, text=True
    )
    if tried.returncode:
        pytest.skip(f"podman runs nothing here: {tried.stderr[-200:]}")
    return IMAGE


def check_in(image: str, folder: Path, script: str | None = None) -> Path:
    """The good example in this image, with another script if one is given."""
    documents = [each for each in yaml.safe_load_all(GOOD.read_text()) if each["kind"] != "Pod"]
    container = documents[0]["spec"]["job"]["spec"]["template"]["spec"]["containers"][0]
    container["image"] = image
    if script is not None:
        container["command"] = ["/bin/sh", "-c", script]
    file = folder / "check.yaml"
    file.write_text(yaml.safe_dump_all(documents))
    return file


def test_a_good_check_reports_from_its_image(image: str, tmp_path: Path) -> None:
    _, found = rules("-f", check_in(image, tmp_path), "--engine", "podman")
    assert found["report-there"]["kept"], found["report-there"]
    assert found["report-fields"]["kept"], found["report-fields"]
    assert set(broken(found)) <= {
        "images-by-digest",
        "template-pinned",
    }  # what is made here has no digest of a registry


@pytest.mark.parametrize(
    ("script", "rule"),
    [
        ("true", "report-there"),
        ("echo no json > /dev/termination-log", "report-is-json"),
        ("echo x > /tmp/x && echo written > /dev/termination-log; true", "report-there"),
    ],
    ids=["says nothing", "says no JSON", "writes where nothing can be written"],
)
def test_a_bad_check_breaks_its_rule_in_its_image(image: str, tmp_path: Path, script: str, rule: str) -> None:
    _, found = rules("-f", check_in(image, tmp_path, script), "--engine", "podman")
    assert found[rule]["kept"] is False, found


def test_a_program_that_is_not_in_the_image_is_named(image: str, tmp_path: Path) -> None:
    file = check_in(image, tmp_path)
    text = file.read_text().replace("/bin/sh", "/bin/python3")
    file.write_text(text)
    done = run("conformance", "-f", str(file), "--engine", "podman")
    assert done.exit_code == UNREADABLE
    assert "podman could not run" in done.stderr
    assert "/bin/python3" in done.stderr
