"""Take the picture of the report page: `make demo`, then `python scripts/report_picture.py`.

A group is lassoed and a test node of it taken, in the light theme; two pixels a point, so that it stays crisp.
"""

import shutil
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from nodewise.runs.page import write_report

RUN, PICTURE = Path("runs/demo"), Path("docs/images/report.png")
SWITCHES = ("--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist")
WIDTH, HEIGHT = 1366, 984
GROUP = ((0.64, 0.42), (0.67, 0.32), (0.85, 0.30), (0.85, 0.48), (0.75, 0.64), (0.69, 0.68), (0.63, 0.62))
"""Corners of the lasso, in shares of the map's width and height."""

NODE = "2488"
"""A test node of the group."""


def lasso(page: Any) -> None:
    """Draw around the group."""
    box = page.locator("#map").bounding_box()
    corners = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in GROUP]
    page.click("#mode-lasso")
    page.mouse.move(*corners[0])
    page.mouse.down()
    for corner in corners[1:]:
        page.mouse.move(*corner, steps=5)
    page.mouse.up()
    page.click("#mode-pan")


def main() -> None:
    """Make the page anew, look at it and keep what is seen."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        file = write_report(RUN, Path(folder).resolve() / "report.html").path
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=SWITCHES)
        page = browser.new_page(
            viewport={"width": WIDTH, "height": HEIGHT}, device_scale_factor=2, color_scheme="light"
        )
        page.goto(file.as_uri())
        page.wait_for_selector("html[data-ready]")
        lasso(page)
        page.fill("#search", NODE)
        page.press("#search", "Enter")
        page.fill("#search", "")
        page.evaluate("document.activeElement.blur()")
        page.wait_for_timeout(500)
        page.screenshot(path=PICTURE)
        browser.close()


if __name__ == "__main__":
    main()
