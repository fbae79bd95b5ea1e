"""Changes of a history that change no verdict: empty transactions, other names, another order of sessions."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from isoscope.history import Initial, Interval, Operation, OperationKind, Status, Timestamp, Transaction
from isoscope.levels import DEFINITIONS, Family, Level
from isoscope.recorder import build
from isoscope.reference import verdicts
from isoscope.verdict import Outcome
from tests.reference.agreement import told
from tests.reference.mixtures import random_mixture_parts
from tests.seeds import DEEP, seeds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from isoscope.history import History

    Parts = dict[str, Any]

SEEDS = seeds(25, deep=5_000)
pytestmark = pytest.mark.timeout(3600 if DEEP else 300)
REAL_TIME = [level for level in Level if DEFINITIONS[level].family is Family.REAL_TIME]
#: What is recorded of an empty transaction; none of it is evidence of anything.
RECORDED: tuple[Parts, ...] = (
    {},
    {"start": Timestamp(3), "commit": Timestamp(5)},
    {"start": Timestamp(9), "commit": Timestamp(2)},
    {"interval": Interval(2, 6)},
    {"interval": Interval(8, 9)},
    {"positions": Interval(0, 1)},
    {"operations": (Operation(kind=OperationKind.BEGIN), Operation(kind=OperationKind.COMMIT))},
    {"status": Status.INDETERMINATE},
    {"status": Status.ABORTED},
)


def with_empty(parts: Parts, place: int, session: int, **recorded: Any) -> Parts:
    """The history with one more transaction, which does nothing, at a place of the input."""
    others = [*parts["transactions"]]
    empty = Transaction(number=0, id="empty", session=0, session_id=session, **recorded)
    return parts | {"transactions": [*others[:place], empty, *others[place:]]}


def empties(parts: Parts, chooser: random.Random) -> Iterator[Parts]:
    size = len(parts["transactions"])
    for recorded in RECORDED:
        yield with_empty(parts, chooser.randrange(size + 1), chooser.choice((1, 1, 2, 3, 99)), **recorded)


def renamed(parts: Parts, chooser: random.Random) -> Iterator[Parts]:
    """Other names of keys, values and sessions, that sort otherwise; nil and 0 stay what they are."""
    keys: dict[Any, Any] = {"x": 9, "y": "a", "z": -1}

    def value(old: Any) -> Any:
        return 1000 - old if isinstance(old, int) and old else old

    def operation(old: Operation) -> Operation:
        new = tuple(map(value, old.value)) if isinstance(old.value, tuple) else value(old.value)
        return replace(old, key=keys[old.key], value=new)

    transactions = [
        replace(t, session_id=f"s{9 - t.session_id}", operations=tuple(map(operation, t.operations)))
        for t in parts["transactions"]
    ]
    versions = [(source, keys[key], value(old)) for source, key, old in parts["versions"]]
    yield parts | {"transactions": transactions, "versions": versions}


def reordered(parts: Parts, chooser: random.Random) -> Iterator[Parts]:
    """The sessions in another order of the input, each by itself as it was."""
    sessions = sorted({t.session_id for t in parts["transactions"]})
    chooser.shuffle(sessions)
    yield parts | {"transactions": sorted(parts["transactions"], key=lambda t: sessions.index(t.session_id))}


@pytest.mark.parametrize("change", [empties, renamed, reordered], ids=lambda change: change.__name__)
@pytest.mark.parametrize("judged", ["check", "specification"])
def test_no_verdict_changes(judged: str, change: Callable[[Parts, random.Random], Iterator[Parts]]) -> None:
    for seed in range(SEEDS):
        chooser = random.Random(seed)
        # The first value that is read and never written is the unknown initial one: order and names matter.
        parts = random_mixture_parts(chooser) | {"initial": Initial(value=0)}
        before = verdict_of(judged, build(**parts))
        for changed in change(parts, chooser):
            assert verdict_of(judged, build(**changed)) == before, seed


def verdict_of(judged: str, history: History) -> dict[Level, Outcome]:
    return told(history, *Level) if judged == "check" else verdicts.outcomes(history)


@pytest.mark.parametrize("recorded", RECORDED)
def test_every_level_holds_for_a_history_that_does_nothing(recorded: Parts) -> None:
    """Levels that no method decides have no answer of their own."""
    history = build(**with_empty({"transactions": [], "initial": Initial(value=0)}, 0, 1, **recorded))
    decided = [level for level in Level if DEFINITIONS[level].decided]
    for judged in ("check", "specification"):
        found = verdict_of(judged, history)
        assert {level: found[level] for level in decided} == dict.fromkeys(decided, Outcome.HOLDS), judged


@pytest.mark.parametrize("level", REAL_TIME)
def test_a_level_with_real_time_holds_without_committed_transactions(level: Level) -> None:
    aborted = Transaction(
        number=0,
        id=0,
        session=0,
        session_id=1,
        status=Status.ABORTED,
        operations=(Operation(kind=OperationKind.WRITE, key="x", value=1),),
    )
    for transactions in ([], [aborted]):
        history = build(transactions=transactions, initial=Initial(value=0))
        expected = Outcome.HOLDS if DEFINITIONS[level].decided else Outcome.UNKNOWN
        assert told(history, level)[level] is expected
        assert verdicts.outcomes(history)[level] is expected
