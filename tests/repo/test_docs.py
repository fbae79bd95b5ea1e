"""The pages say what is so: their commands and programs run, their links lead somewhere.

A ```console block holds commands (`$ `, continued by `> `) and what they print; a line `...` stands for
any lines, ` ...` at the end of a line for its rest. A ```python block is a doctest if it has prompts, else
a program that must run. All blocks of a page run in order in one folder. Blocks of any other language are
only read. A picture that a page shows, and one of its commands names, is what that command writes.
"""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

import isoscope
from isoscope._native import table_columns
from isoscope.checkers.values import NAMES
from isoscope.formats import FORMATS
from tests.databases.conformance import of_names

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
RUNS_SERVER = re.compile(r"^\$ .*isoscope run (postgresql|mariadb)", re.MULTILINE)
RUNS_FOR_SECONDS = re.compile(r"^\$ .*(isoscope (run|serve|generate|hunt|graph)|pytest)", re.MULTILINE)
HEADING = re.compile(r"^#+ +(.+?) *$", re.MULTILINE)


class Command(NamedTuple):
    line: int
    text: str
    output: list[str]


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@cache
def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def blocks(page: Path) -> list[tuple[int, str, str]]:
    """Line, language and content of each fenced block."""
    text = text_of(page)
    return [(text.count("\n", 0, m.start()) + 2, m[1], m[2]) for m in FENCE.finditer(text)]


def commands(first: int, block: str) -> list[Command]:
    found: list[Command] = []
    for number, line in enumerate(block.splitlines(), start=first):
        if line.startswith("$ "):
            found.append(Command(number, line[2:], []))
        elif line.startswith("> ") and not found[-1].output:
            found[-1] = found[-1]._replace(text=f"{found[-1].text}\n{line[2:]}")
        else:
            found[-1].output.append(line)
    return found


def pattern(shown: list[str]) -> str:
    """A regular expression for the output that a page shows; blank lines at its end do not matter."""
    lines = (r"(?:.*\n)*?" if line == "..." else one_line(line) for line in shown)
    return "".join(lines) + r"\n*"


def one_line(shown: str) -> str:
    start = shown.removesuffix(" ...")
    return re.escape(start) + (r"\n" if start == shown else r" .*\n")


