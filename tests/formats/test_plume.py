"""Plume text: what each line means, and what a mistake is told as."""

# ruff: noqa: E501 - messages stand as they are printed

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from isoscope import formats
from isoscope.errors import FormatError
from isoscope.history import Initial, Status
from tests.formats.forms import FORMS

if TYPE_CHECKING:
    from pathlib import Path

MISTAKES = {
    "a line that is cut short": (
        ("w(1,2,3,4)\nw(1,2,3"),
        (
            "PATH:2:8: expected `,` after the session, found the end of the line\n"
            "    2 | w(1,2,3\n"
            "      |        ^\n"
            "\n"
            "hint: the line is cut short: is the file whole?"
        ),
    ),
    "another letter": (
        ("w(1,2,3,4)\nx(1,2,3,4)\n"),
        (
            "PATH:2:1: expected an operation such as `w(key,value,session,transaction)`, found `x(1,2,3,4)`\n"
            "    2 | x(1,2,3,4)\n"
            "      | ^\n"
            "\n"
            "hint: is this another format? Name it with --format"
        ),
    ),
    "a key that is no integer": (
        "w(x,2,3,4)\n",
        (
            "PATH:1:3: expected an integer of at most 64 bits as the key, found `x,2,3,4)`\n"
            "    1 | w(x,2,3,4)\n"
            "      |   ^\n"
            "\n"
            "hint: this format holds integers only: other keys and values need another format"
        ),
    ),
    "three fields": (
        "w(1,2,3)\n",
        ("PATH:1:8: expected `,` after the session, found `)`\n    1 | w(1,2,3)\n      |        ^"),
    ),
    "two operations on a line": (
        "w(1,2,3,4) r(1,2,3,4)\n",
        (
            "PATH:1:11: expected the end of the line after `)`, found ` r(1,2,3,4)`\n"
            "    1 | w(1,2,3,4) r(1,2,3,4)\n"
            "      |           ^\n"
            "\n"
            "hint: each operation has a line of its own"
        ),
    ),
    "more than 64 bits": (
        "w(1,99999999999999999999,0,1)\n",
        (
            "PATH:1:5: expected an integer of at most 64 bits as the value, found `99999999999999999999,0,1`\n"
            "    1 | w(1,99999999999999999999,0,1)\n"
            "      |     ^\n"
            "\n"
            "hint: this format holds no longer integers: other formats do, such as `aion` and `jepsen`"
        ),
    ),
    "a negative transaction": (
        "w(1,2,0,-2)\n",
        (
            "PATH:1:9: expected a transaction id from -1 (an aborted write) to 2^62 - 1, found `-2)`\n"
            "    1 | w(1,2,0,-2)\n"
            "      |         ^"
        ),
    ),
    "a transaction in two sessions": (
        ("w(1,2,0,7)\nw(1,3,1,7)\n"),
        (
            "PATH:2: expected transaction 7 in session 0, where line 1 put it, found session 1\n"
            "\n"
            "hint: transaction ids are global in this format: renumber one of the two transactions"
        ),
    ),
    "a space": (
        "w(1, 2,0,1)\n",
        (
            "PATH:1:5: expected an integer of at most 64 bits as the value, found ` 2,0,1)`\n"
            "    1 | w(1, 2,0,1)\n"
            "      |     ^\n"
            "\n"
            "hint: there are no spaces inside an operation"
        ),
    ),
    "nil": (
        "r(1,nil,0,1)\n",
        (
            "PATH:1:5: expected an integer of at most 64 bits as the value, found `nil,0,1)`\n"
            "    1 | r(1,nil,0,1)\n"
            "      |     ^\n"
            "\n"
            "hint: this format holds integers only: other keys and values need another format"
        ),
    ),
    "a comment": (
        ("# comment\nw(1,2,0,1)\n"),
        (
            "PATH:1:1: expected an operation such as `w(key,value,session,transaction)`, found `# comment`\n"
            "    1 | # comment\n"
            "      | ^\n"
            "\n"
            "hint: is this another format? Name it with --format"
        ),
    ),
    "a control character": (
        "w(1,2,0,\x1b4)\n",
        (
            "PATH:1:9: expected an integer of at most 64 bits as the transaction, found `\\u{1b}4)`\n"
            "    1 | w(1,2,0,\\u{1b}4)\n"
            "      |         ^\n"
            "\n"
            "hint: this format holds integers only: other keys and values need another format"
        ),
    ),
    "text of another alphabet": (
        "w(1,é2,0,4)\n",
        (
            "PATH:1:5: expected an integer of at most 64 bits as the value, found `é2,0,4)`\n"
            "    1 | w(1,é2,0,4)\n"
            "      |     ^\n"
            "\n"
            "hint: this format holds integers only: other keys and values need another format"
        ),
    ),
}


@pytest.mark.parametrize(("text", "message"), MISTAKES.values(), ids=MISTAKES.keys())
def test_a_mistake_is_told_with_its_place(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "history.txt"
    path.write_bytes(text.encode())
    with pytest.raises(FormatError) as caught:
        formats.load(path, format="plume")
    assert str(caught.value) == message.replace("PATH", str(path), 1)


def test_operations_of_a_transaction_may_stand_apart() -> None:
    history = FORMS["plume"].read(b"w(1,5,0,7)\nr(1,5,2,8)\nw(2,6,0,7)\n")
    assert [(operation.key, operation.value) for operation in history[7].operations] == [(1, 5), (2, 6)]
    assert [session.id for session in history.sessions] == [0, 2]


def test_each_aborted_write_is_a_transaction_and_aborted_reads_are_counted() -> None:
    history = FORMS["plume"].read(b"w(1,5,0,-1)\nw(2,5,0,-1)\nr(1,5,0,-1)\n")
    assert [(transaction.id, transaction.status) for transaction in history] == [
        ("aborted-1", Status.ABORTED),
        ("aborted-2", Status.ABORTED),
    ]
    assert history.notes == {"reads by aborted transactions dropped": 1}


def test_zero_is_the_initial_value_until_a_write_replaces_it() -> None:
    assert FORMS["plume"].read(b"").initial == Initial(value=0, replaceable=True)


def test_blanks_around_a_line_mean_nothing() -> None:
    form = FORMS["plume"]
    assert form.read(b"\n  w(1,5,0,7) \t\r\n\n") == form.read(b"w(1,5,0,7)")
