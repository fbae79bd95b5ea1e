"""Rules of rows that come and go: deletes, range reads, predicates; by the specification."""

from __future__ import annotations

from isoscope.history import UNKNOWN, History, Initial, Operation, OperationKind, Range, Status, Transaction
from isoscope.levels import Level
from isoscope.recorder import build
from isoscope.reference import cycles, explanations, reads, verdicts

from .rules import rule

K = OperationKind
ABSENT, OPEN = Initial(value=None), Initial(value=UNKNOWN)


def of(*transactions: list[Operation], initial: Initial = ABSENT, aborted: tuple[int, ...] = ()) -> History:
    made = [
        Transaction(
            number=0,
            id=place,
            session=0,
            session_id=None,
            status=Status.ABORTED if place in aborted else Status.COMMITTED,
            operations=tuple(operations),
        )
        for place, operations in enumerate(transactions)
    ]
    return build(made, initial=initial)


def on(kind: OperationKind, key: int | str, value: int | None = None, **more: str) -> Operation:
    return Operation(kind=kind, key=key, value=value, **more)  # type: ignore[arg-type]


def shown(*pairs: tuple[int | str, int], **more: object) -> Operation:
    """A range read that shows these rows; other words are its bounds, tombstones, table and predicate."""
    about = {name: more.pop(name) for name in ("table", "predicate") if name in more}
    value = Range(rows=pairs, **more)  # type: ignore[arg-type]
    return Operation(kind=K.RANGE_READ, value=value, **about)  # type: ignore[arg-type]


def names(history: History) -> list[str]:
    return sorted(finding.name for finding in reads.judge(history).findings)


def outcome(history: History, level: Level = Level.SERIALIZABLE) -> str:
    return str(explanations.outcomes(history)[level])


@rule("Keys that are not judged", "nor of a list that a transaction that counts as committed deletes")
def a_list_that_is_deleted_is_not_judged() -> None:
    assert outcome(of([on(K.APPEND, 1, 1)], [on(K.DELETE, 1)])) == "unknown"
    assert outcome(of([on(K.APPEND, 1, 1)], [on(K.DELETE, 1)], aborted=(1,))) == "holds"
    assert outcome(of([on(K.WRITE, 1, 1)], [on(K.DELETE, 1)])) == "holds"


@rule("Keys that are not judged", "A level that could be broken there is `unknown`, with the reason.")
def some_range_reads_are_not_judged() -> None:
    one = [on(K.WRITE, 1, 1)]
    for read in (shown(low=0.5), shown(predicate="value > 1")):
        assert outcome(of(one, [read])) == "unknown"
        assert outcome(of(one, [read, on(K.READ, 2, 9)])) == "violated"
    assert outcome(of(one, [shown((1, 1), predicate="value > 1")])) == "holds"


@rule("Absent keys", "So it is a [repeated value](#repeated-values) if several transactions delete the key")
def nil_is_a_value_like_any_other() -> None:
    first, nothing = Initial(value=0), [on(K.READ, 1)]
    assert names(of([on(K.WRITE, 1, 5)], nothing, initial=first)) == ["thin-air-read"]
    assert names(of([on(K.DELETE, 1)], nothing, initial=first, aborted=(0,))) == ["aborted-read"]
    one, two = (
        of([on(K.DELETE, 1)], nothing, initial=first),
        of(*[[on(K.DELETE, 1)]] * 2, nothing, initial=first),
    )
    assert (reads.judge(one).repeated_reads, reads.judge(two).repeated_reads) == (0, 1)
    assert reads.judge(of([on(K.DELETE, 1)], nothing)).repeated_reads == 1


@rule(
    "Keys that may not exist at first",
    "nil is a possible initial value, also if one transaction alone deletes",
)
def a_key_that_is_deleted_may_not_have_existed() -> None:
    """The reader comes before the delete in its session, so it saw the first state."""
    early = [on(K.READ, 1), on(K.DELETE, 1)]
    assert outcome(of(early, initial=OPEN)) == "holds"
    assert outcome(of(early, initial=Initial(value=0))) == "violated"
    assert outcome(of(early, [on(K.READ, 1, 9)], initial=OPEN)) == "violated"


@rule(
    "First transactions", "The initial state of these keys is a possible writer only of a read of its value"
)
def a_first_transaction_comes_before_all_that_see_its_keys() -> None:
    init = [on(K.INSERT, 1, 0, statement="init")]
    both = [*init, on(K.INSERT, 2, 0, statement="init")]
    assert outcome(of(both, [on(K.READ, 2, 0), on(K.READ, 1)])) == "violated"
    assert names(of(both, [on(K.READ, 2, 0), on(K.READ, 1)])) == []
    assert outcome(of([on(K.INSERT, 1, 0)], [on(K.READ, 1)])) == "holds"
    skewed = [on(K.WRITE, 1, 5), on(K.WRITE, 2, 5)], [on(K.READ, 1, 0), on(K.READ, 2, 5)]
    assert outcome(of(init, *skewed), Level.READ_ATOMIC) == "violated"
    assert outcome(of([on(K.INSERT, 1, 0)], *skewed), Level.READ_ATOMIC) == "holds"


