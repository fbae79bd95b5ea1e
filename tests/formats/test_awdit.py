"""AWDIT's test format: what each line means, and what a mistake is told as."""

# ruff: noqa: E501 - messages stand as they are printed

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import isoscope
from isoscope import formats
from isoscope.errors import FormatError
from isoscope.history import Initial
from tests.formats.forms import FORMS

if TYPE_CHECKING:
    from pathlib import Path

FORM = FORMS["awdit"]
NATURAL = "hint: this format holds integers from 0 to 2^64 - 1 only, and `-` ends a transaction"
MISTAKES = {
    "another letter": (
        "w 0 1\nx 0 1\n",
        "PATH:2:1: expected an operation such as `w KEY VALUE`, or a line of `-` or `=`, found `x 0 1`\n"
        "    2 | x 0 1\n"
        "      | ^\n"
        "\n"
        "hint: is this another format? Name it with --format",
    ),
    "no value": (
        "w 0 1\nw 0",
        "PATH:2:4: expected a space and an integer from 0 to 2^64 - 1 as the value, found the end of the line\n"
        "    2 | w 0\n"
        "      |    ^\n"
        "\n"
        "hint: the line is cut short: is the file whole?",
    ),
    "a negative value": (
        "w 0 -1\n",
        "PATH:1:5: expected a space and an integer from 0 to 2^64 - 1 as the value, found `-1`\n"
        "    1 | w 0 -1\n"
        "      |     ^\n"
        "\n"
        f"{NATURAL}",
    ),
    "a key that is no integer": (
        "r x 1\n",
        "PATH:1:3: expected a space and an integer from 0 to 2^64 - 1 as the key, found `x 1`\n"
        "    1 | r x 1\n"
        "      |   ^\n"
        "\n"
        f"{NATURAL}",
    ),
    "no space": (
        "w0 1\n",
        "PATH:1:2: expected a space and an integer from 0 to 2^64 - 1 as the key, found `0 1`\n"
        "    1 | w0 1\n"
        "      |  ^\n"
        "\n"
        f"{NATURAL}",
    ),
    "more than 64 bits": (
        "w 1 18446744073709551616\n",
        "PATH:1:5: expected a space and an integer from 0 to 2^64 - 1 as the value, found `18446744073709551616`\n"
        "    1 | w 1 18446744073709551616\n"
        "      |     ^\n"
        "\n"
        f"{NATURAL}",
    ),
    "a value with letters": (
        "w 1 2x\n",
        "PATH:1:6: expected the end of the line after the value, found `x`\n"
        "    1 | w 1 2x\n"
        "      |      ^\n"
        "\n"
        f"{NATURAL}",
    ),
    "a third field, which AWDIT skips without a word": (
        "w 1 2 3\n",
        "PATH:1:7: expected the end of the line after the value, found `3`\n"
        "    1 | w 1 2 3\n"
        "      |       ^\n"
        "\n"
        "hint: each operation has a line of its own",
    ),
}


@pytest.mark.parametrize(("text", "message"), MISTAKES.values(), ids=MISTAKES.keys())
def test_a_mistake_is_told_with_its_place(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "history"
    path.write_bytes(text.encode())
    with pytest.raises(FormatError) as caught:
        formats.load(path, format="awdit")
    assert str(caught.value) == message.replace("PATH", str(path), 1)


def test_transactions_and_sessions_are_numbered_by_their_place() -> None:
    history = FORM.read(b"w 0 0\n==\nw 0 1\n-\nr 0 1\nr 1 0\n===\n---\n===\nr 1 5")
    assert [(session.id, session.transactions) for session in history.sessions] == [
        (1, (0,)),
        (2, (1, 2)),
        (3, (3,)),
    ]
    assert [transaction.id for transaction in history] == [1, 2, 3, 4]
    assert [(operation.key, operation.value) for operation in history[3].operations] == [(0, 1), (1, 0)]
    assert history.notes == {}


def test_a_value_without_a_write_is_thin_air_and_so_is_zero() -> None:
    history = FORM.read(b"r 0 0\n")
    assert history.initial == Initial(value=None)
    assert isoscope.check(history, ["pl-2"]).verdicts[0].anomaly_counts == {"thin-air-read": 1}


def test_initial_values_that_were_read_are_written_as_a_first_session() -> None:
    history = FORMS["plume"].read(b"w(7,1,0,1)\nr(8,0,1,2)\nr(9,0,1,2)\nw(9,0,2,3)\n")
    assert FORM.write(history) == b"w 8 0\n=====\nw 7 1\n=====\nr 8 0\nr 9 0\n=====\nw 9 0\n"


def test_operations_that_the_format_cannot_hold_are_left_out() -> None:
    history = FORMS["plume"].read(b"w(1,1,0,1)\nw(1,2,0,-1)\nr(1,1,0,2)\n")
    assert FORM.write(history) == b"w 1 1\n-----\nr 1 1\n"


@pytest.mark.parametrize("head", [b"w 1 2", b"\n=\nr 1 2\n", b"w 1 2---", b"-----\nw\t1\t2\r\n"])
def test_it_is_told_from_other_formats(head: bytes) -> None:
    assert [known.name for known in formats.FORMATS if known.sniff(head)] == ["awdit"]


@pytest.mark.parametrize("head", [b"w 1", b"w(1,2,3,4)", b"write 1 2", b"w 1 2 3", b"---\n[x:=1]", b"r x 1"])
def test_other_text_is_not_taken_for_it(head: bytes) -> None:
    assert not formats.find("awdit").sniff(head)
