"""The demo as one command starts it, and Chromium looking at it. Every page is watched while a test uses it."""

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Request

ROOT = Path(__file__).parents[2]
START_SECONDS = 240


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker("browser")


@pytest.fixture(scope="package")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a demo of its own, with a database of its own."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    kept = {
        name: value for name, value in os.environ.items() if name not in ("PYTEST_VERSION", "DJANGO_SETTINGS_MODULE")
    }
    database = tmp_path_factory.mktemp("demo") / "portal.sqlite3"
    environ = kept | {"PORT": str(port), "PORTAL_MODE": "demo", "DATABASE_URL": f"sqlite://{database}"}
    command = [sys.executable, "-W", "ignore", "manage.py", "demo"]
    with subprocess.Popen(command, cwd=ROOT, env=environ, stdout=subprocess.PIPE, text=True) as demo:
        killer = threading.Timer(START_SECONDS, demo.kill)
        killer.start()
        assert demo.stdout is not None
        line = demo.stdout.readline()
        killer.cancel()
        assert f"http://localhost:{port}" in line, f"the demo did not start in {START_SECONDS} s: {line!r}"
        yield f"http://localhost:{port}"
        demo.send_signal(signal.SIGINT)
        demo.wait(20)


class Watch:
    """What must not happen on any page: a console error, an exception, a request to somebody else."""

    def __init__(self, portal: str) -> None:
        self.problems: list[str] = []
        self.hosts = {"localhost"}
        self.asked: list[str] = []
        self.portal = portal

    def over(self, page: Page) -> Page:
        page.on("console", lambda message: self._log(message.type, message.text))
        page.on("pageerror", lambda error: self.problems.append(f"exception: {error}"))
        page.on("request", self._request)
        return page

    def _log(self, kind: str, text: str) -> None:
        # Chromium itself says so where a page is answered with 4xx, as some tests ask for.
        if (
            kind in ("error", "warning")
            and "Failed to load resource: the server responded with a status of 4" not in text
        ):
            self.problems.append(f"{kind}: {text}")

    def _request(self, request: Request) -> None:
        self.asked.append(request.url)
        if urlsplit(request.url).hostname not in self.hosts:
            self.problems.append(f"asked somebody else: {request.url}")


@pytest.fixture
def watch(portal: str) -> Iterator[Watch]:
    watch = Watch(portal)
    yield watch
    assert watch.problems == []


State = dict[str, object]


@pytest.fixture(scope="package")
def signed_in(portal: str, chromium: Browser) -> Callable[[str], State]:
    """The cookies of somebody after a sign-in at the demo's provider, made once per person."""
    known: dict[str, State] = {}

    def _signed_in(person: str) -> State:
        if person not in known:
            context = chromium.new_context()
            page = context.new_page()
            page.goto(portal)
            page.get_by_role("button", name=person).click()
            page.wait_for_url(f"{portal}/")
            known[person] = dict(context.storage_state())
            context.close()
        return known[person]

    return _signed_in


Open = Callable[..., Page]


@pytest.fixture
def open_page(portal: str, chromium: Browser, signed_in: Callable[[str], State], watch: Watch) -> Iterator[Open]:
    """Opens an address as a person ("Ada", "Olu", "Nils" or ""), in a scheme, a width, with or without JavaScript."""
    contexts: list[BrowserContext] = []

    def _open(
        path: str = "/", person: str = "Ada", scheme: str = "light", width: int = 1280, script: bool = True
    ) -> Page:
        context = chromium.new_context(
            base_url=portal,
            storage_state=signed_in(person) if person else None,  # type: ignore[arg-type]
            color_scheme=scheme,  # type: ignore[arg-type]
            viewport={"width": width, "height": 900},
            java_script_enabled=script,
            reduced_motion="reduce",
        )
        contexts.append(context)
        page = watch.over(context.new_page())
        page.goto(path)
        return page

    yield _open
    for context in contexts:
        context.close()
