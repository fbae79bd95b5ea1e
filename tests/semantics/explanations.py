"""Explanations: repeated values, indeterminate transactions and rows of repeated values as choices."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from isoscope.history import UNKNOWN, Initial, Status, Timestamp, VersionSource
from isoscope.levels import Level
from isoscope.recorder import build
from isoscope.reference import explanations
from isoscope.reference.counted import counted
from tests.semantics.rules import outcome, rule
from tests.small_transactions import append, read, transaction, write

if TYPE_CHECKING:
    from isoscope.history import History, Operation, Transaction

LOG, DECLARED = VersionSource.LOG, VersionSource.DECLARED


def of(*transactions: Transaction, initial: Any = 0, **recorded: tuple[VersionSource, list[Any]]) -> History:
    """The history; of a key, the source of its recorded order and the values."""
    versions = [(source, key, value) for key, (source, values) in recorded.items() for value in values]
    return build(transactions, initial=Initial(value=initial), versions=versions)


def run(number: int, *operations: Operation, **fields: Any) -> Transaction:
    """A transaction in a session of its own."""
    return transaction(number, *operations, session=number, **fields)


def explained(history: History, level: Level = Level.SERIALIZABLE) -> str:
    return str(explanations.outcomes(history)[level])


@rule("Explanations", "A level holds if *some* explanation of the history meets its condition")
def one_of_two_writers_explains_a_read() -> None:
    """The reader saw y of the second writer, so x is not from before it."""
    first, second = run(1, write("x", 1)), run(2, write("x", 1), write("y", 1))
    fresh = of(first, second, run(3, read("y", 1), read("x", 1)))
    assert (outcome(fresh, "serializable"), explained(fresh)) == ("holds", "holds")
    stale = of(first, second, run(3, read("y", 1), read("x", 0)))
    assert (outcome(stale, "serializable"), explained(stale)) == ("violated", "violated")


@rule("Explanations", "Two reads of one transaction may have different writers, even of equal values.")
def equal_values_may_have_different_writers() -> None:
    """Session 1 writes x and then y, session 2 y and then x; both are read in between."""
    writers = (
        transaction(1, write("x", 1), session=1),
        transaction(2, write("x", 2), write("y", 2), session=1),
        transaction(3, write("x", 1), session=1),
    )
    history = of(*writers, run(4, read("x", 1), read("y", 2), read("x", 1)))
    assert explained(history, Level.READ_COMMITTED) == "holds"
    assert explained(history, Level.CUT_ISOLATION) == "holds"
    both = of(*writers[:2], run(4, read("x", 1), read("y", 2), read("x", 1)))
    assert explained(both, Level.READ_COMMITTED) == "violated"


@rule("Explanations", "whether it took effect")
def an_indeterminate_writer_may_have_taken_effect() -> None:
    lost = run(1, write("x", 1), write("y", 1), status=Status.INDETERMINATE)
    known = run(2, write("x", 1))
    assert explained(of(lost, known, run(3, read("x", 1), read("y", 0)))) == "holds"
    assert explained(of(lost, known, run(3, read("x", 1), read("y", 1)))) == "holds"
    both = run(3, read("x", 1), read("y", 1)), run(4, read("x", 0), read("y", 1))
    assert explained(of(lost, known, *both)) == "violated"


@rule("Explanations", "An indeterminate transaction that took effect has its reads explained like any other")
def an_indeterminate_transaction_with_a_wrong_read_did_not_take_effect() -> None:
    """Its thin-air read excludes it, and then y = 1 comes from the other one."""
    lost = run(1, read("z", 9), write("x", 1), write("y", 1), status=Status.INDETERMINATE)
    assert explained(of(lost, run(2, write("x", 1)), run(3, read("x", 1)))) == "holds"
    assert explained(of(lost, run(2, write("x", 1)), run(3, read("x", 1), read("y", 1)))) == "violated"


@rule("Possible writers", "A read without possible writers is wrong in every explanation")
def a_read_with_bad_writers_only_is_wrong() -> None:
    aborted = run(1, write("x", 1), status=Status.ABORTED)
    replaced = run(2, write("x", 1), write("x", 2))
    assert explained(of(aborted, replaced, run(3, read("x", 1))), Level.PL_2) == "violated"
    assert explained(of(aborted, replaced, run(3, read("x", 1))), Level.PL_1) == "holds"
    assert explained(of(aborted, run(2, write("x", 1)), run(3, read("x", 1))), Level.PL_2) == "holds"


@rule("Possible writers", "The chosen one took effect.")
def a_value_of_an_indeterminate_writer_proves_that_it_took_effect() -> None:
    lost = run(1, write("x", 1), write("y", 1), status=Status.INDETERMINATE)
    assert explained(of(lost, run(2, read("x", 1), read("y", 0)))) == "violated"


@rule("Repeated initial values", "It is one value for all reads of the key.")
def an_unknown_initial_value_may_be_a_repeated_one() -> None:
    """A reader that missed y = 1 came before all writers of x: of 1 and 2 one at most was there then."""
    writers = (
        run(1, write("y", 1), write("x", 2), write("x", 1)),
        run(2, read("y", 1), write("x", 1)),
        run(3, read("y", 1), write("x", 2)),
    )
    first, second = run(4, read("x", 1), read("y", 9)), run(5, read("x", 2), read("y", 9))
    assert explained(of(*writers, first, initial=UNKNOWN)) == "holds"
    assert explained(of(*writers, second, initial=UNKNOWN)) == "holds"
    assert explained(of(*writers, first, second, initial=UNKNOWN)) == "violated"


@rule("Repeated initial values", "A value that one transaction alone wrote is never the initial one")
def an_unknown_initial_value_is_none_that_one_transaction_wrote() -> None:
    reader = run(5, read("x", 1), read("y", 9))
    assert explained(of(run(1, write("y", 1), write("x", 1)), reader, initial=UNKNOWN)) == "violated"


@rule("Repeated elements", "each place of a list shows one of these appends, no two places the same one")
def each_place_of_a_list_is_one_append() -> None:
    writers = run(1, append("x", 1), write("y", 1)), run(2, append("x", 1), write("z", 1))
    for shown, y, z, expected in (
        ((1,), 1, 0, "holds"),
        ((1,), 0, 1, "holds"),
        ((1,), 1, 1, "violated"),
        ((1, 1), 1, 1, "holds"),
        ((1, 1), 1, 0, "violated"),
        ((1, 1, 1), 1, 1, "violated"),
    ):
        assert explained(of(*writers, run(3, read("x", shown), read("y", y), read("z", z)))) == expected


@rule("Repeated elements", "Two lists show the same appends as far as they begin alike.")
def lists_that_begin_alike_show_the_same_appends() -> None:
    writers = run(1, append("x", 1), write("y", 1)), run(2, append("x", 1), write("z", 1))
    first = run(3, read("x", (1,)), read("y", 1), read("z", 0))
    second = run(4, read("x", (1,)), read("y", 0), read("z", 1))
    assert explained(of(*writers, first), Level.READ_ATOMIC) == "holds"
    assert explained(of(*writers, first, second), Level.PL_2) == "holds"
    assert explained(of(*writers, first, second), Level.SNAPSHOT_ISOLATION) == "violated"


@rule("Indeterminate transactions", "unless that is the first row and [may be the")
def a_row_that_may_be_the_initial_state_proves_nothing() -> None:
    lost, later = run(1, write("x", 0), status=Status.INDETERMINATE), run(2, write("x", 5))
    grown, longer = run(1, append("x", 0), status=Status.INDETERMINATE), run(2, append("x", 5))
    cases = (
        (of(lost, later, x=(LOG, [0, 5])), False),
        (of(lost, later, x=(LOG, [5, 0])), True),
        (of(grown, longer, x=(LOG, [0, 5])), True),
    )
    for history, counts in cases:
        assert (0 in counted(history), history.columns.counted()[0]) == (counts, counts)


@rule("Rows of repeated values", "different rows are different writes")
def rows_of_a_value_are_different_writes() -> None:
    """Of 1, 2, 1 one row of 1 is before 2: not both writers of 1 can come after it."""
    after = (
        run(1, read("y", 2), write("x", 1)),
        run(2, read("y", 2), write("x", 1)),
        run(3, write("x", 2), write("y", 2)),
    )
    assert explained(of(*after)) == "holds"
    assert explained(of(*after, x=(LOG, [2, 1, 1]))) == "holds"
    assert explained(of(*after, x=(LOG, [1, 2, 1]))) == "violated"
    assert explained(of(*after, x=(LOG, [2, 1]))) == "holds"


@rule("Rows of repeated values", "so two rows of a value prove that two writes did")
def two_rows_of_a_log_prove_two_writes() -> None:
    """The lost transaction would have to be seen through y."""
    lost = run(1, read("z", 9), write("x", 1), status=Status.INDETERMINATE)
    known = run(2, write("x", 1))
    assert explained(of(lost, known, x=(LOG, [1]))) == "holds"
    assert explained(of(lost, known, x=(LOG, [1, 1]))) == "violated"
    assert explained(of(lost, known, x=(DECLARED, [1, 1]))) == "holds"


@rule(
    "Choices and contradictory evidence",
    "Sources contradict each other only if they do in every explanation.",
)
def sources_that_can_agree_do_not_contradict_each_other() -> None:
    """By the reads T3, T2, T1: as the log has it, and not as an order that has both 1 before 2."""
    writers = (
        run(1, read("x", 2), write("x", 1)),
        run(2, read("y", 3), write("x", 2)),
        run(3, write("y", 3), write("x", 1)),
    )
    log = [(LOG, "x", value) for value in (1, 2, 1)]
    for declared, expected in (([1, 2], "holds"), ([2, 1], "holds"), ([1, 1, 2], "unknown")):
        versions = [*log, *((DECLARED, "x", value) for value in declared)]
        assert explained(build(writers, initial=Initial(value=0), versions=versions)) == expected


@rule("Choices and contradictory evidence", "Otherwise the explanations in which they do are left out.")
def sources_that_agree_in_one_explanation_are_heard_together() -> None:
    """By timestamps T1, T2, T3; the log agrees if its rows are these, and then the reads are wrong."""
    commits = [Timestamp(1), Timestamp(2), Timestamp(3)]
    writers = [
        run(1, read("x", 2), write("x", 1)),
        run(2, read("y", 3), write("x", 2)),
        run(3, write("y", 3), write("x", 1)),
    ]
    timed = [replace(t, commit=commit) for t, commit in zip(writers, commits, strict=True)]
    assert explained(of(*writers, x=(LOG, [1, 2, 1]))) == "holds"
    assert explained(of(*timed, x=(LOG, [1, 2, 1]))) == "violated"
