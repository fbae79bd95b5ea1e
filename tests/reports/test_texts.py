"""Every case of every anomaly, to the letter: a changed word shows all texts that it changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from isoscope.checkers import CHECKERS
from isoscope.explain import contradiction, message
from isoscope.reports.terminal import columns
from tests.reports.texts import CASES, TESTS, kept, name, sighting, text

if TYPE_CHECKING:
    from pathlib import Path

each_case = pytest.mark.parametrize("case", CASES, ids=name)


@each_case
def test_the_text_of_a_case_is(case: Path) -> None:
    assert text(case) == kept(case).read_text(encoding="utf-8")


def test_there_is_a_text_for_every_case_and_for_nothing_else() -> None:
    assert sorted((TESTS / "texts").rglob("*.*")) == sorted(map(kept, CASES))


def test_there_is_a_text_for_every_anomaly_that_is_reported() -> None:
    reported = {name for checker in CHECKERS for name in checker.NAMES}
    assert {path.name for path in (TESTS / "texts").iterdir()} == reported


@each_case
def test_a_proof_with_steps_ends_with_its_conclusion(case: Path) -> None:
    for anomaly in sighting(case).anomalies:
        said = contradiction(anomaly)
        assert said.startswith(("So ", "But ")) == bool(anomaly.steps)
        assert (said == message(anomaly)) != bool(anomaly.steps)


@each_case
def test_a_text_fits_every_width_and_has_the_same_words(case: Path) -> None:
    for width in (60, 80, 100, 120):
        said = text(case, width=width)
        assert max(map(columns, said.splitlines())) <= max(width, 4 + len(f"({case.name}:1),"))
        assert words(said) == words(text(case))


def words(said: str) -> list[str]:
    """The words; a table has other commas and colons than stacked rows."""
    return [word.rstrip(",:") for word in said.split()]
