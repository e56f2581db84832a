"""Checks run in a real image by a real engine: podman, with an image made of Debian's static busybox."""

import os
import shutil
import subprocess
from collections.abc import Iterator
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
# A test machine may neither raise limits nor manage cgroups by systemd.
CONF = """[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
[engine]
cgroup_manager = "cgroupfs"
"""
BY_ITSELF = {
    "good": None,
    "silent": "true",
    "broken": "echo no json > /dev/termination-log",
}  # None: the good example's


def good_script() -> str:
    """What the good example's ranks run."""
    template = next(yaml.safe_load_all(GOOD.read_text()))
    return str(template["spec"]["job"]["spec"]["template"]["spec"]["containers"][0]["command"][2])


def podman(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["podman", *map(str, words)], check=False, capture_output=True, text=True, timeout=120)


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Images by what they do by themselves, under names of this run's own; skips where podman can run nothing."""
    folder = tmp_path_factory.mktemp("image")
    programs = folder / "root" / "bin"
    programs.mkdir(parents=True)
    shutil.copy(BUSYBOX, programs / "busybox")
    for name in ("sh", "true", "printf", "ls", "test", "cat"):
        (programs / name).symlink_to("busybox")
    for name in ("dev", "proc", "tmp", "open"):
        (folder / "root" / name).mkdir()
    (folder / "root" / "open").chmod(0o777)  # whoever may not write here is kept by the file system itself
    conf = folder / "containers.conf"
    conf.write_text(CONF + ('runtime = "runc"\n' if shutil.which("runc") else ""))
    made = {name: f"localhost/tau-check-test-{os.getpid()}:{name}" for name in BY_ITSELF}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CONTAINERS_CONF", str(conf))
        for name, script in BY_ITSELF.items():
            (folder / "root" / "check").write_text(good_script() if script is None else script)
            subprocess.run(["tar", "-C", folder / "root", "-cf", folder / "image.tar", "."], check=True)
            starts = 'ENTRYPOINT ["/bin/sh", "/check"]'
            done = podman("import", "--quiet", "--change", starts, folder / "image.tar", made[name])
            assert done.returncode == 0, done.stderr
        try:
            tried = podman("run", "--rm", "--network", "none", "--entrypoint", "/bin/true", made["good"])
            if tried.returncode:
                pytest.skip(f"podman runs nothing here: {tried.stderr[-200:]}")
            yield made
        finally:
            podman("rmi", *made.values())


@pytest.fixture(scope="module")
def image(images: dict[str, str]) -> str:
    """One for checks that bring their own command."""
    return images["good"]


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
        ("echo x > /open/x && echo written > /dev/termination-log; true", "report-there"),
    ],
    ids=["says nothing", "says no JSON", "writes where nothing can be written"],
)
def test_a_bad_check_breaks_its_rule_in_its_image(image: str, tmp_path: Path, script: str, rule: str) -> None:
    _, found = rules("-f", check_in(image, tmp_path, script), "--engine", "podman")
    assert found[rule]["kept"] is False, found


def test_an_image_alone_is_judged_by_what_it_reports(images: dict[str, str]) -> None:
    code, found = rules("--image", images["good"], "--engine", "podman")
    assert (code, broken(found)) == (0, [])
    assert {name for name, each in found.items() if each["kept"]} >= {"report-there", "report-fields"}


@pytest.mark.parametrize(("which", "rule"), [("silent", "report-there"), ("broken", "report-is-json")])
def test_a_bad_image_alone_breaks_its_rule(images: dict[str, str], which: str, rule: str) -> None:
    code, found = rules("--image", images[which], "--engine", "podman")
    assert (code, broken(found)) == (UNREADABLE, [rule])


def test_a_program_that_is_not_in_the_image_is_named(image: str, tmp_path: Path) -> None:
    file = check_in(image, tmp_path)
    text = file.read_text().replace("/bin/sh", "/bin/python3")
    file.write_text(text)
    done = run("conformance", "-f", str(file), "--engine", "podman")
    assert done.exit_code == UNREADABLE
    assert "podman could not run" in done.stderr
    assert "/bin/python3" in done.stderr
