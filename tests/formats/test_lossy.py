"""What a lossy copy still says: nothing that the history did not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from isoscope import formats
from isoscope.history import Initial
from isoscope.recorder import build
from tests.formats.forms import FORMS
from tests.formats.test_registry import told

if TYPE_CHECKING:
    from pathlib import Path

    from isoscope.history import History

REGISTERS = ["plume", "dbcop-hist", "dbcop-json", "awdit"]
JSON = ["jepsen-json", "jepsen-json-lines", "aion", "aion-lines", "leopard", "leopard-lines"]
#: Only the first of the indeterminate transactions was observed.
INDETERMINATE = b"""{:type :info, :process 0, :value [[:w 1 1] [:r 2 nil]]}
{:type :info, :process 1, :value [[:w 1 2]]}
{:type :ok, :process 2, :value [[:r 1 1]]}
"""
INDETERMINATE_LOSS = (
    "indeterminate transactions: "
    "those whose writes were observed are written as committed, the others left out"
)
KEYWORDS = b"""{:type :ok, :process 0, :value [[:w :x :a] [:w 1 ##NaN]]}
{:type :ok, :process 1, :value [[:r :x ":a"] [:w ":x" "NaN"] [:w 2 NaN]]}
"""


def operations(history: History) -> list[list[tuple[str, object, object]]]:
    return [[(str(o.kind), o.key, o.value) for o in transaction.operations] for transaction in history]


@pytest.mark.parametrize("name", REGISTERS)
@pytest.mark.parametrize("content", [INDETERMINATE, INDETERMINATE.replace(b":w 1 2", b':w 1 "x"')])
def test_an_indeterminate_transaction_is_written_only_if_it_counts(name: str, content: bytes) -> None:
    form, history = FORMS[name], FORMS["jepsen"].read(content)
    assert INDETERMINATE_LOSS in form.losses(history)
    copy = form.read(form.write(history))
    assert operations(copy) == [[("write", 1, 1)], [("read", 1, 1)]]
    assert copy.counts["committed"] == 2


@pytest.mark.parametrize("name", [*REGISTERS, "aion"])
def test_an_unknown_result_is_no_read_of_an_unknown_initial_value(name: str) -> None:
    history = FORMS["jepsen"].read(
        INDETERMINATE.replace(b":w 1 1", b":w 1 :a").replace(b":r 1 1", b":r 1 :a")
    )
    form = FORMS[name]
    copy = form.read(form.write(build(list(history), initial=Initial())))
    assert [o.key for transaction in copy for o in transaction.operations if o.kind == "read"] == [1]


@pytest.mark.parametrize("name", JSON)
def test_a_term_becomes_a_string_that_the_history_does_not_have(name: str) -> None:
    form, history = FORMS[name], FORMS["jepsen"].read(KEYWORDS)
    assert "keywords, symbols and other terms: written as strings" in form.losses(history)
    first, second = operations(form.read(form.write(history)))
    assert [o for o in first if o[0] == "write"] == [("write", ":x'", ":a'"), ("write", 1, "NaN'")]
    assert [o for o in second if o[0] in ("read", "write")] == [
        ("read", ":x'", ":a"),
        ("write", ":x", "NaN"),
        ("write", 2, "NaN''"),
    ]


SESSIONS = {
    "dbcop-json": b'[[],[{"events":[["w",0,1]],"committed":true}],[]]',
    "dbcop-yaml": b"- []\n- - events:\n    - {write: true, variable: 0, value: 1, success: true}\n"
    b"    success: true\n- []\n",
}


def cobra(folder: Path) -> History:
    def record(tag: bytes, *numbers: int) -> bytes:
        return tag + b"".join(number.to_bytes(8, "big") for number in numbers)

    logs = [b"", record(b"S", 1) + record(b"W", 10, 5, 0) + record(b"C", 1), b""]
    for number, log in enumerate(logs):
        (folder / f"T{number}.log").write_bytes(log)
    return formats.load(folder, format="cobra")


@pytest.mark.parametrize("name", [*SESSIONS, "cobra"])
def test_a_session_without_a_transaction_is_left_out_and_counted(name: str, tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    if name == "cobra":
        history = cobra(tmp_path / "logs")
    else:
        (tmp_path / "given").write_bytes(SESSIONS[name])
        history = formats.load(tmp_path / "given", format=name)
    assert [session.transactions for session in history.sessions] == [(0,)]
    assert history.notes["sessions without a transaction left out"] == 2
    formats.save(history, tmp_path / "copy.parquet")
    assert told(formats.load(tmp_path / "copy.parquet")) == told(history)


@pytest.mark.parametrize("name", ["plume", "jepsen", "aion"])
def test_initial_values_of_single_keys_are_no_loss_of_the_one_of_all(name: str) -> None:
    form = FORMS[name]
    assumed = formats.find(form.format).initial
    assert assumed is not None
    initial = Initial(value=assumed.value, replaceable=assumed.replaceable, of_key={1: 5})
    history = build(list(FORMS["plume"].read(b"w(1,10,1,1)\n")), initial=initial)
    assert form.losses(history) == ("initial values of single keys",)
