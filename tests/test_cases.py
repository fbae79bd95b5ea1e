"""Histories as cases: the folder is the expectation, and every counterexample can be replayed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import isoscope
from isoscope.anomalies import CATALOGUE, Example
from isoscope.checkers import search, timestamps, version_order
from isoscope.checkers.values import NAMES
from isoscope.explain import message
from isoscope.history import OperationKind
from isoscope.levels import Level, implied
from isoscope.verdict import Claim, Outcome
from tests.reference.test_adya_kernel import assert_agreement as assert_agreement_on_versions
from tests.reference.test_clock_kernel import assert_agreement as assert_agreement_on_the_clock
from tests.reference.test_reads import assert_agreement as assert_agreement_on_reads
from tests.reference.test_weak_kernel import assert_agreement

if TYPE_CHECKING:
    from isoscope.history import History, Operation
    from isoscope.verdict import Anomaly, Report, Witness

FOLDER = Path(__file__).with_name("histories")
CASES = sorted(path for path in FOLDER.glob("*/*") if path.is_file())
VIOLATED = [path for path in CASES if path.name.startswith("violated-")]
#: Cases of what values alone show, and of what takes an order of versions.
OF_VALUES = [path for path in CASES if path.parent.name in NAMES]
OF_VERSIONS = [
    path
    for path in CASES
    if path.parent.name not in {*NAMES, *timestamps.NAMES, "predicate-read-miss", "phantom"}
]
#: What range reads leave out.
OF_PREDICATES = [path for path in CASES if path.parent.name in ("predicate-read-miss", "phantom")]
#: What contradicts the database's own clock.
OF_CLOCK = [path for path in CASES if path.parent.name in timestamps.NAMES]
LEVELS = (Level.CUT_ISOLATION, Level.READ_COMMITTED, Level.READ_ATOMIC, Level.CAUSAL)


def each(paths: list[Path]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("path", paths, ids=lambda path: f"{path.parent.name}/{path.name}")


#: What a case shows beside the anomaly of its folder.
ALSO = {
    # The claim is dropped, and yet the sessions keep no order of the versions.
    "cyclic-versions/violated-session-goes-back.edn": {"no-commit-order"},
    "fractured-read-co/allowed-non-repeatable.txt": {"non-repeatable-read"},
    "future-read/allowed-appended-by-a-later-transaction.edn": {"cyclic-causal-order", "write-cycle-session"},
    "future-read/allowed-next-transaction-of-the-session.txt": {"cyclic-causal-order"},
    "future-read/violated-below-anothers-element.edn": {"circular-information-flow"},
    "incompatible-order/allowed-other-keys.edn": {"write-cycle"},
    "intermediate-read/allowed-interleaved-appends.edn": {"write-cycle"},
    "intermediate-read/allowed-middle-of-a-longer-list.edn": {"write-cycle"},
    # Serializability is broken by what is known, snapshot isolation by every order.
    "no-commit-order/violated-unread-appends.edn": {"write-skew"},
    "non-monotonic-read-cm/allowed-only-there.txt": {"fractured-read-cm"},
    "non-monotonic-read-co/allowed-other-way-round.txt": {"fractured-read-co"},
    "non-repeatable-read/violated-back-to-initial.txt": {"non-monotonic-read-co"},
    "non-repeatable-read/violated-other-order.edn": {"incompatible-order"},
    "non-repeatable-read/violated-other-reads-between.txt": {"fractured-read-co"},
    "non-repeatable-read/violated-shrinking.edn": {"non-monotonic-read-co"},
    "non-repeatable-read/violated-there-and-back.txt": {"non-monotonic-read-cm"},
    "not-my-last-write/allowed-earlier-transaction-of-the-session.txt": {"fractured-read-co"},
    "not-my-own-write/allowed-next-transaction-of-the-session.txt": {"fractured-read-co"},
    # After its first access of a key, a transaction is held against itself, and not against the clock.
    "stale-read/allowed-first-of-own-writes.json": {"not-my-last-write"},
    "stale-read/allowed-lists-own-append-forgotten.json": {"not-my-own-write"},
    "stale-read/allowed-lists-second-read-grows.json": {"non-repeatable-read"},
    "stale-read/allowed-own-write-forgotten.json": {"not-my-own-write"},
    "stale-read/allowed-second-read-differs.json": {"non-repeatable-read"},
    "stale-read/allowed-two-commits-at-one-time.json": {"write-conflict"},
    "stale-read/violated-two-commits-at-one-time.json": {"write-conflict"},
    "write-cycle/violated-last-append-unread.edn": {"fractured-read-cm", "non-monotonic-read-cm"},
}
#: What is claimed of the versions in the cases of an anomaly.
CLAIMED = {"cyclic-versions": (Claim.SEQUENTIAL_KEYS,)}
#: Examples of the catalogue that show something else as well, or instead of what no method reports yet.
IMPLIED = {
    "dirty-update": {"aborted-read"},  # the list shows the aborted element below the update
    "read-skew": {"fractured-read-co"},  # one transaction seen by half
    "read-skew-session": {"fractured-read-co"},  # values see that a session misses its own write
    "write-cycle-session": {"write-cycle-session"},  # values tell circles with a session by their steps
    "circular-information-flow-session": {"cyclic-causal-order"},  # a circle of reads and sessions alone
    "cyclic-versions": {"causal-conflict"},  # a session sees a key go back
}


def expected_names(path: Path) -> set[str]:
    also = ALSO.get(f"{path.parent.name}/{path.name}", set())
    return {path.parent.name} | also if path in VIOLATED else also


def weak_name(name: str) -> str:
    """The name that the specification of weak levels has: it does not tell circles with a session apart."""
    return name if name in NAMES else name.removesuffix("-session")


def names_in(report: Report) -> set[str]:
    return {name for verdict in report.verdicts for name in verdict.anomaly_counts}


def test_there_are_cases_for_every_anomaly_that_is_reported() -> None:
    reported = {*NAMES, *version_order.NAMES, *timestamps.NAMES}
    assert {path.parent.name for path in VIOLATED} == {path.parent.name for path in CASES} == reported
    assert {path.parent.name for path in CASES if path not in VIOLATED} == reported
    assert {path.name.split("-")[0] for path in CASES} == {"violated", "allowed"}


def test_every_exception_is_a_case() -> None:
    assert {FOLDER / name for name in ALSO} <= set(CASES)


@each(OF_VALUES)
def test_a_case_shows_exactly_what_its_name_says(path: Path) -> None:
    report = isoscope.check(isoscope.load(path), LEVELS)
    expected = expected_names(path)
    assert names_in(report) == expected
    for verdict in report.verdicts:
        is_broken = any(NAMES[weak_name(name)] in implied(verdict.level) for name in expected)
        assert (verdict.outcome is Outcome.VIOLATED) == is_broken


@each(OF_VALUES)
def test_the_native_core_agrees_with_the_specification_on_a_case(path: Path) -> None:
    history = isoscope.load(path)
    assert_agreement_on_reads(history)
    assert assert_agreement(history).names == {weak_name(name) for name in expected_names(path)}
    assert_agreement_on_versions(history)


@each(OF_VERSIONS)
def test_a_case_of_versions_shows_exactly_what_its_name_says(path: Path) -> None:
    """Kernel and specification find it, and no other; a level that it breaks is violated."""
    history, claims = isoscope.load(path), CLAIMED.get(path.parent.name, ())
    outcomes, counts = assert_agreement_on_versions(history, claims)
    expected = expected_names(path)
    assert set(+counts) == expected
    # What says nothing but that evidence contradicts itself breaks no level of its own.
    named = expected - {"no-commit-order", "contradictory-evidence"}
    assert all(outcomes[version_order.NAMES[name]] is Outcome.VIOLATED for name in named)
    assert (Outcome.VIOLATED in outcomes.values()) == bool(expected - {"contradictory-evidence"})


@each(OF_CLOCK)
def test_a_case_of_the_clock_shows_exactly_what_its_name_says(path: Path) -> None:
    """By snapshots of the clock; a replay in the order of commits is held against its definition alone."""
    history = isoscope.load(path)
    for level in timestamps.LEVELS:
        assert_agreement_on_the_clock(history, level)
    [verdict] = isoscope.check(history, [Level.CLOCK_SNAPSHOT_ISOLATION], method="timestamps").verdicts
    expected = expected_names(path)
    assert set(verdict.anomaly_counts) == expected
    assert verdict.outcome is (Outcome.VIOLATED if expected else Outcome.HOLDS)


@each([path for path in VIOLATED if path in OF_CLOCK])
def test_every_witness_of_a_case_of_the_clock_can_be_replayed(path: Path) -> None:
    history = isoscope.load(path)
    verdicts = timestamps.check(history, levels=timestamps.LEVELS)
    anomalies = [anomaly for verdict in verdicts for anomaly in verdict.anomalies]
    assert anomalies
    for anomaly in anomalies:
        assert_replayable(history, anomaly)


@each(OF_PREDICATES)
def test_a_case_of_predicates_shows_exactly_what_its_name_says(path: Path) -> None:
    history = isoscope.load(path)
    sightings = search(history, [*version_order.NAMES, "predicate-read-miss"]).sightings
    assert {sighting.name for sighting in sightings if sighting.count} == expected_names(path)
    [verdict] = isoscope.check(history, [Level.SERIALIZABLE]).verdicts
    assert verdict.outcome is (Outcome.VIOLATED if path in VIOLATED else Outcome.HOLDS)


def test_a_row_that_a_predicate_read_misses_is_told_with_a_version_that_matches() -> None:
    path = FOLDER / "predicate-read-miss" / "violated-every-version-matches.edn"
    [verdict] = isoscope.check(isoscope.load(path), [Level.SERIALIZABLE]).verdicts
    [anomaly] = verdict.anomalies
    assert message(anomaly) == (
        f"T2 read rows that match [:mod 2 1] ({path}:3) and was not shown :x, although every version of :x "
        f"that it can have met matches, among them T1's 3 ({path}:2)."
    )


def located(history: History, witness: Witness) -> Operation:
    """The operation at the witness' place, as the witness describes it."""
    [transaction] = [t for t in history if t.label == witness.transaction]
    [operation, *_] = [
        operation
        for operation in transaction.operations
        if history.source.place(operation.line) == witness.place and described(operation, witness)
    ]
    return operation


