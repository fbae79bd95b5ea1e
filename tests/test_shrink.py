"""Shrinking: the part breaks the level, needs everything it has, and adds nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

import isoscope
from isoscope.api import Question
from isoscope.checkers import check
from isoscope.explain import shrink
from isoscope.explain.neighbourhood import neighbourhoods
from isoscope.history import Initial, Operation, OperationKind, Status, Term, Transaction, VersionSource
from isoscope.recorder import build
from isoscope.verdict import Anomaly, Outcome
from isoscope.workloads import Workload, generate
from tests.reference.histories import histories
from tests.reference.test_predicates import closed_histories
from tests.reference.version_histories import claims, version_histories
from tests.reference.weak_histories import weak_histories
from tests.strategies import any_histories

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from isoscope.history import History, Scalar
    from isoscope.levels import Level
    from isoscope.verdict import Verdict

CASES = sorted(Path(__file__).with_name("histories").glob("*/violated-*"))
#: What the case claims, or that no level is broken by it.
CLAIMED = {"cyclic-versions": ("sequential-keys",)}
BREAKS_NOTHING = {"contradictory-evidence"}
BROKEN = [path for path in CASES if path.parent.name not in BREAKS_NOTHING]


def each(paths: list[Path]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("path", paths, ids=lambda path: f"{path.parent.name}/{path.name}")


def breaks(level: Level | str, assume: Iterable[str] = ()) -> Callable[[History], bool]:
    def is_broken(history: History) -> bool:
        [verdict] = check(history, [level], assume=assume, max_anomalies=1).verdicts
        return verdict.outcome is Outcome.VIOLATED

    return is_broken


def violated(history: History, assume: Iterable[str] = ()) -> list[Verdict]:
    verdicts = check(history, assume=assume, max_anomalies=1).verdicts
    return [verdict for verdict in verdicts if verdict.outcome is Outcome.VIOLATED]


def size(history: History) -> tuple[int, int]:
    return len(history), history.columns.operations


def assert_minimal(history: History, is_broken: Callable[[History], bool]) -> None:
    assert is_broken(history)
    for gone in range(len(history)):
        assert not is_broken(history.part(number for number in range(len(history)) if number != gone))
    for gone in range(history.columns.operations):
        assert not is_broken(history.part(range(len(history)), without=[gone]))


def assert_within(part: History, whole: History) -> None:
    """Every transaction is as it was, but for operations that are gone."""
    for transaction in part:
        origin = whole[transaction.id]
        left, operations = iter(origin.operations), transaction.operations
        assert all(operation in left for operation in operations)
        assert transaction == replace(
            origin, number=transaction.number, session=transaction.session, operations=operations
        )
    assert part.initial.value == whole.initial.value
    assert part.initial.replaceable == whole.initial.replaceable


@each(BROKEN)
def test_a_case_shrinks_to_what_it_needs(path: Path) -> None:
    history, claims = isoscope.load(path), CLAIMED.get(path.parent.name, ())
    verdict = violated(history, claims)[-1]
    small = shrink(history, breaks(verdict.level, claims), near=verdict.anomalies)
    assert_minimal(small, breaks(verdict.level, claims))
    assert_within(small, history)


@each(BROKEN[::4])
def test_a_case_in_a_crowd_shrinks_to_no_more_than_the_case(path: Path) -> None:
    case, claims = isoscope.load(path), CLAIMED.get(path.parent.name, ())
    verdict = violated(case, claims)[0]
    history = crowded(case)
    [found] = check(history, [verdict.level], assume=claims).verdicts
    small = shrink(history, breaks(verdict.level, claims), near=found.anomalies)
    assert_minimal(small, breaks(verdict.level, claims))
    assert len(small) <= len(case)
    assert {transaction.session_id for transaction in small} <= {t.session_id for t in case}


def crowded(case: History) -> History:
    """The case with transactions before and behind it that break nothing."""
    lists = case.counts["append"] > 0
    workload = Workload(transactions=40, sessions=4, keys=5, lists=lists, initial=Initial(value=None), seed=5)
    crowd = [among_others(transaction) for transaction in generate(workload)]
    versions = [
        (order.source, key, value)
        for order in case.version_orders
        for key, values in order.versions.items()
        for value in values
    ]
    return build([*crowd[:20], *case, *crowd[20:]], initial=case.initial, versions=versions)


def among_others(transaction: Transaction) -> Transaction:
    # A read of an initial value would mean another one in the case's history.
    kept = [o for o in transaction.operations if o.value is not None]
    operations = tuple(replace(operation, key=f"crowd {operation.key}") for operation in kept)
    return replace(
        transaction,
        id=f"crowd {transaction.id}",
        session_id=f"crowd {transaction.session_id}",
        operations=operations,
        sequence=None,
    )


@given(history=st.one_of(weak_histories(), version_histories(), histories(unique=True)))
def test_the_shrunk_history_breaks_the_level_as_the_whole_does(history: History) -> None:
    verdicts = violated(history)
    if not verdicts:
        return
    verdict = verdicts[0]
    small = shrink(history, breaks(verdict.level), near=verdict.anomalies)
    assert_minimal(small, breaks(verdict.level))
    assert_within(small, history)


ANY = st.one_of(weak_histories(), weak_histories(unique=False), version_histories(), closed_histories())


@given(data=st.data(), history=ANY)
def test_a_part_breaks_no_level_that_the_whole_keeps(data: st.DataObject, history: History) -> None:
    numbers = st.integers(0, max(0, history.columns.operations - 1))
    gone = data.draw(st.sets(numbers, max_size=3)) if history.columns.operations else set()
    stay = [number for number in range(len(history)) if data.draw(st.integers(0, 3))]
    part = history.part(stay, without=gone)
    assert_within(part, history)
    broken = [verdict.level for verdict in violated(part)]
    for verdict in check(history, broken).verdicts:
        assert verdict.outcome is not Outcome.HOLDS


@given(data=st.data(), history=version_histories(), assume=claims())
def test_a_part_breaks_no_level_that_the_whole_keeps_if_it_believes_no_more_of_the_claims(
    data: st.DataObject, history: History, assume: tuple[str, ...]
) -> None:
    question = Question(None, assume)
    part = history.part(number for number in range(len(history)) if data.draw(st.integers(0, 3)))
    if question.believes_more(part, question.doubts(history)):
        return
    broken = [verdict.level for verdict in violated(part, assume)]
    for verdict in check(history, broken, assume=assume).verdicts:
        assert verdict.outcome is not Outcome.HOLDS


def test_a_claim_that_a_key_of_the_whole_contradicts_is_not_believed_of_a_part() -> None:
    """The reader that saw x in the other order is dropped; the rest would follow the claim."""
    history = recorded([[("write", "x", 1)], [("write", "x", 2)]])
    back_and_forth: list[list[tuple[str, str, object]]] = [[("read", "x", value)] for value in (1, 2, 1)]
    readers = [replace(t, session_id="reader") for t in recorded(back_and_forth)]
    whole = build([*history, *(replace(t, id=f"r{t.id}") for t in readers)], initial=Initial(value=0))
    question = Question(None, ("sequential-keys",))
    doubts = question.doubts(whole)
    assert doubts == {("cyclic-versions", "x")}
    assert [question.believes_more(whole.part(kept), doubts) for kept in ([*range(5)], [0, 1, 2, 3])] == [
        False,
        True,
    ]


@given(history=any_histories())
def test_a_part_with_everything_is_the_whole(history: History) -> None:
    whole = history.part(range(len(history)))
    # As text: a value may be one that does not equal itself.
    assert [*map(repr, whole)] == [*map(repr, history)]
    assert {**whole.counts, "keys": 0} == {**history.counts, "keys": 0}
    assert [session.transactions for session in whole.sessions] == [s.transactions for s in history.sessions]


def test_a_history_that_keeps_the_level_is_refused() -> None:
    history = recorded([[("write", "x", 1)], [("read", "x", 1)]])
    with pytest.raises(ValueError, match="nothing to shrink"):
        shrink(history, breaks("read-atomic"))


def test_the_same_history_shrinks_to_the_same() -> None:
    history = crowded(isoscope.load(BROKEN[0]))
    verdict = violated(history)[0]
    small = [shrink(history, breaks(verdict.level), near=verdict.anomalies) for _ in range(2)]
    assert small[0] == small[1]
    assert size(shrink(history, breaks(verdict.level))) == size(small[0])


def test_the_search_starts_around_the_smallest_anomaly() -> None:
    history = crowded(
        recorded([[("write", "x", 1), ("write", "y", 1)], [("read", "y", 1), ("read", "x", 0)]])
    )
    verdict = violated(history)[0]
    looked_at = []

    def is_broken(part: History) -> bool:
        looked_at.append(len(part))
        return breaks(verdict.level)(part)

    shrink(history, is_broken, near=verdict.anomalies)
    assert max(looked_at) == 2


@pytest.mark.parametrize(
    ("transaction_id", "label"),
    [(7, "T7"), ("T7", "T7"), (-3, "T-3"), ("a\nb", "'a\\nb'"), (2.5, "2.5"), (True, "True"), (None, "None"),
     (Term(":x"), ":x"), ("plain", "plain")],
)  # fmt: skip
def test_a_transaction_is_found_by_its_label(transaction_id: Scalar, label: str) -> None:
    operations = (Operation(kind=OperationKind.READ, key="x", value=9),)
    odd = Transaction(number=0, id=transaction_id, session=0, session_id="odd", operations=operations)
    others = [
        Transaction(number=0, id=f"other {place}", session=0, session_id=place) for place in range(10, 50)
    ]
    history = build([*others, odd], initial=Initial(value=0))
    assert odd.label == label
    sizes = []

    def is_broken(part: History) -> bool:
        sizes.append(len(part))
        return transaction_id in part

    near = Anomaly(name="thin-air-read", transactions=(label,), keys=("x",))
    assert [t.id for t in shrink(history, is_broken, near=[near])] == [transaction_id]
    assert max(sizes) == 1


def test_a_label_in_quotes_is_not_the_id_without_them() -> None:
    history = build(
        Transaction(number=0, id=name, session=0, session_id=name) for name in ("a", "'a'", "b", "c")
    )
    near = Anomaly(name="thin-air-read", transactions=("'a'",), keys=("x",))
    first = next(neighbourhoods(history, [near]))
    assert [t.id for t in first] == ["'a'"]


def test_the_search_widens_from_the_anomaly_to_what_it_read_and_then_to_its_keys() -> None:
    """One read back, two reads back, all that share a key with the anomaly, and then the whole history."""
    history = recorded(
        [
            [("write", "x", 1)],
            [("read", "x", 1), ("write", "y", 1)],
            [("read", "y", 1)],
            [("write", "y", 2)],
            [("write", "y", 3)],
            [("write", "z", 1)],
        ]
    )
    near = Anomaly(name="thin-air-read", transactions=("T3",), keys=("y",))
    found = [[t.id for t in part] for part in neighbourhoods(history, [near])]
    assert found == [[2, 3], [1, 2, 3], [2, 3, 4, 5], [1, 2, 3, 4, 5, 6]]


def test_halves_are_dropped_first_then_ever_shorter_runs() -> None:
    """Delta debugging (Zeller and Hildebrandt 2002), of a history that needs everything it has."""
    history = recorded([[("write", f"x{number}", 1)] for number in range(8)])
    sizes = []

    def is_broken(part: History) -> bool:
        sizes.append(len(part))
        return size(part) == size(history)

    shrink(history, is_broken)
    assert sizes[:15] == [8, *[4] * 2, *[6] * 4, *[7] * 8]
    assert {*sizes[15:]} == {8}


def test_of_several_anomalies_the_one_that_shows_least_is_the_start() -> None:
    appends: list[list[tuple[str, str, object]]] = [[("append", "x", value)] for value in range(9)]
    skewed = [
        [("read", key, value), ("append", f"{key}'", 1)] for key, value in (("x", [*range(8)]), ("y", []))
    ]
    answers = [[("read", f"{key}'", []), ("append", key, 99)] for key in "xy"]
    history = recorded([*appends[:8], *skewed, *answers])
    [verdict] = check(history, ["serializable"]).verdicts
    assert len(verdict.anomalies) == 2
    assert size(shrink(history, breaks("serializable"), near=verdict.anomalies)) == (2, 4)


def test_an_anomaly_that_names_no_transaction_is_no_start() -> None:
    history = recorded([[("read", "x", 5)], [("write", "y", 1)]])
    near = [Anomaly(name="no-commit-order", transactions=(), keys=())]
    assert size(shrink(history, breaks("read-committed"), near=near)) == (1, 1)


def recorded(transactions: list[list[tuple[str, str, object]]], initial: Scalar = 0) -> History:
    recorder = isoscope.Recorder(initial=initial)
    for session, operations in enumerate(transactions):
        with recorder.transaction(session=session) as t:
            for kind, key, value in operations:
                getattr(t, kind)(key, value)
    return recorder.history()


# What a part must not make of a history.


def test_no_read_is_left_in_thin_air() -> None:
    history = recorded([[("append", "x", 1)], [("append", "x", 2)], [("read", "x", [1, 2])]])
    assert [len(t.operations) for t in history.part([1, 2])] == [1, 0]


def test_a_value_that_two_wrote_is_read_from_neither_when_one_goes() -> None:
    history = recorded([[("write", "x", 1)], [("write", "x", 1)], [("read", "x", 1)]])
    assert [len(t.operations) for t in history.part([1, 2])] == [1, 0]


def test_the_initial_value_stays_the_one_that_was_read_first() -> None:
    history = recorded([[("read", "x", 5)], [("read", "x", 6)]])
    unknown = build(history)
    assert [len(t.operations) for t in unknown.part([1])] == [0]
    assert [len(t.operations) for t in history.part([1])] == [1]


def test_a_list_in_another_order_goes_with_the_one_that_it_contradicts() -> None:
    appends: list[list[tuple[str, str, object]]] = [[("append", "x", value)] for value in (1, 2, 3)]
    history = recorded([*appends, [("read", "x", [1, 2, 3])], [("read", "x", [2, 1])]])
    assert [len(t.operations) for t in history.part([0, 1, 2, 4])] == [1, 1, 1, 0]


def test_an_intermediate_value_does_not_become_the_last() -> None:
    history = recorded([[("write", "x", 1), ("write", "x", 2)], [("read", "x", 1)]])
    assert [len(t.operations) for t in history.part([0, 1], without=[1])] == [0, 0]


def test_a_read_after_an_own_write_does_not_become_one_of_others() -> None:
    history = recorded([[("write", "x", 1), ("read", "x", 0)]])
    assert size(history.part([0], without=[0])) == (1, 0)


def test_an_indeterminate_transaction_that_no_read_saw_is_dropped() -> None:
    recorder = isoscope.Recorder(initial=0)
    with recorder.transaction() as writer:
        writer.write("x", 1)
        writer.indeterminate()
    with recorder.transaction() as reader:
        reader.read("x", 1)
    assert [t.status for t in recorder.history().part([0, 1])] == [Status.INDETERMINATE, Status.COMMITTED]
    assert len(recorder.history().part([0])) == 0


def test_a_read_by_a_predicate_goes_with_a_write_of_a_key_that_it_may_show() -> None:
    path = (
        Path(__file__).with_name("histories")
        / "predicate-read-miss"
        / "allowed-one-version-does-not-match.edn"
    )
    history = isoscope.load(path)
    for gone in range(len(history)):
        part = history.part(number for number in range(len(history)) if number != gone)
        assert not violated(part)


def test_version_orders_keep_the_versions_that_are_left() -> None:
    recorder = isoscope.Recorder(initial=0)
    for value in (1, 2, 3):
        with recorder.transaction(id=value) as t:
            t.write("x", value)
    recorder.version_order("x", [0, 1, 2, 3])
    recorder.version_order("x", [3, 1], source=VersionSource.LOG)
    orders = recorder.history().part([0, 2]).version_orders
    assert [(order.source, order.versions) for order in orders] == [
        (VersionSource.LOG, {"x": (3, 1)}),
        (VersionSource.DECLARED, {"x": (0, 1, 3)}),
    ]


@pytest.mark.parametrize("numbers", [{"transactions": [2]}, {"transactions": [0], "without": [9]}])
def test_a_number_without_a_transaction_is_an_error(numbers: dict[str, list[int]]) -> None:
    with pytest.raises(IndexError, match=r"no (transaction|operation) has number"):
        recorded([[("write", "x", 1)]]).part(**numbers)