class Folder:
    """The folder in which the blocks of one page run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.status = 0
        self.variables: dict[str, object] = {"__name__": "__page__"}
        # A page shows what a person sees: a build server gets longer summaries from pytest.
        person = {name: value for name, value in os.environ.items() if name not in ("CI", "BUILD_NUMBER")}
        self.environment = {
            **person,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "COLUMNS": "100",
            "LC_ALL": "C.UTF-8",
        }

    def run(self, command: Command) -> str:
        """What the command prints; `$?` is the status of the command before."""
        examples = self.path / "examples"
        if "examples/" in command.text and "-shrunk." in command.text and not examples.exists():
            examples.symlink_to(ROOT / "docs" / "examples")  # published findings
        script = f"(exit {self.status})\n{command.text}"
        done = subprocess.run(
            ["bash", "-c", script],
            cwd=self.path,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=60,
            check=False,
            text=True,
            encoding="utf-8",
        )
        self.status = done.returncode
        return done.stdout

    def run_python(self, block: str, place: str) -> None:
        if ">>>" not in block:
            exec(compile(block, place, "exec"), self.variables)
            return
        flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        test = doctest.DocTestParser().get_doctest(block, self.variables, place, place, 0)
        report: list[str] = []
        doctest.DocTestRunner(optionflags=flags).run(test, out=report.append, clear_globs=False)
        self.variables = test.globs
        assert not report, "".join(report)


def pictures(page: Path) -> list[Path]:
    """The pictures of a page that its own commands write."""
    asked = " ".join(
        command.text
        for line, language, block in blocks(page)
        if language == "console"
        for command in commands(line, block)
    ).split()
    shown = (page.parent / link for link in LINK.findall(prose(page)) if link.endswith(".svg"))
    return [picture for picture in shown if picture.name in asked]


def executed(page: Path) -> object:
    """The page as a parameter; one that runs databases or a test suite takes seconds."""
    servers = {*RUNS_SERVER.findall(text_of(page))}
    marks = [mark for parameter in of_names(sorted(servers)) for mark in parameter.marks]
    if not servers and RUNS_FOR_SECONDS.search(text_of(page)):
        marks = [pytest.mark.slow]
    return pytest.param(page, marks=marks, id=name(page))


@pytest.mark.parametrize("page", [*map(executed, PAGES)])
def test_the_blocks_of_a_page_run_and_print_what_it_shows(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = Folder(tmp_path)
    for line, language, block in blocks(page):
        place = f"{name(page)}:{line}"
        if language == "python":
            folder.run_python(block, place)
        elif language == "console":
            for command in commands(line, block):
                printed = folder.run(command)
                shown = "\n".join(command.output)
                complaint = f"{name(page)}:{command.line}: $ {command.text}\n{printed}\nis not\n{shown}"
                assert re.fullmatch(pattern(command.output), printed), complaint
    for picture in pictures(page):
        written = (tmp_path / picture.name).read_bytes()
        assert picture.read_bytes() == written, f"run `python -m docs.refresh {name(page)}`"


def prose(page: Path) -> str:
    """The page without its blocks and without code in its sentences."""
    return re.sub(r"`[^`\n]*`", "", FENCE.sub("", text_of(page)))


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = HEADING.findall(FENCE.sub("", text_of(page)))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_relative_links_lead_to_files_and_headings(page: Path) -> None:
    for link in LINK.findall(prose(page)):
        if link.startswith(("https://", "http://")):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{name(page)} links to {link}, which is not there"
        if anchor:
            assert anchor in anchors(target), f"{name(page)} links to {link}, which has no such heading"


def test_every_page_is_reached_from_the_readme() -> None:
    reached = set()
    coming = [ROOT / "README.md"]
    while coming:
        page = coming.pop()
        if page in reached:
            continue
        reached.add(page)
        targets = (link.partition("#")[0] for link in LINK.findall(prose(page)))
        paths = ((page.parent / target).resolve() for target in targets if target.endswith(".md"))
        coming += [path for path in paths if path.is_file()]
    assert sorted(map(name, set(PAGES) - reached)) == []


def test_generated_pages_say_what_the_code_says() -> None:
    command = [sys.executable, "-m", "docs.generate", "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, cwd=ROOT)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}\nrun `python -m docs.generate`"


def test_every_format_and_every_parquet_column_has_its_place() -> None:
    pages = ROOT / "docs" / "reference" / "formats"
    assert {path.stem for path in pages.iterdir()} == {known.name for known in FORMATS}
    documented = set(re.findall(r"`(\w+)`", text_of(pages / "parquet.md").partition("\n## Columns\n")[2]))
    integers, texts = table_columns()
    assert {*integers, *texts, "value_list", "tombstone"} <= documented


def test_every_public_name_is_on_the_page_about_python() -> None:
    page = text_of(ROOT / "docs" / "reference" / "python-api.md")
    told = set(re.findall(r"\w+", " ".join(re.findall(r"`([^`]+)`", FENCE.sub("", page)))))
    assert sorted(set(isoscope.__all__) - told) == []


def test_every_dependency_has_its_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [requirement for extra in project["optional-dependencies"].values() for requirement in extra]
    names = {re.split(r"[<>=~!\[; ]", needed)[0] for needed in [*project["dependencies"], *extras]}
    names.remove("isoscope")  # what is for development takes the other extras
    for crate in ("kernel", "binding"):
        manifest = (ROOT / "rust" / crate / "Cargo.toml").read_text(encoding="utf-8")
        names |= set(tomllib.loads(manifest)["dependencies"]) - {"isoscope-kernel"}
    reasons = text_of(ROOT / "docs" / "explanation" / "dependencies.md")
    explained = {
        name for cell in re.findall(r"^\| ([\w, -]+) \|", reasons, re.MULTILINE) for name in cell.split(", ")
    }
    assert names == explained - {"dependency"}


def test_the_anomalies_that_this_version_reports_are_named_in_the_pages_that_list_them() -> None:
    for page in ("docs/explanation/verdicts.md", "docs/reference/anomalies.md"):
        assert [anomaly for anomaly in NAMES if anomaly not in text_of(ROOT / page)] == []


def test_a_page_that_shows_other_output_is_found_out() -> None:
    shown = ["one", "...", "three"]
    assert re.fullmatch(pattern(shown), "one\ntwo\nand a half\nthree\n")
    assert re.fullmatch(pattern(shown), "one\nthree\n")
    assert not re.fullmatch(pattern(shown), "one\ntwo\n")
    assert re.fullmatch(pattern(["one ..."]), "one and more\n\n")
    assert not re.fullmatch(pattern(["one"]), "one and more\n")


def test_pages_show_pictures_that_their_commands_write() -> None:
    drawn = {picture.name for page in PAGES for picture in pictures(page)}
    assert {"doctors.svg", "lost-update.svg", "plot-a-history.svg", "write-skew.svg"} <= drawn
