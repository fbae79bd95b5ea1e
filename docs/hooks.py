"""What MkDocs asks while it builds the site: where links lead, and the pictures of the catalogue.

On the site the README is the first page. A file of the repository that a page leads to is a page of its own.
"""

from __future__ import annotations

import os
import re
from contextlib import chdir
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from mkdocs.structure.files import File, Files

from isoscope.anomalies import CATALOGUE
from isoscope.cli.explain import example_anomaly
from isoscope.reports import render_svg

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.pages import Page

__all__ = ["on_files", "on_page_markdown"]

ROOT = Path(__file__).parents[1]
CATALOGUE_PAGE = "reference/anomalies.md"
_RENAMED = {"README.md": "index.md", "docs/index.md": "contents.md"}
_FENCE = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(\]\(|^\[[^\]]+\]: )([^)\s#]+)", re.MULTILINE)
_LANGUAGES = {".py": "python", ".rs": "rust", ".toml": "toml"}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """The pages of `docs/`, those of the repository that they lead to, and the pictures of the catalogue."""
    pages = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
    linked = {target for page in pages for target in _targets(page)}
    if index := files.get_file_from_path("index.md"):
        files.remove(index)
    for path in sorted({*pages, *linked}):
        name = str(path.relative_to(ROOT))
        if _place(path) != name.removeprefix("docs/"):
            files.append(File.generated(config, _place(path), content=_text(path)))
    for drawing in sorted({target for page in linked for target in _drawn(page)}):
        place = f"source/{drawing.relative_to(ROOT)}"
        files.append(File.generated(config, place, content=drawing.read_text(encoding="utf-8")))
    for name, picture in _pictures().items():
        files.append(File.generated(config, f"reference/anomalies/{name}.svg", content=picture))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001
    """The page with links that lead to where files are on the site."""
    if page.file.src_uri.startswith("source/"):
        return markdown
    source = _source(page.file.src_uri)
    if page.file.src_uri == CATALOGUE_PAGE:
        markdown = _with_pictures(markdown)
    parts = _FENCE.split(markdown)
    parts[::2] = [_LINK.sub(lambda link: link[1] + _led(source, link[2]), part) for part in parts[::2]]
    return "".join(parts)


def _targets(page: Path) -> Iterable[Path]:
    text = "".join(_FENCE.split(page.read_text(encoding="utf-8"))[::2])
    paths = ((page.parent / link[2]).resolve() for link in _LINK.finditer(text))
    return [path for path in paths if path.is_file() and not path.is_relative_to(ROOT / "docs")]


def _drawn(page: Path) -> Iterable[Path]:
    """Pictures of a page of the repository, which stand beside it."""
    return [path for path in _targets(page) if path.suffix == ".svg"] if page.suffix == ".md" else []


def _place(path: Path) -> str:
    """Where a file of the repository is on the site."""
    name = str(path.relative_to(ROOT))
    if name in _RENAMED or name.startswith("docs/"):
        return _RENAMED.get(name, name.removeprefix("docs/"))
    return name.lower() if path.suffix == ".md" and path.parent == ROOT else f"source/{name}.md"


def _source(place: str) -> Path:
    """The file of the repository that a page of the site shows."""
    moved = {_place(path): path for path in (*ROOT.glob("*.md"), ROOT / "docs/index.md")}
    return moved.get(place, ROOT / "docs" / place)


def _text(path: Path) -> str:
    """A page as it is, anything else as a block of code."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return text
    return f"# {path.relative_to(ROOT)}\n\n````{_LANGUAGES.get(path.suffix, 'text')}\n{text}````\n"


def _led(source: Path, link: str) -> str:
    target = (source.parent / link).resolve()
    if not target.is_file() or not target.is_relative_to(ROOT):
        return link
    return os.path.relpath(_place(target), Path(_place(source)).parent)


@cache
def _pictures() -> dict[str, str]:
    """A picture for each anomaly that has an example which this version reports."""
    with TemporaryDirectory() as folder, chdir(folder):
        found = {name: example_anomaly(entry, ".") for name, entry in CATALOGUE.items()}
    return {name: render_svg(anomaly) for name, anomaly in found.items() if anomaly is not None}


def _with_pictures(markdown: str) -> str:
    """A picture in each section of the catalogue, before the history that is allowed."""
    head, *sections = re.split(r"(?m)^(?=### )", markdown)
    return head + "".join(map(_with_picture, sections))


def _with_picture(section: str) -> str:
    name = section.partition("\n")[0].removeprefix("### ")
    if name not in _pictures():
        return section
    picture = f"![The example of {name}, drawn](anomalies/{name}.svg)\n\n"
    before, allowed, after = section.partition("Allowed (")
    return f"{before.rstrip()}\n\n{picture}{allowed}{after}"
