"""Hostile evidence in a real browser: scripts in text, HTML and SVG, opened in every way that a page offers."""

import hashlib
import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser as Chromium
from playwright.sync_api import BrowserContext, Page

from checks.models import Evidence
from checks.queries.evidence import Listed, RunEvidence
from checks.views import evidence as views
from taugrid_portal.request import PortalRequest
from tests.pages.conftest import Browser

from .conftest import address

pytestmark = pytest.mark.browser
HOSTILE = (
    b"<html><body onload='fetch(\"/stolen\")'><script>document.title='stolen';fetch('/stolen')</script>"
    b"<svg xmlns='http://www.w3.org/2000/svg' onload='fetch(\"/stolen\")'/><img src='/stolen' onerror='alert(1)'>"
    b"\x1b]8;;javascript:fetch('/stolen')\x07\x1b[31m<b>red</b></td></table><script>fetch('/stolen')</script>\n"
    b"</body></html>"
)
KINDS = ["text/plain", "application/json", "text/html", "image/svg+xml", "application/xhtml+xml", "text/javascript"]


@pytest.fixture(scope="package", autouse=True)
def beside_a_loop() -> Iterator[None]:
    """Playwright's loop runs in this thread, and Django would refuse its database beside one."""
    with pytest.MonkeyPatch.context() as environ:
        environ.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        yield


@pytest.fixture
def as_kind(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Callable[[str], None]:
    """Makes the piece one that was sealed with these bytes, and calls itself of this kind."""
    found = views._found
    digest = hashlib.sha256(HOSTILE).hexdigest()
    (folder / digest).write_bytes(HOSTILE)

    def _as_kind(media_type: str) -> None:
        def hostile(request: PortalRequest, uid: str, name: str) -> tuple[RunEvidence, Listed]:
            run, piece = found(request, uid, name)
            changed = {"media_type": media_type, "sha256": digest, "size_bytes": len(HOSTILE)}
            return run, replace(piece, item=piece.item.model_copy(update=changed))

        monkeypatch.setattr(views, "_found", hostile)

    return _as_kind


class Replay:
    """The portal's own answers, headers included, from a server that a browser can reach. asked: every path."""

    def __init__(self) -> None:
        self.answers: dict[str, tuple[int, dict[str, str], bytes]] = {}
        self.asked: list[str] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *arguments: object) -> None:
                pass

            def do_GET(self) -> None:
                outer.asked.append(self.path)
                status, headers, body = outer.answers.get(self.path, (404, {}, b""))
                self.send_response(status)
                for name, value in ({"Content-Length": str(len(body))} | headers).items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def record(self, operator: Browser, path: str) -> bytes:
        found = operator.get(path)
        body = b"".join(found.streaming_content) if found.streaming else found.content  # type: ignore[attr-defined]
        self.answers[path] = (found.status_code, dict(found.items()), body)
        return bytes(body)


@pytest.fixture
def replay() -> Iterator[Replay]:
    made = Replay()
    yield made
    made.server.shutdown()
    made.server.server_close()


@pytest.fixture
def context(chromium: Chromium, replay: Replay) -> Iterator[BrowserContext]:
    made = chromium.new_context(base_url=f"http://127.0.0.1:{replay.server.server_port}", accept_downloads=True)
    yield made
    made.close()


def settled(page: Page) -> None:
    page.wait_for_timeout(300)


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_in_evidence_runs_wherever_it_is_opened(
    context: BrowserContext,
    operator: Browser,
    piece: Evidence,
    as_kind: Callable[[str], None],
    replay: Replay,
    kind: str,
) -> None:
    as_kind(kind)
    html = replay.record(operator, address(piece)).decode()
    for path in [address(piece) + "content", *re.findall(r'(?:href|src)="(/static/[^"]+)"', html)]:
        replay.record(operator, path)
    page = context.new_page()
    page.goto(address(piece))
    settled(page)
    if kind in ("text/plain", "application/json"):
        assert "<script>" in page.locator(".lines").inner_text()
        assert page.locator(".lines script, .lines img, .lines svg, .lines b").count() == 0
        assert page.locator(".lines a[href*='javascript']").count() == 0
    else:
        assert page.locator(".lines").count() == 0
        assert "not shown here" in page.locator("main").inner_text()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download").click()
    saved = Path(download.value.path()).read_bytes()
    assert saved == HOSTILE and not download.value.suggested_filename.endswith((".html", ".svg", ".js"))
    page.evaluate(
        "path => { for (const tag of ['iframe', 'embed', 'img', 'script']) {"
        " const e = document.createElement(tag); e.src = path; document.body.append(e) } }",
        address(piece) + "content",
    )
    settled(page)
    assert "/stolen" not in replay.asked and address(piece) + "content" in replay.asked and "stolen" not in page.title()
