"""dbcop's text: what each line means, and what a mistake is told as."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import isoscope
from isoscope import formats
from isoscope.errors import FormatError
from isoscope.history import Initial, Status
from isoscope.recorder import build
from tests.formats.forms import FORMS

if TYPE_CHECKING:
    from pathlib import Path

FORM = FORMS["dbcop-hist"]
MISTAKES = {
    "no brackets": (
        "[x:=1]\nx:=1\n",
        "PATH:2:1: expected a transaction such as `[x:=1 y==2]`, a line of `-` or a comment, found `x:=1`\n"
        "    2 | x:=1\n"
        "      | ^\n"
        "\n"
        "hint: is this another format? Name it with --format",
    ),
    "a transaction that does not end": (
        "[x:=1\n[y:=1]",
        "PATH:1:6: expected a space or `]` after an event, found the end of the line\n"
        "    1 | [x:=1\n"
        "      |      ^\n"
        "\n"
        "hint: a transaction ends with `]` on its own line: is the file whole?",
    ),
    "an empty transaction": (
        "[]\n",
        "PATH:1:2: expected an event such as `x:=1`, found `]`\n"
        "    1 | []\n"
        "      |  ^\n"
        "\n"
        "hint: no transaction is empty in this format",
    ),
    "a write of the initial version": (
        "[x:=?]\n",
        "PATH:1:5: expected a version: an integer from 0 to 2^64 - 1, found `?]`\n"
        "    1 | [x:=?]\n"
        "      |     ^\n"
        "\n"
        "hint: only a read can be of the initial version, `?`",
    ),
    "a space inside an event": (
        "[x:= 1]\n",
        "PATH:1:5: expected a version: an integer from 0 to 2^64 - 1, found ` 1]`\n"
        "    1 | [x:= 1]\n"
        "      |     ^\n"
        "\n"
        "hint: there are no spaces inside an event",
    ),
    "a negative version": (
        "[x==-1]\n",
        "PATH:1:5: expected a version: an integer from 0 to 2^64 - 1, found `-1]`\n"
        "    1 | [x==-1]\n"
        "      |     ^",
    ),
    "more than 64 bits": (
        "[x==18446744073709551616]\n",
        "PATH:1:5: expected a version: an integer from 0 to 2^64 - 1, found `18446744073709551616]`\n"
        "    1 | [x==18446744073709551616]\n"
        "      |     ^",
    ),
    "one equals sign": (
        "[x=1]\n",
        "PATH:1:3: expected `:=` or `==` after the variable, found `=1]`\n    1 | [x=1]\n      |   ^",
    ),
    "a variable that is no name": (
        "[x:=1 $:=1]\n",
        "PATH:1:7: expected a variable: letters, digits and `_`, found `$:=1]`\n"
        "    1 | [x:=1 $:=1]\n"
        "      |       ^",
    ),
    "a transaction behind dashes": (
        "--- [x:=1]\n",
        "PATH:1:5: expected nothing but `-` on a line that ends a session, found `[x:=1]`\n"
        "    1 | --- [x:=1]\n"
        "      |     ^",
    ),
    "more behind a transaction": (
        "[x:=1]?\n",
        "PATH:1:7: expected another transaction or the end of the line, found `?`\n"
        "    1 | [x:=1]?\n"
        "      |       ^",
    ),
}


@pytest.mark.parametrize(("text", "message"), MISTAKES.values(), ids=MISTAKES.keys())
def test_a_mistake_is_told_with_its_place(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "history"
    path.write_bytes(text.encode())
    with pytest.raises(FormatError) as caught:
        formats.load(path, format="dbcop-hist")
    assert str(caught.value) == message.replace("PATH", str(path), 1)


def test_transactions_and_sessions_are_numbered_by_their_place() -> None:
    history = FORM.read(b"[x:=1][y:=2]! // two\n // none\n[z==1]\n --- \n[x==1]")
    assert [(session.id, session.transactions) for session in history.sessions] == [(1, (0, 1, 2)), (2, (3,))]
    assert [(transaction.id, transaction.status) for transaction in history] == [
        (1, Status.COMMITTED),
        (2, Status.ABORTED),
        (3, Status.COMMITTED),
        (4, Status.COMMITTED),
    ]


def test_sessions_without_a_transaction_are_counted() -> None:
    history = FORM.read(b"-\n[x:=1]\n-----\n\n---\n[x==1]\n")
    assert [session.id for session in history.sessions] == [1, 2]
    assert history.notes == {"sessions without a transaction left out": 2}


def test_names_that_spell_a_number_are_integers() -> None:
    text = f"[7:=1 07:=1 _7:=1 {2**64 - 1}:=1 {2**64}:=1 größe:=1]"
    assert FORM.read(text.encode()).keys == (7, "07", "_7", 2**64 - 1, str(2**64), "größe")


def test_the_initial_version_is_zero() -> None:
    history = FORM.read(b"[x==? y==0]")
    assert history.initial == Initial(value=0, replaceable=True)
    assert [operation.value for operation in history[1].operations] == [0, 0]


def test_where_zero_is_written_the_initial_version_is_nil() -> None:
    history = FORM.read(b"[x:=0]\n---\n[x==? x==0]\n[y==?]\n")
    assert history.initial == Initial(value=0, of_key={"x": None}, replaceable=True)
    assert [operation.value for operation in history[2].operations] == [None, 0]
    assert isoscope.check(history, ["cut-isolation"]).verdicts[0].anomaly_counts == {"non-repeatable-read": 1}
    assert FORM.losses(history) == ()
    assert FORM.write(history) == b"[x:=0]\n---\n[x==? x==0]\n[y==0]\n"


def test_other_initial_values_of_single_keys_are_a_loss() -> None:
    plain = FORM.read(b"[x:=1 x==1]\n")
    for value in (None, 5):
        initial = Initial(value=0, of_key={"x": value}, replaceable=True)
        history = build(list(plain), initial=initial)
        assert FORM.losses(history) == ("initial values of single keys",)


def test_values_that_the_format_cannot_hold_are_numbered_or_left_out() -> None:
    history = FORMS["jepsen"].read(
        b'{:type :ok, :process 0, :value [[:w "a b" 5] [:r "a b" nil] [:r :y 5]]}\n'
        b"{:type :ok, :process 1, :value []}\n"
    )
    assert FORM.write(history) == b"[0:=5 0==? 1==5]\n"


@pytest.mark.parametrize(
    "head", [b"[x:=1", b"// a\n\n---\n [ x==? ]", b"\n-\n//\n[7==1]\r\n", "[größe:=1]".encode()]
)
def test_it_is_told_from_other_formats(head: bytes) -> None:
    assert [known.name for known in formats.FORMATS if known.sniff(head)] == ["dbcop-hist"]


@pytest.mark.parametrize(
    "head", [b"// only a comment\n", b"---\nw 1 2\n", b"[[1, 2]]", b"[{:a :=1}]", b"[x]"]
)
def test_other_text_is_not_taken_for_it(head: bytes) -> None:
    assert not formats.find("dbcop-hist").sniff(head)
