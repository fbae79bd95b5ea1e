"""The site is built from the pages, and a reader needs nothing but the site."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from isoscope.anomalies import CATALOGUE
from isoscope.cli.explain import reported

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
#: Attributes that make a browser fetch something; `a href` does not.
FETCHED = {("link", "href"), ("script", "src"), ("img", "src"), ("iframe", "src"), ("source", "src")}


class Links(HTMLParser):
    """Collects what a page leads to and what it fetches."""

    def __init__(self) -> None:
        super().__init__()
        self.led: list[str] = []
        self.fetched: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for attribute, value in attrs:
            if value and (tag, attribute) in FETCHED:
                self.fetched.append(value)
            elif value and (tag, attribute) == ("a", "href"):
                self.led.append(value)


def links(page: Path) -> Links:
    found = Links()
    found.feed(page.read_text(encoding="utf-8"))
    return found


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=280
    )
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"
    return folder


def test_every_page_is_there_and_leads_only_to_files_that_are(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > len(list((ROOT / "docs").rglob("*.md")))
    for page in set(pages) - {site / "404.html"}:
        found = links(page)
        paths = (urlsplit(link) for link in (*found.led, *found.fetched))
        targets = {unquote(link.path) for link in paths if not link.scheme and link.path}
        assert [target for target in targets if not (page.parent / target).exists()] == [], page


def test_a_page_fetches_nothing_from_elsewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        assert [link for link in links(page).fetched if re.match(r"(\w+:)?//", link)] == [], page
    for style in site.rglob("*.css"):
        assert not re.search(r"(@import|url\()[\s\"']*(https?:)?//", style.read_text(encoding="utf-8")), style


def test_the_first_page_is_the_readme(site: Path) -> None:
    assert "What it cannot tell you" in (site / "index.html").read_text(encoding="utf-8")


def test_the_catalogue_has_a_picture_of_every_anomaly_that_is_reported(site: Path) -> None:
    shown = {
        Path(link).stem for link in links(site / "reference/anomalies.html").fetched if "anomalies/" in link
    }
    assert shown == {name for name, entry in CATALOGUE.items() if entry.example and name in reported()}


def test_pictures_do_not_tell_where_they_were_drawn(site: Path) -> None:
    for picture in site.rglob("*.svg"):
        assert tempfile.gettempdir() not in picture.read_text(encoding="utf-8"), picture
