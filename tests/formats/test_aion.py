"""CHRONOS and AION histories: fields, and what a mistake is told as."""

# ruff: noqa: E501 - messages stand as they are printed

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from isoscope import formats
from isoscope.errors import FormatError
from isoscope.history import UNKNOWN, Status, Timestamp
from tests.formats.forms import FORMS

if TYPE_CHECKING:
    from pathlib import Path

MISTAKES = {
    "no id": (
        '[{"sid":1,"ops":[]}]',
        (
            'PATH:1:2: expected a transaction with a `tid`, found `{"sid":1,"ops":[]}]`\n'
            '    1 | [{"sid":1,"ops":[]}]\n'
            "      |  ^"
        ),
    ),
    "no operations": (
        '[{"tid":1,"sid":1}]',
        (
            'PATH:1:2: expected a transaction with `ops`, found `{"tid":1,"sid":1}]`\n'
            '    1 | [{"tid":1,"sid":1}]\n'
            "      |  ^"
        ),
    ),
    "a repeated id": (
        (
            '[{"tid":1,"sid":1,"ops":[{"t":"w","k":1,"v":1}]},\n'
            '{"tid":1,"sid":1,"ops":[{"t":"w","k":1,"v":1}]}]'
        ),
        (
            "PATH:2: expected a `tid` of its own for each transaction, found 1, the transaction of line 1\n"
            "\n"
            "hint: does the input hold the same history twice?"
        ),
    ),
    "an open array": (
        '[{"tid":1,"sid":1,"ops":[{"t":"w","k":1,"v":1}]}',
        (
            "PATH:1: expected `]` for the `[` of line 1, found the end of the input\n"
            "\n"
            "hint: the file is cut short: later transactions may be missing"
        ),
    ),
    "another kind": (
        '[{"tid":1,"ops":[{"t":"x","k":1,"v":1}]}]',
        (
            'PATH:1:23: expected `r`, `w` or `a` as the kind of operation, found `"x","k":1,"v":1}]}]`\n'
            '    1 | [{"tid":1,"ops":[{"t":"x","k":1,"v":1}]}]\n'
            "      |                       ^"
        ),
    ),
    "a write without a value": (
        '[{"tid":1,"ops":[{"t":"w","k":1}]}]',
        (
            'PATH:1:18: expected a write or append with a value `v`, found `{"t":"w","k":1}]}]`\n'
            '    1 | [{"tid":1,"ops":[{"t":"w","k":1}]}]\n'
            "      |                  ^"
        ),
    ),
    "a fractional id": (
        '[{"tid":1.5,"ops":[]}]',
        (
            'PATH:1:9: expected an integer or a string as the id, found `1.5,"ops":[]}]`\n'
            '    1 | [{"tid":1.5,"ops":[]}]\n'
            "      |         ^"
        ),
    ),
    "a timestamp in words": (
        '[{"tid":1,"sts":"now","ops":[]}]',
        (
            'PATH:1:17: expected a timestamp: an integer of at most 64 bits, or such an integer in a string, found `"now","ops":[]}]`\n'
            '    1 | [{"tid":1,"sts":"now","ops":[]}]\n'
            "      |                 ^"
        ),
    ),
    "a repeated field": (
        '[{"tid":1,"tid":2,"ops":[]}]',
        (
            'PATH:1:17: expected each field only once, found `2,"ops":[]}]`\n'
            '    1 | [{"tid":1,"tid":2,"ops":[]}]\n'
            "      |                 ^"
        ),
    ),
    "another status": (
        '[{"tid":1,"status":"lost","ops":[]}]',
        (
            'PATH:1:20: expected `committed`, `aborted` or `indeterminate` as the status, found `"lost","ops":[]}]`\n'
            '    1 | [{"tid":1,"status":"lost","ops":[]}]\n'
            "      |                    ^"
        ),
    ),
    "a missing place": (
        ('[{"tid":1,"sid":1,"sno":1,"ops":[]},\n{"tid":2,"sid":1,"ops":[]}]'),
        "PATH:2: expected a sequence number, as other transactions of its session have, found none",
    ),
    "a repeated place": (
        ('[{"tid":1,"sid":1,"sno":1,"ops":[]},\n{"tid":2,"sid":1,"sno":1,"ops":[]}]'),
        "PATH:2: expected sequence numbers that differ inside a session, found 1 again",
    ),
    "an array that is written": (
        '[{"tid":1,"ops":[{"t":"w","k":1,"v":[1]}]}]',
        (
            "PATH:1:37: expected one value to write or append, not an array, found `[1]}]}]`\n"
            '    1 | [{"tid":1,"ops":[{"t":"w","k":1,"v":[1]}]}]\n'
            "      |                                     ^"
        ),
    ),
    "more than a double": (
        '[{"tid":1,"ops":[{"t":"w","k":1,"v":1e999}]}]',
        (
            "PATH:1:37: expected a number within the range of a double, found `1e999}]}]`\n"
            '    1 | [{"tid":1,"ops":[{"t":"w","k":1,"v":1e999}]}]\n'
            "      |                                     ^"
        ),
    ),
    "more behind the array": (
        '[{"tid":1,"ops":[]}] {}',
        (
            "PATH:1:22: expected nothing after the closing `]`, found `{}`\n"
            '    1 | [{"tid":1,"ops":[]}] {}\n'
            "      |                      ^"
        ),
    ),
    "a raw line end in a string": (
        ('[{"tid":1,"ops":[{"t":"w","k":1,"v":"a\nb"}]}]'),
        (
            'PATH:1:39: expected a closing `"` on the same line, found the end of the line\n'
            '    1 | [{"tid":1,"ops":[{"t":"w","k":1,"v":"a\n'
            "      |                                       ^\n"
            "\n"
            "hint: control characters inside a string are written as escapes such as `\\n`"
        ),
    ),
}


