"""Histories as cases: the folder is the expectation, and every counterexample can be replayed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import isoscope
from isoscope.anomalies import CATALOGUE, Example
from isoscope.checkers.reads import NAMES
from isoscope.levels import Level
from isoscope.verdict import Outcome
from tests.reference.test_reads import assert_agreement

if TYPE_CHECKING:
    from isoscope.history import History, Operation
    from isoscope.verdict import Anomaly, Report, Witness

FOLDER = Path(__file__).with_name("histories")
CASES = sorted(path for path in FOLDER.glob("*/*") if path.is_file())
VIOLATED = [path for path in CASES if path.name.startswith("violated-")]
LEVELS = (Level.PL_2, Level.CUT_ISOLATION, Level.READ_COMMITTED, Level.READ_ATOMIC)
every_case = pytest.mark.parametrize("path", CASES, ids=lambda path: f"{path.parent.name}/{path.name}")

HOLDS, BROKEN, UNDECIDED = Outcome.HOLDS, Outcome.VIOLATED, Outcome.UNKNOWN
#: Outcomes of LEVELS: no method of this version can prove the first, third and fourth.
CLEAN = (UNDECIDED, HOLDS, UNDECIDED, UNDECIDED)
NON_REPEATABLE = (UNDECIDED, BROKEN, UNDECIDED, BROKEN)
OTHERS = (BROKEN, HOLDS, BROKEN, BROKEN)

#: Examples of other anomalies that show one of the seven as well.
IMPLIED = {
    "dirty-update": {"aborted-read"},  # the list shows the aborted element below the update
}


def expected_outcomes(names: set[str]) -> tuple[Outcome, ...]:
    if not names:
        return CLEAN
    return NON_REPEATABLE if names == {"non-repeatable-read"} else OTHERS


def names_in(report: Report) -> set[str]:
    return {name for verdict in report.verdicts for name in verdict.anomaly_counts}


def outcomes(report: Report) -> tuple[Outcome, ...]:
    return tuple(verdict.outcome for verdict in report.verdicts)


def test_there_are_cases_for_every_anomaly_of_a_single_read() -> None:
    assert {path.parent.name for path in CASES} == set(NAMES)
    assert {path.name.split("-")[0] for path in CASES} == {"violated", "allowed"}


@every_case
def test_a_case_shows_exactly_what_its_name_says(path: Path) -> None:
    report = isoscope.check(isoscope.load(path), LEVELS)
    expected = {path.parent.name} if path in VIOLATED else set()
    assert names_in(report) == expected
    assert outcomes(report) == expected_outcomes(expected)


@every_case
def test_the_native_core_agrees_with_the_specification_on_a_case(path: Path) -> None:
    found = {finding.name for finding in assert_agreement(isoscope.load(path)).findings}
    assert found == ({path.parent.name} if path in VIOLATED else set())


def located(history: History, witness: Witness) -> Operation:
    """The operation at the witness' place, as the witness describes it."""
    [transaction] = [t for t in history if t.label == witness.transaction]
    [operation, *_] = [
        operation
        for operation in transaction.operations
        if history.source.place(operation.line) == witness.place
        and (operation.kind, operation.key, operation.value) == (witness.kind, witness.key, witness.value)
    ]
    return operation


def assert_replayable(history: History, anomaly: Anomaly) -> None:
    witnesses = [*anomaly.witnesses, *(w for step in anomaly.steps for w in step.witnesses)]
    assert anomaly.witnesses[0].kind == "read"
    for witness in witnesses:
        assert located(history, witness).key == anomaly.keys[0]
        assert witness.transaction in anomaly.transactions
    for step in anomaly.steps:
        assert {step.before, step.after} <= set(anomaly.transactions)


@pytest.mark.parametrize("path", VIOLATED, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_witness_of_a_case_can_be_replayed(path: Path) -> None:
    history = isoscope.load(path)
    anomalies = [a for v in isoscope.check(history, LEVELS).verdicts for a in v.anomalies]
    assert anomalies
    for anomaly in anomalies:
        assert_replayable(history, anomaly)
        text = path.read_text().splitlines()
        for witness in anomaly.witnesses:
            line = int(witness.place.removeprefix(f"{path}:"))
            assert str(witness.key) in text[line - 1]


def loaded(example: Example, folder: Path) -> History:
    path = folder / "example"
    path.write_text(example.text)
    history = isoscope.load(path)
    assert history.source.format == example.format
    return history


@pytest.mark.parametrize(
    ("name", "example"),
    [(entry.name, entry.example) for entry in CATALOGUE.values() if entry.example],
    ids=[entry.name for entry in CATALOGUE.values() if entry.example],
)
def test_an_example_of_the_catalogue_shows_its_anomaly_and_no_other_read_anomaly(
    name: str, example: Example, tmp_path: Path
) -> None:
    history = loaded(example, tmp_path)
    expected = {name} & set(NAMES) | IMPLIED.get(name, set())
    assert names_in(isoscope.check(history, LEVELS)) == expected
    assert_agreement(history)


@pytest.mark.parametrize("name", [entry.name for entry in CATALOGUE.values() if entry.allowed])
def test_the_allowed_neighbour_of_an_example_shows_no_read_anomaly(name: str, tmp_path: Path) -> None:
    allowed = CATALOGUE[name].allowed
    assert allowed is not None
    report = isoscope.check(loaded(allowed, tmp_path), LEVELS)
    assert names_in(report) == set()
    assert outcomes(report) == CLEAN