def described(operation: Operation, witness: Witness) -> bool:
    """Whether a witness is the operation, or what a range read says of a key."""
    if witness.asked is not None:
        return operation.kind is OperationKind.RANGE_READ
    return (operation.kind, operation.key, operation.value) == (witness.kind, witness.key, witness.value)


def assert_replayable(history: History, anomaly: Anomaly) -> None:
    """Every operation is where it is said to be; `test_replay.py` looks at what steps claim."""
    for witness in (*anomaly.witnesses, *(w for step in anomaly.steps for w in step.witnesses)):
        seen = located(history, witness)
        assert (seen.key if witness.asked is None else witness.key) in anomaly.keys
        assert witness.transaction in anomaly.transactions
    for step in anomaly.steps:
        assert {step.before, step.after} <= set(anomaly.transactions)


@each([path for path in VIOLATED if path in OF_VALUES])
def test_every_witness_of_a_case_can_be_replayed(path: Path) -> None:
    history = isoscope.load(path)
    anomalies = [a for v in isoscope.check(history, LEVELS).verdicts for a in v.anomalies]
    assert anomalies
    for anomaly in anomalies:
        assert_replayable(history, anomaly)
        text = path.read_text().splitlines()
        for witness in anomaly.witnesses:
            line = int(witness.place.removeprefix(f"{path}:"))
            # A search does not show the row that it misses.
            assert witness.asked is not None or str(witness.key) in text[line - 1]


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
def test_an_example_of_the_catalogue_shows_its_anomaly_and_no_other(
    name: str, example: Example, tmp_path: Path
) -> None:
    history = loaded(example, tmp_path)
    expected = {name} & set(NAMES) | IMPLIED.get(name, set())
    assert names_in(isoscope.check(history, LEVELS)) == expected
    assert_agreement(history)


def test_the_example_of_a_predicate_read_is_broken_and_its_neighbour_is_not(tmp_path: Path) -> None:
    entry = CATALOGUE["predicate-read-miss"]
    assert entry.example is not None
    assert entry.allowed is not None
    broken = isoscope.check(loaded(entry.example, tmp_path), [Level.SERIALIZABLE])
    assert names_in(broken) == {entry.name}
    [verdict] = isoscope.check(loaded(entry.allowed, tmp_path), [Level.SERIALIZABLE]).verdicts
    assert verdict.outcome is Outcome.HOLDS


# Of predicate reads values alone say nothing.
@pytest.mark.parametrize(
    "name",
    [entry.name for entry in CATALOGUE.values() if entry.allowed and entry.name != "predicate-read-miss"],
)
def test_the_allowed_neighbour_of_an_example_keeps_all_weak_levels(name: str, tmp_path: Path) -> None:
    allowed = CATALOGUE[name].allowed
    assert allowed is not None
    report = isoscope.check(loaded(allowed, tmp_path), LEVELS)
    assert {verdict.outcome for verdict in report.verdicts} == {Outcome.HOLDS}
