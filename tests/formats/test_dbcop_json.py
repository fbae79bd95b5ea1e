"""dbcop's JSON: what each field means, and what a mistake is told as."""

# ruff: noqa: E501 - messages stand as they are printed

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from isoscope import formats
from isoscope.errors import FormatError
from isoscope.history import Initial, OperationKind, Status
from tests.formats.forms import FORMS

if TYPE_CHECKING:
    from pathlib import Path

FORM = FORMS["dbcop-json"]


def event(text: str) -> bytes:
    """A history of one transaction of one event."""
    return f'[[{{"events":[{text}],"committed":true}}]]'.encode()


MISTAKES = {
    "no events": (b'[[{"committed":true}]]', "PATH:1:3: expected a transaction with `events`, found "),
    "no word on the commit": (
        b'[[{"events":[]}]]',
        "PATH:1:3: expected a transaction with `committed`, found ",
    ),
    "a commit that is no boolean": (
        b'[[{"events":[],"committed":1}]]',
        "PATH:1:28: expected `true` or `false`, found `1}]]`",
    ),
    "a field twice": (
        b'[[{"events":[],"committed":true,"committed":true}]]',
        "PATH:1:45: expected each field only once, found `true}]]`",
    ),
    "another kind": (
        event('{"Delete":{}}'),
        "PATH:1:14: expected `Read` or `Write` as the kind of event, found ",
    ),
    "another letter": (event('["a",0,1]'), 'PATH:1:15: expected `"r"` or `"w"` as the kind of event, found '),
    "two kinds": (
        event('{"Read":{"variable":0},"Write":{"variable":0,"version":1}}'),
        "PATH:1:36: expected one `Read` or `Write` in each event, found ",
    ),
    "two parts": (
        event('["w",0]'),
        'PATH:1:20: expected an event of three parts such as `["w",0,1]`, found ',
    ),
    "no variable": (
        event('{"Read":{"version":0}}'),
        "PATH:1:22: expected an event with a `variable`, found ",
    ),
    "a variable that is no integer": (
        event('["r","x",0]'),
        "PATH:1:19: expected a variable: an integer from 0 to 2^64 - 1, found ",
    ),
    "no version": (event('{"Write":{"variable":0}}'), "PATH:1:23: expected a write with a `version`, found "),
    "a write of null": (
        event('["w",0,null]'),
        "PATH:1:21: expected the version that was written: an integer from 0 to 2^64 - 1, found ",
    ),
    "a negative version": (
        event('["r",0,-1]'),
        "PATH:1:21: expected a version: an integer from 0 to 2^64 - 1, found ",
    ),
    "more than 64 bits": (
        event('["r",0,18446744073709551616]'),
        "PATH:1:21: expected a version: an integer from 0 to 2^64 - 1, found ",
    ),
    "data twice": (b'{"data":[],\n"data":[]}', "PATH:2: expected each field only once, found `data` again"),
    "no data": (b'{"info":""}', "PATH:1: expected an object with `data`, found its end"),
    "no sessions": (
        b'[{"events":[],"committed":true}]',
        "PATH:1: expected a session in `[]`, found a transaction",
    ),
    "two histories": (b"[]\n[]", "PATH:2: expected nothing after the history, found `[`"),
    "a file that is cut short": (
        b'{"data":[[\n',
        'PATH:1: expected a transaction such as `{"events":[...],"committed":true}`, or the brackets that close'
        " the file, found the end of the input\n\n"
        "hint: the file is cut short: later transactions may be missing",
    ),
}


@pytest.mark.parametrize(("content", "message"), MISTAKES.values(), ids=MISTAKES.keys())
def test_a_mistake_is_told_with_its_place(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "history"
    path.write_bytes(content)
    with pytest.raises(FormatError) as caught:
        formats.load(path, format="dbcop-json")
    assert str(caught.value).startswith(message.replace("PATH", str(path), 1))


def test_both_spellings_of_an_event_mean_the_same() -> None:
    long = FORM.read(event('{"Write":{"variable":3,"version":4}},{"Read":{"variable":3,"version":null}}'))
    assert FORM.read(event('["w",3,4],["r",3,null]')) == long
    assert [(operation.kind, operation.key, operation.value) for operation in long[1].operations] == [
        (OperationKind.WRITE, 3, 4),
        (OperationKind.READ, 3, 0),
    ]


def test_the_fields_of_the_object_come_in_any_order_and_unknown_ones_are_skipped() -> None:
    data = '[[{"committed":false,"x":[{}],"events":[["w",1,2]]}]]'
    bare = FORM.read(data.encode())
    assert bare[1].status is Status.ABORTED
    params = '"params":{"id":1,"n_node":2}'
    for text in (
        f'{{"data":{data},{params}}}',
        f'{{"more":{{"data":1}},{params},"data":{data},"end":"]","start":12}}',
    ):
        assert FORM.read(text.encode()) == bare


def test_transactions_and_sessions_are_numbered_by_their_place() -> None:
    one = '{"events":[],"committed":true}'
    history = FORM.read(f"[[],[{one},{one}],[{one}],[]]".encode())
    assert [(session.id, session.transactions) for session in history.sessions] == [(1, (0, 1)), (2, (2,))]
    assert history.notes == {"sessions without a transaction left out": 2}


def test_where_zero_is_written_null_is_nil() -> None:
    history = FORM.read(event('["w",1,0],["r",1,null],["r",2,null]'))
    assert history.initial == Initial(value=0, of_key={1: None}, replaceable=True)
    assert [operation.value for operation in history[1].operations] == [0, None, 0]


def test_the_file_has_every_field_that_dbcop_wants_and_no_clock() -> None:
    history = FORM.read(
        b'[[{"events":[["w",7,1],["r",8,null]],"committed":true},{"events":[],"committed":false}],'
        b'[{"events":[["r",7,1]],"committed":true}]]'
    )
    assert json.loads(FORM.write(history)) == {
        "params": {"id": 0, "n_node": 2, "n_variable": 2, "n_transaction": 2, "n_event": 2},
        "info": "written by isoscope",
        "start": "1970-01-01T00:00:00+00:00",
        "end": "1970-01-01T00:00:00+00:00",
        "data": [
            [
                {
                    "events": [
                        {"Write": {"variable": 7, "version": 1}},
                        {"Read": {"variable": 8, "version": 0}},
                    ],
                    "committed": True,
                },
                {"events": [], "committed": False},
            ],
            [{"events": [{"Read": {"variable": 7, "version": 1}}], "committed": True}],
        ],
    }


@pytest.mark.parametrize(
    "head",
    [
        b'{"params":{"id":0}',
        b' {\n "data" : [',
        b'[[{"events":[',
        b'[ [], [],\n[{"committed"  :true',
    ],
)
def test_it_is_told_from_other_formats(head: bytes) -> None:
    assert [known.name for known in formats.FORMATS if known.sniff(head)] == ["dbcop-json"]


@pytest.mark.parametrize(
    "head", [b"[]", b"[[1]]", b'{"tid":1}', b'[{"type":"ok"}]', b'{"value":[["r",1,2]]}']
)
def test_other_json_is_not_taken_for_it(head: bytes) -> None:
    assert not formats.find("dbcop-json").sniff(head)