@pytest.mark.parametrize(("text", "message"), MISTAKES.values(), ids=MISTAKES.keys())
def test_a_mistake_is_told_with_its_place(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "history.json"
    path.write_bytes(text.encode())
    with pytest.raises(FormatError) as caught:
        formats.load(path, format="aion")
    assert str(caught.value) == message.replace("PATH", str(path), 1)


SPELLINGS = [
    b'{"tid":1,"sts":5,"ops":[{"t":"WRITE","k":1,"v":2}]}',
    b'[{"ops":[{"v":2,"k":1,"t":"write"}],"sts":"5","x":[{}],"tid":1}]',
    b'\n{ "tid" : 1 , "sts" : { "l" : 0 , "p" : "5" } , "cts":null, "ops" : [ {"k":1,"t":"w","v":2} ] }\n',
    b'{"tid":1,"sid":null,"status":"committed","sts":{"p":5},"ops":[{"t":"w","k":1,"v":2}]},',
]


@pytest.mark.parametrize("text", SPELLINGS)
def test_fields_may_be_spelt_in_several_ways(text: bytes) -> None:
    assert FORMS["aion"].read(text) == FORMS["aion"].read(SPELLINGS[0])


def test_a_transaction_has_all_that_its_fields_say() -> None:
    history = FORMS["aion"].read(FORMS["aion"].sample)
    first, second = history
    assert (first.start, first.commit, first.sequence) == (Timestamp(5, 1), Timestamp(7, 0), 2)
    assert (first.session_id, second.session_id) == ("s", None)
    assert second.status is Status.ABORTED
    assert second.operations[0].value == (1, "\n")
    assert history.initial.value is UNKNOWN


def test_the_suffix_decides_between_an_array_and_lines(tmp_path: Path) -> None:
    history = FORMS["aion"].read(SPELLINGS[0])
    formats.save(history, tmp_path / "a.json")
    formats.save(history, tmp_path / "a.jsonl.gz")
    assert (tmp_path / "a.json").read_bytes().startswith(b"[\n{")
    assert formats.load(tmp_path / "a.jsonl.gz") == history
