"""The demo as a person meets it: one command, one line, three people, Ctrl-C."""

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urljoin

import pytest
import requests

from taugrid_portal.demo import environment
from tests.site.test_server import free_port

ROOT = Path(__file__).parent.parent.parent


def command(port: int, folder: Path) -> "subprocess.Popen[str]":
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "PYTHONPATH") if name in os.environ}
    return subprocess.Popen(
        [sys.executable, "manage.py", "demo"],
        cwd=ROOT,
        env=kept | {"PORT": str(port), "DEMO_FOLDER": str(folder), "PYTHONWARNINGS": "default"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@contextmanager
def running(port: int, folder: Path) -> Iterator["subprocess.Popen[str]"]:
    process = command(port, folder)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def sign_in(portal: str, person: str) -> tuple[requests.Session, requests.Response]:
    """As a browser without scripts: to the portal, to the provider, one click, back."""
    browser = requests.Session()
    choice = browser.get(portal, timeout=60)
    assert re.findall(r'value="(\w+)"', choice.text) == ["ada", "olu", "nils"]
    return browser, browser.post(choice.url, data={"sub": person}, timeout=60)


def test_the_demo_prints_one_line_signs_three_people_in_and_ends_on_ctrl_c(tmp_path: Path) -> None:
    port = free_port()
    with running(port, tmp_path) as demo:
        assert demo.stdout is not None
        line = demo.stdout.readline()
        portal = f"http://localhost:{port}"
        assert portal in line
        for person in ("ada", "olu", "nils"):
            browser, page = sign_in(f"{portal}/", person)
            assert page.status_code == 200
            assert page.url == f"{portal}/"
            assert "ample data" in page.text
            assert (browser.get(urljoin(portal, "/admin/"), timeout=60).status_code == 200) is (person == "ada")
        demo.send_signal(signal.SIGINT)
        said, logged = demo.communicate(timeout=60)
        assert demo.returncode == 0
    assert said == ""
    assert logged == ""


def test_a_busy_port_is_one_sentence_and_no_traceback(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
        with running(port, tmp_path) as demo:
            said, logged = demo.communicate(timeout=60)
            assert demo.returncode == 1
    assert said == ""
    assert logged.strip() == (
        f"CommandError: Port {port} on 127.0.0.1 is in use by another program. Choose another one, as in PORT=8080."
    )


def test_the_demo_keeps_what_somebody_has_set(tmp_path: Path) -> None:
    held = {"DEMO_FOLDER": str(tmp_path), "PORT": "9000", "ACCESS_FILE": "mine.yaml"}
    environment.prepare(held)
    assert held["ACCESS_FILE"] == "mine.yaml"
    assert held["PORTAL_URL"] == "http://localhost:9000"
    assert held["PORTAL_MODE"] == "demo"


@pytest.mark.parametrize("port", ["", "  "])
def test_an_empty_port_is_the_usual_one(port: str, tmp_path: Path) -> None:
    held = {"DEMO_FOLDER": str(tmp_path), "PORT": port}
    environment.prepare(held)
    assert held["PORTAL_URL"] == "http://localhost:8000"
