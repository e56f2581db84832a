"""A real browser, one per session: Playwright's synchronous API allows no second one in a process."""

import os
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.cluster.fixtures import missing


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """Debian's own, without a window."""
    path = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if not path:
        missing("Chromium is missing: run tests/cluster/install-debian.sh, or set CHROMIUM to its path.")
    # Playwright's loop stays in this thread; tests that use the database after it are not asynchronous for that.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()
