"""The published schema: every kind of document keeps it, and a document that was tampered with does not."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from jsonschema import Draft202012Validator

import isoscope
from isoscope.checkers import CHECKERS
from isoscope.history import EvidenceKind
from isoscope.reports import document
from isoscope.reports.schema import EVIDENCE, schema
from tests.cli.running import run
from tests.repo.test_files import ROOT
from tests.strategies import any_histories, histories
from tests.test_cases import CASES, each

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

VALIDATOR = Draft202012Validator(schema())
NAMES = [name for checker in CHECKERS for name in checker.NAMES]
TEXTS = {
    "aborted.txt": "w(1,1,1,-1)\nr(1,1,2,2)\n",
    "skew.edn": "{:type :ok, :process 0, :value [[:r :y []] [:append :x 1]]}\n"
    "{:type :ok, :process 1, :value [[:r :x []] [:append :y 1]]}\n"
    "{:type :ok, :process 2, :value [[:r :x [1]] [:r :y [1]]]}\n",
    "broken.txt": "w(1,1,1,1)\nr(1,1,2\n",
}


def problems(found: Any) -> list[str]:
    return [error.message for error in VALIDATOR.iter_errors(found)]


def test_the_schema_is_one_and_is_published() -> None:
    Draft202012Validator.check_schema(schema())
    published = (ROOT / "docs" / "reference" / "isoscope.schema.json").read_text(encoding="utf-8")
    assert json.loads(published) == schema()


def test_the_schema_knows_every_kind_of_evidence() -> None:
    assert tuple(map(str, EvidenceKind)) == EVIDENCE


@each(CASES)
def test_the_document_of_a_case_keeps_the_schema(path: Path) -> None:
    history = isoscope.load(path)
    assert problems(document(isoscope.check(history), timings=True)) == []
    assert problems(document(isoscope.search(history, NAMES))) == []


@given(history=any_histories())
def test_the_document_of_any_history_keeps_the_schema(history: isoscope.History) -> None:
    assert problems(document(isoscope.check(history))) == []


@given(history=histories())
def test_the_document_of_any_search_keeps_the_schema(history: isoscope.History) -> None:
    assert problems(document(isoscope.search(history, NAMES))) == []


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in TEXTS.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


OPTIONS: list[list[str]] = [
    [],
    ["--timings"],
    ["--level", "serializable", "--method", "timestamps"],
    ["--assume", "sequential-keys"],
    ["--anomaly", "g1c", "--anomaly", "aborted-read"],
    ["--summary"],
    ["--summary", "--anomaly", "write-skew"],
]


@pytest.mark.parametrize("options", OPTIONS, ids=" ".join)
def test_the_output_of_the_command_keeps_the_schema(folder: Path, options: list[str]) -> None:
    printed = run("check", *TEXTS, "missing.txt", "--json", *options).out.splitlines()
    assert len(printed) == (1 if "--summary" in options else len(TEXTS) + 1)
    assert [problems(json.loads(line)) for line in printed] == [[] for _ in printed]


def objects(found: Any) -> Iterator[dict[str, Any]]:
    """Every object in a document, the document first."""
    if isinstance(found, dict):
        yield found
    for inner in found.values() if isinstance(found, dict) else found if isinstance(found, list) else ():
        yield from objects(inner)


def documents() -> Iterator[Any]:
    """One of each kind, and small: each is changed in every place."""
    names = ["--anomaly", "aborted-read", "--anomaly", "write-skew"]
    for options in (["--level", "pl-2", "--level", "pl-3"], names, ["--summary", *names]):
        for line in run("check", *TEXTS, "--json", *options).out.splitlines():
            yield json.loads(line)


def test_no_field_may_be_missing(folder: Path) -> None:
    dropped = 0
    for one in documents():
        for place, inner in enumerate(objects(one)):
            # The names of anomalies that are counted are no fields.
            for name in inner.keys() - NAMES:
                copy = deepcopy(one)
                del list(objects(copy))[place][name]
                assert not VALIDATOR.is_valid(copy), f"{name} is not missed"
                dropped += 1
    assert dropped > 100


def test_no_field_may_be_added(folder: Path) -> None:
    for one in documents():
        for place, _ in enumerate(objects(one)):
            copy = deepcopy(one)
            list(objects(copy))[place]["surprise"] = 1
            assert not VALIDATOR.is_valid(copy)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["verdicts", 0, "level"], "serialisable"),
        (["verdicts", 0, "outcome"], "maybe"),
        (["verdicts", 0, "method"], "guess"),
        (["verdicts", 0, "anomalies"], []),
        (["verdicts", 0, "reason"], "because"),
        (["verdicts", 0, "anomaly_counts", "aborted-read"], 0),
        (["verdicts", 0, "anomalies", 0, "name"], "bad-luck"),
        (["verdicts", 0, "anomalies", 0, "keys"], [1]),
        (["history", "evidence"], ["rumours"]),
        (["history", "sessions"], -1),
        (["isoscope"], 1),
        (["strongest_holding"], ["nothing"]),
    ],
    ids=lambda part: ".".join(map(str, part)) if isinstance(part, list) and len(part) > 1 else None,
)
def test_a_value_without_meaning_breaks_the_schema(folder: Path, path: list[Any], value: object) -> None:
    [line] = run("check", "aborted.txt", "--level", "pl-2", "--json").out.splitlines()
    found = json.loads(line)
    assert problems(found) == []
    inner = found
    for part in path[:-1]:
        inner = inner[part]
    inner[path[-1]] = value
    assert problems(found)