@rule("Range reads", "any other key, and one that it shows as a tombstone, did not exist: the read shows nil")
def a_range_read_is_a_read_of_every_key_in_it() -> None:
    writer = [on(K.WRITE, 1, 5), on(K.WRITE, 2, 6)]
    assert outcome(of(writer, [shown((1, 5), (2, 6))])) == "holds"
    for half in (shown((1, 5)), shown((1, 5), tombstones=((2, 0),)), shown((1, 5), low=1, high=2)):
        assert outcome(of(writer, [half])) == "violated"
    for whole in (shown((1, 5), high=1), shown((1, 5), (2, 6), high=1), shown(low="a")):
        assert outcome(of(writer, [whole])) == "holds"


@rule("Range reads", "in the order of the keys")
def what_a_range_read_shows_first_it_saw_first() -> None:
    """To see a transaction and afterwards not to see it is worse than the other way round."""
    assert (
        outcome(of([on(K.WRITE, 2, 5), on(K.WRITE, 1, 5)], [shown((1, 5))]), Level.READ_COMMITTED)
        == "violated"
    )
    assert (
        outcome(of([on(K.WRITE, 1, 5), on(K.WRITE, 2, 5)], [shown((2, 5))]), Level.READ_COMMITTED) == "holds"
    )


@rule("Range reads", "A key belongs to the tables that its operations name")
def a_range_read_reads_one_table() -> None:
    writer = [on(K.WRITE, 1, 5, table="t"), on(K.WRITE, 2, 6, table="u")]
    assert outcome(of(writer, [shown((1, 5), table="t")])) == "holds"
    assert outcome(of(writer, [shown((1, 5), table="u")])) == "violated"
    assert outcome(of(writer, [shown((1, 5))])) == "holds"


@rule("Predicates", "Any other key between its bounds was in a state that does not match")
def a_predicate_read_says_what_a_value_is_not() -> None:
    five = [on(K.WRITE, 1, 5)]
    for predicate in (":true", "[:= 5]", "[:mod 2 1]", "[:in 4 5]"):
        both = [shown(predicate=predicate), on(K.READ, 1, 5)]
        assert outcome(of(five, both), Level.CUT_ISOLATION) == "violated"
        assert outcome(of(five, [shown((1, 5), predicate=predicate), on(K.READ, 1, 5)])) == "holds"
    for predicate in ("[:= 4]", "[:mod 2 0]", '[:in 4 "5"]'):
        assert outcome(of(five, [shown(predicate=predicate), on(K.READ, 1, 5)])) == "holds"


@rule("Predicates", "If there are none, the read is a `predicate-read-miss`")
def what_every_state_matches_cannot_be_left_out() -> None:
    five, six = [on(K.WRITE, 1, 5)], [on(K.WRITE, 1, 6)]
    four = Initial(value=4)
    assert names(of(five, [shown(predicate=":true")], initial=four)) == ["predicate-read-miss"]
    assert names(of(five, [shown(predicate="[:= 4]")], initial=four)) == []
    assert reads.judge(of(five, six, [shown(predicate="[:= 4]")], initial=four)).repeated_reads == 1
    assert reads.judge(of(five, [shown(predicate="[:= 3]")], initial=OPEN)).repeated_reads == 1


@rule("Predicates", "after one that matches, leaving it out is `not-my-own-write`")
def an_own_row_that_matches_is_shown() -> None:
    assert names(of([on(K.WRITE, 1, 5), shown(predicate="[:= 5]")])) == ["not-my-own-write"]
    assert names(of([on(K.WRITE, 1, 5), shown(predicate="[:= 4]")])) == []


@rule("Predicates", "Two that both leave it out never differ.")
def two_reads_that_show_nothing_are_repeatable() -> None:
    """One is explained by 4 alone, the other by 3 alone."""
    three = Initial(value=3)
    history = of([on(K.WRITE, 1, 4)], [shown(predicate="[:= 3]"), shown(predicate="[:= 4]")], initial=three)
    assert outcome(history, Level.CUT_ISOLATION) == "holds"
    assert outcome(history, Level.READ_COMMITTED) == "violated"
    assert outcome(history, Level.SNAPSHOT_ISOLATION) == "violated"


@rule("Phantoms", "Its wr counts at every level; its rw counts at levels that speak of predicates")
def a_phantom_is_an_rw_of_a_key_that_is_not_shown() -> None:
    history = of([shown(), on(K.WRITE, 1, 5)], [shown(), on(K.WRITE, 2, 6)])
    assert dict(cycles.names(history)) == {"phantom": 2}
    found = verdicts.outcomes(history)
    assert (found[Level.SERIALIZABLE], found[Level.REPEATABLE_READ]) == ("violated", "holds")
    half = verdicts.outcomes(of([on(K.WRITE, 1, 5), on(K.WRITE, 2, 6)], [shown((2, 6))]))
    allowed = (Level.CONSISTENT_VIEW, Level.CURSOR_STABILITY, Level.MONOTONIC_VIEW)
    assert {half[level] for level in allowed} == {"holds"}
    assert half[Level.PARALLEL_SNAPSHOT_ISOLATION] == "violated"
