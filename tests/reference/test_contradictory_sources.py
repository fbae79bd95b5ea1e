"""Sources of the version order that contradict each other in every explanation: each is heard alone.

What they break together proves nothing, and no method says of a level what another source denies.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from isoscope.checkers import check
from isoscope.history import Initial, Operation, OperationKind, Status, Timestamp, Transaction, VersionSource
from isoscope.levels import Level
from isoscope.recorder import build
from isoscope.reference import explanations, verdicts
from isoscope.verdict import Method, Outcome
from tests.seeds import seeds

from .agreement import together, with_each_method
from .mixtures import random_mixture

if TYPE_CHECKING:
    from collections.abc import Iterable

    from isoscope.history import History

LOG, DECLARED = VersionSource.LOG, VersionSource.DECLARED
HOLDS, VIOLATED, UNKNOWN = Outcome.HOLDS, Outcome.VIOLATED, Outcome.UNKNOWN


def did(number: int, *operations: tuple[str, str, Any], at: int | None = None, **more: Any) -> Transaction:
    """A transaction of a session of its own; `at`: when it committed."""
    start, commit = (None, None) if at is None else (Timestamp(0), Timestamp(at))
    return Transaction(
        number=number,
        id=number,
        session=0,
        session_id=number,
        operations=tuple(Operation(kind=OperationKind(kind), key=k, value=v) for kind, k, v in operations),
        start=start,
        commit=commit,
        **more,
    )


def recorded(*transactions: Transaction, **rows: Iterable[tuple[VersionSource, tuple[int, ...]]]) -> History:
    """Registers start with 0; `rows` of each key by source."""
    versions = [(source, key, value) for key, of in rows.items() for source, values in of for value in values]
    return build(transactions=transactions, initial=Initial(value=0), versions=versions)


def told(history: History, *levels: Level, method: Method | None = None) -> list[Outcome]:
    return [verdict.outcome for verdict in check(history, levels, method=method).verdicts]


#: A list whose appends two transactions mix, which breaks all levels by the list alone.
MIXED = (("append", "x", 1), ("append", "x", 3)), (("append", "x", 2),), (("read", "x", (1, 2, 3)),)

REPEATED_ELEMENTS = recorded(
    did(0, ("append", "y", 3), ("append", "y", 1), at=1),
    did(1, ("append", "y", 1), ("append", "y", 2), at=5),
    did(2, ("append", "y", 4), at=6),
    did(3, ("read", "y", (4, 1, 3, 2, 1)), at=7),
)
REPEATED_ROWS = recorded(
    did(0, *MIXED[0], ("write", "y", 5)),
    did(1, *MIXED[1], ("write", "y", 6)),
    did(2, *MIXED[2], ("write", "y", 5)),
    y=[(LOG, (6, 5, 5)), (DECLARED, (5, 5, 6))],
)
FIRST_ROW = recorded(
    did(0, ("append", "z", 1), ("write", "x", 0), ("append", "z", 2), at=1),
    did(1, ("write", "x", 3), at=3),
    did(2, ("read", "z", ()), ("append", "z", 4), at=5),
    x=[(LOG, (0, 3))],
    z=[(DECLARED, (1, 4, 2))],
)
UNSHOWN_EFFECT = recorded(
    did(0, ("append", "x", 1), at=5, status=Status.ABORTED),
    did(1, ("read", "x", (0, 1)), ("append", "x", 0), at=3, status=Status.INDETERMINATE),
    did(2, ("append", "x", 0), ("read", "x", (0, 1, 0)), at=1),
    x=[(DECLARED, (0, 0))],
)
MISPLACED_LIST = recorded(
    did(0, ("read", "x", (1, 1, 1)), ("append", "x", 0), status=Status.INDETERMINATE),
    did(1, ("append", "x", 1), ("append", "x", 0)),
    did(2, ("append", "x", 5), ("read", "x", (0, 0, 1))),
)
LIST_AGAINST_CLOCK = recorded(
    did(0, ("write", "x", 1), ("append", "y", 2), at=3),
    did(1, ("append", "y", 3), ("read", "x", 0), at=5),
    did(2, ("read", "x", 1), ("read", "y", (3,)), at=4),
)
TIED_CLOCK = recorded(
    did(0, ("write", "x", 1), ("read", "y", 0), at=3),
    did(1, ("read", "x", 1), ("write", "x", 2), ("write", "y", 2), at=3),
    x=[(LOG, (2, 1))],
)
TWO_ROWS = recorded(
    did(0, ("read", "y", (1,)), ("append", "y", 1), at=3, status=Status.INDETERMINATE),
    did(1, ("read", "x", (2,)), ("read", "x", ()), ("append", "y", 1), at=5, status=Status.INDETERMINATE),
    did(2, ("append", "x", 2), at=1),
    y=[(LOG, (1, 1))],
)
CASES = {name: case for name, case in globals().copy().items() if type(case).__name__ == "History"}


@pytest.mark.parametrize("name", CASES)
def test_every_method_gives_the_answer_of_the_specification_or_none(name: str) -> None:
    assert [*together(CASES[name]), *with_each_method(CASES[name])] == []


@pytest.mark.parametrize("name", CASES)
def test_a_level_asked_alone_has_no_answer_that_it_has_not_beside_others(name: str) -> None:
    differences = together(CASES[name], alone=True)
    assert [text for text in differences if not text.endswith("not unknown")] == []


def test_a_list_of_repeated_elements_breaks_no_level_that_timestamps_allow() -> None:
    assert explanations.outcomes(REPEATED_ELEMENTS)[Level.CAUSAL] is UNKNOWN
    assert told(REPEATED_ELEMENTS, Level.CAUSAL, Level.CONSISTENT_VIEW) == [UNKNOWN, VIOLATED]


def test_a_list_breaks_no_level_where_rows_of_repeated_values_contradict_each_other() -> None:
    assert told(REPEATED_ROWS, Level.CAUSAL, Level.PL_1) == [UNKNOWN, UNKNOWN]
    assert told(REPEATED_ROWS, Level.CAUSAL, method=Method.VALUES) == [UNKNOWN]


def test_a_first_row_that_may_be_the_initial_state_may_be_a_write_as_well() -> None:
    """As a write it says something, so that the log is heard alone too."""
    assert told(FIRST_ROW, Level.CURSOR_STABILITY, Level.SERIALIZABLE) == [UNKNOWN, UNKNOWN]


def test_a_transaction_that_nothing_shows_makes_no_explanation() -> None:
    assert told(UNSHOWN_EFFECT, Level.PL_1) == [HOLDS]


def test_a_list_without_its_own_appends_shows_transactions_that_took_effect() -> None:
    assert told(MISPLACED_LIST, Level.PL_1) == [VIOLATED]


def test_values_do_not_say_that_a_list_breaks_what_the_clock_allows() -> None:
    assert told(LIST_AGAINST_CLOCK, Level.READ_COMMITTED, method=Method.VALUES) == [UNKNOWN]


@pytest.mark.parametrize("history", [TIED_CLOCK, TWO_ROWS])
def test_timestamps_do_not_say_that_levels_hold_that_a_log_may_break(history: History) -> None:
    assert verdicts.clock_outcomes(history)[Level.CLOCK_SERIALIZABLE] is HOLDS
    assert told(history, Level.SERIALIZABLE, Level.PL_2, method=Method.TIMESTAMPS) == [UNKNOWN, UNKNOWN]
    # Asked alone, the level of the clock has the same answer as beside all others.
    assert told(history, Level.CLOCK_SERIALIZABLE) == [VIOLATED]


def test_any_mixture_with_repeated_values_has_these_answers() -> None:
    for seed in range(seeds(60, deep=20_000)):
        history = random_mixture(random.Random(900_000 + seed), unique=False)
        assert [*together(history), *with_each_method(history)] == [], seed
