"""The two histories on the page of each level, by the specification; and what vendors call levels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import isoscope
from isoscope import formats, profiles
from isoscope.anomalies.level_examples import level_example
from isoscope.errors import UsageError
from isoscope.levels import DEFINITIONS, FORMAL, Level
from isoscope.reference.verdicts import outcomes
from isoscope.verdict import Outcome
from tests.recorded import record

if TYPE_CHECKING:
    from pathlib import Path

SUFFIXES = {"plume": "txt", "jepsen": "edn", "aion": "jsonl"}
DECIDED = [level for level in Level if DEFINITIONS[level].decided]


@pytest.mark.parametrize("level", DECIDED)
def test_the_first_history_breaks_the_level_and_the_second_does_not(level: Level, tmp_path: Path) -> None:
    examples = level_example(level)
    assert examples is not None
    found = []
    for example in examples:
        path = tmp_path / f"history.{SUFFIXES[example.format]}"
        path.write_text(example.text, encoding="utf-8")
        found.append(outcomes(formats.load(path, format=example.format))[level])
    assert found == [Outcome.VIOLATED, Outcome.HOLDS]


def test_every_level_has_a_formal_definition_and_a_noun() -> None:
    assert {*FORMAL} == {*Level}
    assert all(definition.noun for definition in DEFINITIONS.values())


@pytest.mark.parametrize(
    ("name", "promised"),
    [
        ("postgresql:repeatable read", ["strong-snapshot-isolation"]),
        ("PostgreSQL:SERIALIZABLE", ["strong-snapshot-isolation", "serializable"]),
        ("mysql:repeatable-read", ["pl-2"]),
        ("oracle:serializable", [str(level) for level in profiles.load("oracle/serializable").promises]),
        ("elle:repeatable-read", ["repeatable-read"]),
        ("si", ["snapshot-isolation"]),
    ],
)
def test_what_a_vendor_calls_a_level_is_what_its_profile_promises(name: str, promised: list[str]) -> None:
    assert [str(level) for level in profiles.parse_level(name)] == promised


def test_a_check_takes_the_name_of_a_vendor() -> None:
    report = isoscope.check(record([("write", "x", 1)]), ["postgresql:serializable"])
    assert report.asked == (Level.STRONG_SNAPSHOT_ISOLATION, Level.SERIALIZABLE)


def test_a_vendor_without_such_a_level_is_one_message() -> None:
    with pytest.raises(UsageError, match="unknown profile `oracle/serialisable`; did you mean"):
        profiles.parse_level("oracle:serialisable")
