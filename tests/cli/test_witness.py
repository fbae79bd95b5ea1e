"""`isoscope check --witness`: why levels hold."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import run

FINE = "w(1,1,1,1)\nr(1,1,2,2)\nw(1,2,2,2)\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "fine.txt").write_text(FINE)
    (tmp_path / "aborted.txt").write_text("w(1,1,1,-1)\nr(1,1,2,2)\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def witnesses(path: str) -> dict[str, list[object]]:
    (line,) = Path(path).read_text().splitlines()
    return {witness["level"]: witness["order"] for witness in json.loads(line)["witnesses"]}


def test_the_file_has_an_order_for_each_level_that_holds() -> None:
    levels = ["--level", "serializable", "--level", "snapshot-isolation", "--level", "causal"]
    assert run("check", "fine.txt", *levels, "--witness", "why.json").status == 0
    assert witnesses("why.json") == {
        "serializable": [1, 2],
        "snapshot-isolation": [1, 1, 2, 2],
        "causal": [1, 2],
    }


def test_the_text_and_the_document_show_it() -> None:
    text = run("check", "fine.txt", "--level", "serializable", "--witness", "why.json").out
    assert "witness of serializable: T1, T2" in text
    document = json.loads(run("check", "fine.txt", "--level", "ser", "--witness", "w.json", "--json").out)
    assert [witness["order"] for witness in document["witnesses"]] == [[1, 2]]
    assert "witnesses" not in json.loads(run("check", "fine.txt", "--level", "ser", "--json").out)


def test_the_page_shows_it() -> None:
    options = ["--level", "serializable", "--witness", "why.json", "--report", "page.html"]
    run("check", "fine.txt", *options)
    assert "Why they hold" in Path("page.html").read_text()


def test_a_violated_level_has_none() -> None:
    done = run("check", "aborted.txt", "--level", "serializable", "--witness", "why.json")
    assert done.status == 1
    assert witnesses("why.json") == {}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--witness", "-"], "--witness needs the name of a file"),
        (["--witness", "no/such/file"], "there is no folder no/such"),
        (["--witness", "fine.txt"], "would replace a history"),
        (["--witness", "w.json", "--summary"], "--summary keeps no orders"),
        (["--witness", "w.json", "--anomaly", "write-skew"], "--witness is about levels"),
    ],
)
def test_impossible_combinations_are_rejected(options: list[str], said: str) -> None:
    done = run("check", "fine.txt", *options)
    assert done.status == 2
    assert said in done.err
    assert Path("fine.txt").read_text() == FINE
