"""`isoscope check --junit --sarif --step-summary`: files beside what is printed."""

from __future__ import annotations

import json
import os
from pathlib import Path
from xml.etree import ElementTree

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
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    return tmp_path


def left() -> set[str]:
    """The files that were not there before."""
    return {path.name for path in Path().iterdir()} - TEXTS.keys()


@pytest.mark.parametrize("options", [[], ["--json"], ["--summary"], ["--level", "pl-2"]], ids=" ".join)
@pytest.mark.parametrize("path", TEXTS)
def test_files_change_neither_what_is_printed_nor_the_status(path: str, options: list[str]) -> None:
    files = ["--junit", "junit.xml", "--sarif", "report.sarif"]
    assert run("check", path, *options, *files) == run("check", path, *options)
    assert left() == {"junit.xml", "report.sarif"}


def test_all_histories_go_into_one_file() -> None:
    assert run("check", *TEXTS, "missing.txt", "--junit", "j.xml", "--sarif", "s.json").status == 2
    suites = ElementTree.parse("j.xml").getroot()
    assert [suite.attrib["name"] for suite in suites] == [*TEXTS, "missing.txt"]
    assert suites.attrib["errors"] == "2"
    [log] = json.loads(Path("s.json").read_text())["runs"]
    notes = [note["level"] for note in log["invocations"][0]["toolExecutionNotifications"]]
    assert sorted(notes) == ["error", "error", "note", "note"]
    assert [result["ruleId"] for result in log["results"]] == ["aborted-read"]


def test_named_levels_are_known_to_the_files() -> None:
    run("check", "aborted.txt", "--level", "causal", "--junit", "j.xml")
    [case] = ElementTree.parse("j.xml").getroot().iter("testcase")
    assert [end.tag for end in case] == ["failure"]


def test_seconds_are_in_the_file_only_with_timings() -> None:
    run("check", "clean.txt", "--junit", "j.xml")
    assert " time=" not in Path("j.xml").read_text()
    run("check", "clean.txt", "--junit", "j.xml", "--timings")
    assert " time=" in Path("j.xml").read_text()


@pytest.mark.parametrize("option", ["--junit", "--sarif"])
def test_the_same_input_gives_the_same_bytes(option: str) -> None:
    for file in ("one", "two"):
        run("check", "aborted.txt", option, file)
    assert Path("one").read_bytes() == Path("two").read_bytes()


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--junit", "nowhere/j.xml"], "--junit: cannot write nowhere/j.xml: there is no folder nowhere"),
        (["--sarif", "."], "--sarif: . is a directory"),
        (["--junit", "-"], "--junit needs the name of a file"),
        (["--sarif", ""], "--sarif needs the name of a file"),
        (["--junit", "aborted.txt"], "--junit: aborted.txt would replace aborted.txt"),
        (["--junit", "one", "--sarif", "./one"], "--sarif: ./one would replace what --junit writes"),
        (["--step-summary"], "--step-summary writes to the file that $GITHUB_STEP_SUMMARY names"),
    ],
    ids=lambda part: " ".join(part) if isinstance(part, list) else None,
)
def test_a_file_that_cannot_be_written_is_refused_before_the_work(options: list[str], complaint: str) -> None:
    done = run("check", "aborted.txt", *options)
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith(f"error: {complaint}")
    assert left() == set()
    assert Path("aborted.txt").read_text() == TEXTS["aborted.txt"]


@pytest.mark.parametrize("options", [[], ["--summary"]], ids=" ".join)
def test_a_file_never_becomes_part_of_a_history(options: list[str]) -> None:
    Path("runs").mkdir()
    Path("aborted.txt").rename("runs/aborted.txt")
    done = run("check", "runs", "--junit", "runs/j.xml", *options)
    assert (done.status, done.out) == (2, "")
    assert done.err == "error: --junit: runs/j.xml would become a part of the history runs\n"
    assert [path.name for path in Path("runs").iterdir()] == ["aborted.txt"]


def test_nothing_is_left_where_the_question_makes_no_sense() -> None:
    assert run("check", "clean.txt", "--junit", "j.xml", "--level", "none").status == 2
    assert run("check", "clean.txt", "--junit", "j.xml", "--summary", "--timings").status == 2
    assert left() == set()


def test_a_summary_is_added_to_what_the_step_wrote_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "step.md")
    Path("step.md").write_text("# Tests\n\n")
    assert run("check", "aborted.txt", "--step-summary").status == 1
    text = Path("step.md").read_text()
    assert text.startswith("# Tests\n\n### Strongest level that holds")
    assert "aborted-read: 1 found" in text


def test_all_that_a_step_writes_shares_the_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "step.md")
    Path("step.md").write_text("x" * (2**20 - 300) + "\n\n")
    assert run("check", "aborted.txt", "--step-summary").status == 1
    assert Path("step.md").stat().st_size <= 2**20
    assert Path("step.md").read_text().endswith("1 MiB: 1 history and 1 anomaly.\n")


def test_a_summary_that_cannot_be_written_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", os.path.join("nowhere", "step.md"))  # noqa: PTH118
    done = run("check", "aborted.txt", "--step-summary")
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("error: cannot write nowhere/step.md: ")
