"""A real browser for the pages: which one, and what it noticed while a page was open."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

PROGRAM = os.environ.get("BACKPROOF_BROWSER") or shutil.which("chromium") or ""
"""Read when the tests are collected: later they have an environment of their own."""
SCREENSHOTS = os.environ.get("BACKPROOF_SCREENSHOTS")
"""Where pictures of the pages are kept for a person; they are made in any case."""
WIDE = {"width": 1280, "height": 900}
NARROW = {"width": 360, "height": 740}


@dataclass
class Opened:
    """A page, and what must stay empty."""

    page: Page
    console: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def violations(self) -> list[str]:
        """What axe-core finds; it is sent over the debugging protocol, so the page's own policy does not stop it."""
        self.page.evaluate((files("axe_playwright_python") / "axe.min.js").read_text("utf-8"))
        found: dict[str, Any] = self.page.evaluate("axe.run({resultTypes: ['violations']})")
        return [f"{each['id']}: {node['html'][:200]}" for each in found["violations"] for node in each["nodes"][:3]]

    def overflow(self) -> int:
        """Pixels by which the page is wider than the screen."""
        return int(self.page.evaluate("document.scrollingElement.scrollWidth - document.documentElement.clientWidth"))


@contextmanager
def opened(browser: Browser, path: Path, *, screen: dict[str, int] = WIDE, scheme: str = "light") -> Iterator[Opened]:
    """The file, open in a browser window of its own."""
    context = browser.new_context(
        viewport={"width": screen["width"], "height": screen["height"]},
        color_scheme="dark" if scheme == "dark" else "light",
    )
    found = Opened(context.new_page())
    found.page.on("console", lambda message: found.console.append(message.text))
    found.page.on("pageerror", lambda error: found.console.append(str(error)))
    found.page.on("dialog", lambda dialog: found.console.append(dialog.message))
    found.page.on("request", lambda request: found.requests.append(request.url))
    found.page.goto(path.as_uri())
    try:
        yield found
    finally:
        context.close()
