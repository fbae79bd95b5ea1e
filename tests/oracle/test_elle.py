"""Elle's own tests: what it finds we find, by its name or a weaker one; where it is wrong we are not."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Any

import pytest

import isoscope
from isoscope.anomalies import family, find
from isoscope.checkers import version_order
from isoscope.history import Interval, Operation, OperationKind, Status, Transaction, VersionSource
from isoscope.levels import DEFINITIONS, Family, Level, parse, weakest
from isoscope.recorder import build
from isoscope.verdict import Outcome
from tests.oracle.elle import (
    cases,
    claims,
    history_of,
    implying,
    is_readable,
    missing_writers,
    those_of,
    written,
)
from tests.oracle.test_oracle import ORACLE
from tests.reference.test_reads import assert_agreement

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from isoscope.verdict import Anomaly, Report

pytestmark = pytest.mark.skipif(not ORACLE.is_dir(), reason=f"no oracle at {ORACLE}")

#: Elle has one label for everything that a transaction can see wrong of itself.
INTERNAL = {"not-my-own-write", "not-my-last-write", "future-read", "non-repeatable-read"}
#: That nothing could be inferred is no anomaly for us.
NO_ANOMALY = {"empty-transaction-graph"}
#: Models of Elle that are no levels of ours.
NO_LEVEL = {"read-atomic", "update-atomic"}
#: Labels of circles that may rest on what predicate reads do not show; others end in `-item`.
OF_PREDICATES = {"G2", "G-single", "G-nonadjacent"}

# Where our answer is another one, and why.

#: Whether the case is valid.
VALID_INSTEAD = {
    # A transaction that reads a version and then writes the key wrote after it: Elle does not use this rule.
    "rw-register wfr off": False,
}
#: Anomalies that are not to be found.
NOT_FOUND = {
    # A list that shows an element twice says nothing about the order of versions.
    "list-append duplicate elements [read-committed]": {"G1c"},
    # A read that ends in the reader's own append does not order that and unread ones: every order is bad.
    "list-append paper-example with :process 1 (elle-cli copy) [serializable]": {"G-single-item"},
    # The first transaction reads what it writes itself later: it lost no update of the other.
    "rw-register elle#28 'false positive lost update'": {"lost-update"},
}
#: The weakest models that are violated.
BOUNDARY_INSTEAD = {
    # A list that does not end in the reader's own append says nothing about the order of versions.
    "list-append internal consistency [internal]": ["read-committed"],
    # Elle does not look at operations without a process.
    "list-append paper-example.edn, as shipped (no :process) [serializable]": ["consistent-view"],
    # Of the two values without a writer only one can be the initial one.
    "rw-register internal": ["read-committed"],
    # The search shows a row that the init transaction did not insert after all.
    "closed-predicate G-single through multi-key delete": ["read-committed"],
    # No committed state explains a search that misses a row whose every version matches.
    "closed-predicate predicate read miss": ["read-committed"],
}
#: Pairs of versions.
VERSIONS_INSTEAD: dict[str, dict[str, list[list[int]]]] = {
    # An unread write of an indeterminate transaction is not a version.
    "txn order -> version order: failed writes tell nothing, crashed writes do": {},
}


@pytest.mark.parametrize("notation", ["edn", "json"])
@pytest.mark.parametrize("case", [pytest.param(case, id=case["name"]) for case in cases() if case["ops"]])
def test_a_case_is_read_as_the_specification_reads_it_or_refused(
    case: dict[str, Any], notation: str, tmp_path: Path
) -> None:
    path = written(case["ops"], notation, tmp_path)
    if is_readable(case):
        assert_agreement(isoscope.load(path, format="jepsen"))
    else:
        with pytest.raises(isoscope.FormatError):
            isoscope.load(path, format="jepsen")


# Whole histories.


def models(case: dict[str, Any]) -> list[Level]:
    """The levels that the case asks for: if it asks for nothing at all, the strongest."""
    options = case["options"]
    names = options.get("consistency-models") or ([] if options.get("anomalies") else ["strict-serializable"])
    return levels(names)


def levels(names: Iterable[str]) -> list[Level]:
    return [parse(f"elle:{name}") for name in names if name not in NO_LEVEL]


def names(label: str) -> set[str]:
    """Our names of what Elle calls `label`, and of what comes with it."""
    found = {name for one in implying(label) for name in own_names(one)}
    return INTERNAL if label == "internal" else found | ({"phantom"} if label in OF_PREDICATES else set())


def own_names(label: str) -> tuple[str, ...]:
    try:
        return family(label)
    except ValueError:  # a label that only stands for others, such as G1
        return ()


def exact_names(label: str) -> set[str]:
    """Our names of what Elle calls `label` and of nothing else."""
    return INTERNAL if label == "internal" else {find(label).name}


def found(report: Report) -> dict[str, Anomaly]:
    return {anomaly.name: anomaly for verdict in report.verdicts for anomaly in verdict.anomalies}


def violated(report: Report) -> set[Level]:
    return set(report.levels(Outcome.VIOLATED))


def is_broken(case: dict[str, Any], report: Report) -> bool:
    """Whether a level is violated, or an anomaly there, that the case asks for."""
    asked = {label for name in case["options"].get("anomalies") or [] for label in implying(name)}
    # A cycle with a session edge is a G1c of the family, but not for Elle without processes.
    unwanted = (
        INTERNAL if "internal" in asked else {own_names(label)[0] for label in asked if own_names(label)}
    )
    return bool(violated(report) & set(models(case)) or found(report).keys() & unwanted)


#: Levels that some case has as the boundary of what holds.
BOUNDARIES = set(levels(name for case in cases() for name in case.get("expected_not", [])))


def boundary(case: dict[str, Any], report: Report) -> tuple[Level, ...]:
    """The weakest levels that are violated: Elle looks at sessions or real time only if it must."""
    families = {Family.SESSIONLESS, *(DEFINITIONS[level].family for level in models(case))}
    looked_at = {level for level in BOUNDARIES if DEFINITIONS[level].family in families}
    return weakest(violated(report) & looked_at)


def readers(report: Report, label: str) -> set[str]:
    """The transactions whose reads show what Elle calls `label`."""
    return {
        anomaly.transactions[0]
        for verdict in report.verdicts
        for anomaly in verdict.anomalies
        if anomaly.name in exact_names(label)
    }


def assert_details(case: dict[str, Any], report: Report) -> None:
    """The reads that show an anomaly are those that Elle lists."""
    for label, rows in case.get("expected_details", {}).items():
        if all("op" in row for row in rows):
            assert readers(report, label) == {f"T{row['op']}" for row in rows}, label


@those_of("check")
def test_a_whole_history_is_judged(case: dict[str, Any], tmp_path: Path) -> None:
    report = isoscope.check(history_of(case, tmp_path), list(Level), assume=claims(case))
    is_wrong = {"known_bug", "known_gap"} & case.keys()
    is_valid = False if is_wrong else VALID_INSTEAD.get(case["name"], case["expected_valid"])
    assert is_valid == "unknown" or is_broken(case, report) != is_valid
    if is_valid is True:
        assert set(models(case)) <= set(report.levels(Outcome.HOLDS))
    if not is_wrong:
        assert_found(case, report)
    assert_details(case, report)


def assert_found(case: dict[str, Any], report: Report) -> None:
    """The anomalies and the boundary that Elle reports."""
    expected = set(case["expected_anomalies"] or []) - NOT_FOUND.get(case["name"], set()) - NO_ANOMALY
    for label in expected:
        if label.endswith("-cycle-exists"):
            assert set(levels([label.removesuffix("-cycle-exists")])) <= violated(report)
        else:
            assert found(report).keys() & names(label), label
    if "expected_not" in case:
        excluded = BOUNDARY_INSTEAD.get(case["name"], case["expected_not"])
        assert boundary(case, report) == weakest(levels(excluded))


# Parts of Elle.


@those_of("function:g1a-cases", "function:g1b-cases", "function:internal-cases")
def test_a_read_that_is_wrong_by_itself_is_found(case: dict[str, Any], tmp_path: Path) -> None:
    report = isoscope.check(history_of(case, tmp_path), list(Level))
    looked_for = {"g1a-cases": "G1a", "g1b-cases": "G1b", "internal-cases": "internal"}
    label = looked_for[case["level"].removeprefix("function:")]
    if not case["expected_anomalies"]:
        assert not readers(report, label)
    assert_details(case, report)


@those_of("graph-acyclic")
def test_reads_have_circles_where_they_should(case: dict[str, Any], tmp_path: Path) -> None:
    reads = edges(history_of(case, tmp_path), {"wr"})
    assert all(before != after for before, after in closure(reads)) == case["expected_valid"]


@those_of("graph")
def test_the_dependencies_are_the_same(case: dict[str, Any], tmp_path: Path) -> None:
    history = declared(case, history_of(case, tmp_path))
    relations = {"ww", "wr", "rw"}
    chosen = relations & set(case["graph"].split()[0].split("+"))
    own = {f"T{event['index']}" for event in case["ops"]}
    expected = {(f"T{before}", f"T{after}") for before, after in case["expected_edges"]}
    mine = {edge for edge in edges(history, chosen) if own.issuperset(edge)}
    assert expected <= mine
    # Elle leaves out edges that follow from others: a list shows all its elements, not only the last one.
    assert mine <= closure(expected | edges(history, relations - chosen))


def declared(case: dict[str, Any], history: isoscope.History) -> isoscope.History:
    """The history with the order of versions that the case gives, if it gives one."""
    given = case.get("given_version_edges")
    if not given:
        return history
    transactions = list(history)
    order = [
        (VersionSource.DECLARED, key, value)
        for key, pairs in given.items()
        for value in dict.fromkeys(value for pair in pairs for value in pair)
    ]
    return build([*transactions, *writers(transactions)], initial=history.initial, versions=order)


def writers(transactions: list[Transaction]) -> list[Transaction]:
    """A transaction for each value that was read and has no writer."""
    return [
        Transaction(
            number=0,
            id=f"{key}={value}",
            session=0,
            session_id=None,
            operations=(Operation(kind=OperationKind.WRITE, key=key, value=value),),
        )
        for key, value in missing_writers(transactions)
    ]


def edges(history: isoscope.History, relations: set[str]) -> set[tuple[str, str]]:
    known = version_order.edges(history)
    return {(before, after) for before, after, relation in known if relation in relations}


def closure(pairs: set[Any]) -> set[Any]:
    """The pairs and all that follow from them."""
    while True:
        more = {(first, last) for first, middle in pairs for again, last in pairs if middle == again}
        if more <= pairs:
            return pairs
        pairs = pairs | more


@those_of("version-order")
def test_an_order_of_transactions_claims_an_order_of_versions(case: dict[str, Any], tmp_path: Path) -> None:
    expected = VERSIONS_INSTEAD.get(case["name"], case["expected_version_edges"])
    for transactions in parts(case, list(history_of(case, tmp_path))):
        assert not is_cyclic(transactions, [])
        for key in {operation.key for transaction in transactions for operation in transaction.operations}:
            values = versions(transactions, key)
            claimed = [pair for pair in expected.get(str(key), []) if set(pair) <= values]
            for first, second in claimed:
                assert is_cyclic(transactions, [(key, second), (key, first)])
                assert not is_cyclic(transactions, [(key, first), (key, second)])
            if not claimed:
                for pair in permutations(sorted(values), 2):
                    assert not is_cyclic(transactions, [(key, value) for value in pair])


def is_cyclic(transactions: list[Transaction], order: list[tuple[Any, int]]) -> bool:
    """Whether what real time says of versions contradicts a declared order of them."""
    installed = [(VersionSource.DECLARED, key, value) for key, value in order]
    history = build([*transactions, *writers(transactions)], versions=installed)
    report = isoscope.check(history, list(Level), assume=["linearizable-keys"])
    return "cyclic-versions" in found(report)


def versions(transactions: list[Transaction], key: object) -> set[int]:
    """The versions of the key that a transaction read or installed."""
    mine = [[o for o in transaction.operations if o.key == key] for transaction in transactions]
    read = [of[0] for of in mine if of and of[0].kind is OperationKind.READ]
    left = [[o for o in of if o.kind is OperationKind.WRITE][-1:] for of in mine]
    return {o.value for of in [read, *left] for o in of if isinstance(o.value, int)}


def parts(case: dict[str, Any], transactions: list[Transaction]) -> list[list[Transaction]]:
    """The transactions that the case's order joins, each with an interval that says the same in real time."""
    order = {(before, after) for before, after in case["txn_edges"]}
    ranks = {t.id: sum(after == t.id for _, after in closure(order)) for t in transactions}
    joined = closure(order | {(after, before) for before, after in order})
    groups = {frozenset({t.id, *(after for before, after in joined if before == t.id)}) for t in transactions}
    return [
        [timed(t, ranks[t.id]) for t in transactions if t.id in group]
        for group in sorted(groups, key=lambda group: min(map(str, group)))
    ]


def timed(transaction: Transaction, rank: int) -> Transaction:
    completed = None if transaction.status is Status.INDETERMINATE else 2 * rank + 1
    return Transaction(
        number=0,
        id=transaction.id,
        session=0,
        session_id=None,
        status=transaction.status,
        operations=transaction.operations,
        interval=Interval(2 * rank, completed),
    )


@those_of("error")
def test_what_elle_refuses_is_counted(case: dict[str, Any], tmp_path: Path) -> None:
    if not case["ops"]:
        pytest.skip("about integers of two widths, which are the same to us")
    operations = [{**event, "process": event["index"]} for event in case["ops"]]
    history = isoscope.load(written(operations, "edn", tmp_path), format="jepsen")
    assert history.evidence.repeated_values == 1
