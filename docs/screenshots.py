"""`python -m docs.screenshots [NAME...]`: pictures of the HTML report for the pages; needs `chromium`."""

from __future__ import annotations

import shutil
import sys
import tempfile
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.sync_api import sync_playwright
from tests.repo.test_docs import Folder, blocks, commands

from isoscope import check, formats
from isoscope.levels import Level
from isoscope.reports.html import render_html
from isoscope.workloads import Workload, generate

if TYPE_CHECKING:
    from playwright.sync_api import Browser

__all__ = ["SHOTS"]

FOLDER = Path(__file__).with_name("screenshots")
TUTORIAL = Path(__file__).parent / "tutorial" / "first-anomaly.md"
HISTORY = Workload(
    transactions=300, keys=12, sessions=5, level=Level.PL_2, min_operations=5, max_operations=5, seed=5
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shot:
    """What one picture shows: a report, a view of it, a size, a theme, and what the pointer is over."""

    name: str
    fragment: str
    report: str = "report.html"
    width: int = 1280
    height: int = 800
    scheme: str = "light"
    hover: str = ""


SHOTS = (
    Shot(name="summary", fragment="#summary", height=1000),
    Shot(name="counterexample", fragment="#read-skew-1", height=760, hover=".steps li"),
    Shot(name="counterexample-dark", fragment="#lost-update-1", height=640, scheme="dark"),
    Shot(name="transactions", fragment="#transactions", height=520),
    Shot(name="phone", fragment="#read-skew-1", width=390, height=840),
    Shot(name="tutorial", report="bank.html", fragment="#lost-update-1", height=620, hover=".steps li"),
)


def main(names: list[str]) -> None:
    """Takes the pictures that are named, or all."""
    chromium = shutil.which("chromium") or sys.exit("no `chromium` was found")
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        _write_report(Path(folder))
        _run_tutorial(Path(folder))
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for shot in SHOTS:
            if not names or shot.name in names:
                _take(browser, Path(folder) / shot.report, shot)
        browser.close()


def _write_report(folder: Path) -> None:
    """The report on a history that was generated to break much."""
    history, page = folder / "history.txt", folder / "report.html"
    formats.save(generate(HISTORY), history)
    report = check(formats.load(history))
    text = render_html(report, folder=str(folder)).replace(str(history), history.name)
    page.write_text(text, encoding="utf-8")


def _run_tutorial(folder: Path) -> None:
    """All blocks of the tutorial, one of which writes a report."""
    running = Folder(folder)
    with chdir(folder):
        for line, language, block in blocks(TUTORIAL):
            if language == "python":
                running.run_python(block, TUTORIAL.name)
            for command in commands(line, block) if language == "console" else ():
                running.run(command)


def _take(browser: Browser, path: Path, shot: Shot) -> None:
    size = {"width": shot.width, "height": shot.height}
    page = browser.new_page(viewport=size, color_scheme=shot.scheme)  # type: ignore[arg-type]
    page.goto(f"{path.as_uri()}{shot.fragment}")
    page.wait_for_selector(".js")
    page.wait_for_timeout(300)
    if shot.hover:
        page.locator(shot.hover).first.hover()
        page.wait_for_timeout(300)
    target = FOLDER / f"{shot.name}.png"
    page.screenshot(path=target)
    page.close()


if __name__ == "__main__":
    main(sys.argv[1:])
