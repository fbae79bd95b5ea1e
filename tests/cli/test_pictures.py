"""`isoscope check --dot` and `--svg`: pictures as files."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from tests.cli.running import run

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = {
    "clean.txt": "w(1,1,1,1)\nr(1,1,2,2)\n",
    "aborted.txt": "w(1,1,1,-1)\nr(1,1,2,2)\n",
    "twice.txt": "w(1,1,1,-1)\nr(1,1,2,2)\nr(1,1,3,3)\nr(2,9,3,3)\n",
    "broken.txt": "w(1,1,1,1)\nr(1,1,2\n",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in TEXTS.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_a_folder_has_a_picture_of_each_counterexample(folder: Path) -> None:
    done = run("check", "twice.txt", "--svg", "pictures")
    assert (done.status, done.err) == (1, "")
    assert files(folder / "pictures") == [
        "aborted-read-1.svg",
        "aborted-read-2.svg",
        "thin-air-read-1.svg",
    ]
    for path in (folder / "pictures").iterdir():
        assert ET.fromstring(path.read_text()).tag.endswith("svg")


def test_several_histories_have_a_folder_each(folder: Path) -> None:
    done = run("check", "broken.txt", "aborted.txt", "clean.txt", "twice.txt", "--svg", "out")
    assert done.status == 2
    assert files(folder / "out") == [
        "2-aborted.txt/aborted-read-1.svg",
        "4-twice.txt/aborted-read-1.svg",
        "4-twice.txt/aborted-read-2.svg",
        "4-twice.txt/thin-air-read-1.svg",
    ]


def test_a_file_has_the_only_counterexample(folder: Path) -> None:
    done = run("check", "aborted.txt", "--svg", "one.svg")
    assert (done.status, done.err) == (1, "")
    assert "aborted-read" in (folder / "one.svg").read_text()


def test_a_file_has_the_first_of_several_and_says_so(folder: Path) -> None:
    done = run("check", "twice.txt", "--svg", "one.SVG")
    assert (
        done.err == "one.SVG shows the first of 3 counterexamples; a name without .svg is a folder for all\n"
    )
    assert "thin-air-read" in (folder / "one.SVG").read_text()


@pytest.mark.parametrize("out", ["one.svg", "out"])
def test_without_a_counterexample_nothing_is_written_and_that_is_said(folder: Path, out: str) -> None:
    done = run("check", "clean.txt", "--svg", out)
    assert (done.status, done.err) == (0, f"no counterexample: {out} was not written\n")
    assert files(folder) == sorted(TEXTS)


def test_a_file_of_graphs_has_one_for_each_history_that_could_be_read(folder: Path) -> None:
    done = run("check", "aborted.txt", "broken.txt", "clean.txt", "--dot", "all.dot", "--json")
    assert done.status == 2
    lines = (folder / "all.dot").read_text().splitlines()
    assert [line for line in lines if line.startswith("digraph")] == [
        'digraph "aborted.txt" {',
        'digraph "clean.txt" {',
    ]
    assert sum('label="aborted-read"' in line for line in lines) == 1


def test_pictures_do_not_change_the_printed_text(folder: Path) -> None:
    plain = run("check", "twice.txt")
    assert run("check", "twice.txt", "--svg", "out", "--dot", "out.dot").out == plain.out


def test_a_search_is_drawn_too(folder: Path) -> None:
    run("check", "twice.txt", "--anomaly", "thin-air-read", "--svg", "out", "--dot", "out.dot")
    assert files(folder / "out") == ["thin-air-read-1.svg"]
    assert (folder / "out.dot").read_text().count("subgraph") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--svg", ""], "--svg needs a name"),
        (["--dot", "-"], "--dot needs the name of a file"),
        (["--dot", "."], "--dot: . is a directory"),
        (["--svg", "clean.txt"], "--svg: clean.txt is no directory"),
        (["--dot", "aborted.txt"], "--dot: aborted.txt would replace aborted.txt"),
        (["--dot", "missing/a.dot"], "--dot: cannot write missing/a.dot: there is no folder missing"),
        (["--svg", "clean.txt/pictures"], "--svg: cannot write clean.txt/pictures: there is no"),
        (["--svg", "out/pictures"], "--svg: cannot write out/pictures: there is no folder out"),
        (["--svg", "out/one.svg"], "--svg: cannot write out/one.svg: there is no folder out"),
        (["--dot", "a.svg", "--svg", "a.svg"], "--svg: a.svg would replace"),
        (["--svg", "out", "--summary"], "--summary counts and has no --svg"),
    ],
)
def test_a_place_that_makes_no_sense_is_refused(folder: Path, arguments: list[str], message: str) -> None:
    done = run("check", "aborted.txt", *arguments)
    assert done.status == 2
    assert done.err.startswith(f"error: {message}")
    assert files(folder) == sorted(TEXTS)
