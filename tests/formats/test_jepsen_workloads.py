"""Jepsen's workloads: what is read as what, and the advice for those that are no isolation histories."""

from __future__ import annotations

import json

import pytest

from isoscope.checkers import check
from isoscope.errors import FormatError
from isoscope.history import History, Status
from isoscope.levels import Level
from isoscope.verdict import Outcome
from tests.formats.forms import FORMS

EDN, JSON = FORMS["jepsen"], FORMS["jepsen-json"]
NAMELESS = "invocations without a process: no session and no real-time order is known of them"

LONG_FORK = """[{:type :invoke, :f :write, :value [[:w 0 1]]}
{:type :ok, :f :write, :value [[:w 0 1]]}
{:type :invoke, :f :write, :value [[:w 1 1]]}
{:type :ok, :f :write, :value [[:w 1 1]]}
{:type :invoke, :f :read, :value [[:r 0 nil] [:r 1 nil]]}
{:type :ok, :f :read, :value [[:r 0 nil] [:r 1 1]]}
{:type :invoke, :f :read, :value [[:r 1 nil] [:r 0 nil]]}
{:type :ok, :f :read, :value [[:r 1 nil] [:r 0 1]]}]"""


def read(text: str) -> History:
    return EDN.read(text.encode())


def outcome(history: History, level: Level) -> Outcome:
    [verdict] = check(history, [level]).verdicts
    return verdict.outcome


def test_a_long_fork_is_a_history_of_registers() -> None:
    history = read(LONG_FORK)
    assert history.counts["transactions"] == 4
    assert outcome(history, Level.SNAPSHOT_ISOLATION) is Outcome.VIOLATED
    assert outcome(history, Level.PARALLEL_SNAPSHOT_ISOLATION) is Outcome.HOLDS


#: Events of each workload, in EDN, and the first words of the advice.
OTHERS = {
    "bank": ('{:f "transfer", :value {:from 3, :to 0, :amount 1}}', "bank: a transfer"),
    "bank, read": ('{:f "read"}', "list-append, rw-register, closed-predicate and long fork are read; bank"),
    "set": ('{:f "add", :value 0}', "sets and counters are no isolation histories"),
    "set, by key": ('{:f "add", :value [0 0]}', "sets and counters are no isolation histories"),
    "counter": ('{:value 1, :f "add"}', "sets and counters are no isolation histories"),
    "compare-and-set": ('{:value [1 4], :f "cas"}', "a compare-and-set register is no isolation history"),
    "mutex": ('{:f "acquire"}', "a mutex is no isolation history"),
    "queue": ('{:f "enqueue", :value 5}', "a queue is no isolation history"),
    "register": ('{:f "write", :value 5}', "list-append, rw-register, closed-predicate and long fork"),
}


def as_edn(event: str) -> bytes:
    name = event.split('"')[1]
    event = event.replace(f'"{name}"', f":{name}")
    return (event[:-1] + ", :type :invoke, :process 0}").encode()


def as_json(event: str) -> bytes:
    value: dict[str, dict[str, object]] = {
        ":value {:from 3, :to 0, :amount 1}": {"value": {"from": 3, "to": 0, "amount": 1}},
        ":value [0 0]": {"value": [0, 0]},
        ":value [1 4]": {"value": [1, 4]},
        ":value 0": {"value": 0},
        ":value 1": {"value": 1},
        ":value 5": {"value": 5},
    }
    fields: dict[str, object] = next((found for text, found in value.items() if text in event), {})
    return json.dumps(fields | {"f": event.split('"')[1], "type": "invoke", "process": 0}).encode()


@pytest.mark.parametrize(("event", "advice"), OTHERS.values(), ids=OTHERS.keys())
@pytest.mark.parametrize("notation", ["edn", "json"])
def test_another_workload_gets_one_line_of_advice(notation: str, event: str, advice: str) -> None:
    with pytest.raises(FormatError) as caught:
        EDN.read(as_edn(event)) if notation == "edn" else JSON.read(as_json(event))
    assert (caught.value.line, caught.value.column > 0) == (1, True)
    assert caught.value.hint.startswith(advice)
    assert "\n" not in caught.value.hint


def test_advice_is_for_micro_operations_that_are_missing_not_for_wrong_ones() -> None:
    with pytest.raises(FormatError) as caught:
        read("{:type :ok, :process 0, :f :add, :value [[:w 1]]}")
    assert caught.value.hint == ""


PAPER = """{:index 0 :type :invoke :value [[:append 1 1] [:append 2 1]]}
{:index 1 :type :ok :value [[:append 1 1] [:append 2 1]]}
{:index 2 :type :invoke :value [[:append 2 2] [:r 1 nil]]}
{:index 3 :type :invoke :value [[:append 1 2] [:r 2 nil]]}
{:index 4 :type :ok :value [[:append 1 2] [:r 2 [1]]]}
{:index 5 :type :ok :value [[:append 2 2] [:r 1 [1]]]}"""


def test_invocations_without_a_process_join_completions_with_their_content() -> None:
    history = read(PAPER)
    assert [transaction.status for transaction in history] == [Status.COMMITTED] * 3
    assert [transaction.id for transaction in history] == [1, 4, 5]
    assert {session.id for session in history.sessions} == {None}
    assert history.notes == {NAMELESS: 3}
    assert outcome(history, Level.SERIALIZABLE) is Outcome.VIOLATED
    assert outcome(history, Level.SNAPSHOT_ISOLATION) is Outcome.HOLDS


def test_without_a_process_no_real_time_order_is_claimed() -> None:
    stale = """{:type :invoke :value [[:append 1 1]]}
{:type :ok :value [[:append 1 1]]}
{:type :invoke :value [[:r 1 nil]]}
{:type :ok :value [[:r 1 []]]}
{:type :invoke :value [[:r 1 nil]]}
{:type :ok :value [[:r 1 [1]]]}"""
    history = read(stale)
    assert outcome(history, Level.STRICT_SERIALIZABLE) is not Outcome.VIOLATED
    assert outcome(history, Level.STRONG_SESSION_SERIALIZABLE) is Outcome.HOLDS


def test_an_invocation_without_a_process_that_never_completes_is_indeterminate() -> None:
    history = read(
        "{:type :invoke :value [[:append 1 1]]}\n{:type :invoke :value [[:append 1 2]]}\n"
        "{:type :invoke :value [[:r 1 nil]]}\n{:type :ok :value [[:r 1 [2]]]}"
    )
    assert [transaction.status for transaction in history] == [
        Status.COMMITTED,
        Status.INDETERMINATE,
        Status.INDETERMINATE,
    ]
    assert outcome(history, Level.PL_2) is Outcome.HOLDS


def test_the_same_content_twice_is_two_transactions() -> None:
    history = read("{:type :invoke :value [[:r 1 nil]]}\n" * 2 + "{:type :ok :value [[:r 1 []]]}\n" * 2)
    assert [transaction.status for transaction in history] == [Status.COMMITTED] * 2


def test_the_advice_for_a_process_that_overlaps_itself_works() -> None:
    overlapping = PAPER.replace(":type", ":process 7 :type")
    with pytest.raises(FormatError) as caught:
        read(overlapping)
    assert caught.value.line == 4
    assert "take :process out of all events" in caught.value.hint
    assert outcome(read(overlapping.replace(":process 7 ", "")), Level.SERIALIZABLE) is Outcome.VIOLATED
