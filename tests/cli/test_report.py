"""`isoscope check --report`: a page beside what is printed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.running import run

TEXTS = {
    "clean.txt": "w(1,1,1,1)\nr(1,1,2,2)\n",
    "aborted.txt": "w(1,1,1,-1)\nr(1,1,2,2)\n",
    "broken.txt": "w(1,1,1,1)\nr(1,1,2\n",
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in TEXTS.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def left() -> set[str]:
    """The files that were not there before."""
    return {path.name for path in Path().iterdir()} - TEXTS.keys()


@pytest.mark.parametrize("options", [[], ["--json"], ["--level", "pl-2"], ["--anomaly", "g1a"]], ids=" ".join)
@pytest.mark.parametrize("path", ["clean.txt", "aborted.txt"])
def test_a_page_changes_neither_what_is_printed_nor_the_status(path: str, options: list[str]) -> None:
    assert run("check", path, *options, "--report", "page.html") == run("check", path, *options)
    assert left() == {"page.html"}


def test_links_lead_from_the_folder_of_the_page_to_the_history() -> None:
    Path("pages").mkdir()
    run("check", "aborted.txt", "--report", "pages/page.html")
    links = re.findall(r'class="place" href="([^"#]+)#L(\d+)"', Path("pages/page.html").read_text())
    assert {path for path, _ in links} == {"../aborted.txt"}
    assert {line for _, line in links} == {"1", "2"}


def test_standard_input_has_lines_and_no_links() -> None:
    run("check", "-", "--report", "page.html", stdin=TEXTS["aborted.txt"])
    page = Path("page.html").read_text()
    assert "<bdi>line 2</bdi>" in page
    assert 'class="place" href' not in page


def test_a_history_that_cannot_be_read_has_no_page() -> None:
    assert run("check", "broken.txt", "--report", "page.html").status == 2
    assert left() == set()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["clean.txt", "aborted.txt", "--report", "page.html"], "--report is about one history\n"),
        (["clean.txt", "--summary", "--report", "page.html"], "--summary counts and has no --report\n"),
        (["clean.txt", "--report", "clean.txt"], "--report: clean.txt would replace clean.txt\n"),
        (["clean.txt", "--report", "-"], "--report needs the name of a file"),
        (["clean.txt", "--report", "."], "--report: . is a directory\n"),
        (
            ["clean.txt", "--report", "nowhere/page.html"],
            "--report: cannot write nowhere/page.html: ",
        ),
    ],
)
def test_options_that_contradict_each_other_are_one_message(arguments: list[str], problem: str) -> None:
    done = run("check", *arguments)
    assert done.status == 2
    assert done.err.startswith(f"error: {problem}")
    assert left() == set()
