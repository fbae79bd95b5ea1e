"""dbcop's YAML: what each line means, and what a mistake is told as."""

# ruff: noqa: E501 - messages stand as they are printed

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from isoscope import formats
from isoscope.errors import FormatError, UsageError
from isoscope.history import Initial, OperationKind, Status
from tests.formats.binary import BINCODE
from tests.formats.forms import ALL_FORMS

if TYPE_CHECKING:
    from pathlib import Path

FORM = ALL_FORMS["dbcop-yaml"]
EVENT = "{write: true, variable: 1, value: 2, success: true}"
SUBSET = "\n\nhint: of YAML, this reader takes what dbcop writes: lists, maps, numbers and booleans"
NAMES = "`events`, `success`, `write`, `variable` or `value` as the name of a field"
ANYTHING = "a list, a map, a whole number, `true` or `false`"
CUT = "found the end of the input\n\nhint: the file is cut short: later events may be missing"

MISTAKES = {
    "an anchor": (
        "- &a []\n",
        f"1:3: expected {ANYTHING}, found `&a []`\n    1 | - &a []\n      |   ^\n\n"
        "hint: anchors and aliases are not read: write the list out",
    ),
    "an alias": (
        "- *a\n",
        f"1:3: expected {ANYTHING}, found `*a`\n    1 | - *a\n      |   ^\n\n"
        "hint: anchors and aliases are not read: write the list out",
    ),
    "a tag": (
        "- !x []\n",
        f"1:3: expected {ANYTHING}, found `!x []`\n    1 | - !x []\n      |   ^\n\n"
        "hint: tags are not read: leave them out",
    ),
    "a tab": (
        "-\n\t- []\n",
        f"2:1: expected {ANYTHING}, found ` - []`\n    2 |  - []\n      | ^\n\n"
        "hint: YAML is indented by spaces, never by tabs",
    ),
    "a negative value": (
        "- - events: [{value: -1}]",
        f"1:22: expected {ANYTHING}, found `-1}}]`\n    1 | - - events: [{{value: -1}}]\n"
        "      |                      ^\n\nhint: variables and values are whole numbers from 0 to 2^64 - 1",
    ),
    "more than 64 bits": (
        "- - events: [{value: 18446744073709551616}]",
        "1:22: expected a whole number from 0 to 2^64 - 1, found `18446744073709551616}]`\n"
        "    1 | - - events: [{value: 18446744073709551616}]\n      |                      ^",
    ),
    "an octal number": (
        "- - events: [{value: 010}]",
        "1:22: expected a whole number from 0 to 2^64 - 1, found `010}]`\n"
        "    1 | - - events: [{value: 010}]\n      |                      ^",
    ),
    "a word": (
        "- maybe\n",
        f"1:3: expected {ANYTHING}, found `maybe`\n    1 | - maybe\n      |   ^{SUBSET}",
    ),
    "another field": (
        "- - what: 1\n",
        f"1:5: expected {NAMES}, found `what: 1`\n    1 | - - what: 1\n      |     ^{SUBSET}",
    ),
    "another field in quotes": (
        '- - "what": 1\n',
        f'1:5: expected {NAMES}, found `"what": 1`\n    1 | - - "what": 1\n      |     ^{SUBSET}',
    ),
    "a quote that does not end": (
        '- - "events\n',
        f'1:5: expected {NAMES}, found `"events`\n    1 | - - "events\n      |     ^{SUBSET}',
    ),
    "a quoted name without a colon": (
        '- - "events" []\n',
        '1:5: expected `:` after the name of a field, found `"events" []`\n'
        '    1 | - - "events" []\n      |     ^',
    ),
    "no space after a colon": (
        "- - success:true\n",
        "1:5: expected a space after the `:` of a name, found `success:true`\n"
        "    1 | - - success:true\n      |     ^",
    ),
    "a map of sessions": ("success: true\n", "1:1: expected a list of sessions, found `success:`"),
    "an event as a session": (f"- {EVENT}\n", "1:3: expected a list of transactions, found `{`"),
    "a list as a transaction": ("- - []\n", "1:5: expected a transaction, found `[`"),
    "a session that is nothing": ("-\n-\n", "2:1: expected a list of transactions, found `-`"),
    "a transaction that is a list of lists": ("- - - success: true\n", "1:5: expected a transaction, found `-`"),
    "no events": ("- - success: true\n", "1: expected `events` in a transaction, found none"),
    "no success": ("- - events: []\n", "1: expected `success` in a transaction, found none"),
    "events that are nothing": ("- - events:\n    success: true\n", "2:5: expected a list of events, found `success:`"),
    "a field of an event in a transaction": (
        "- - write: true\n",
        "1:5: expected `events` or `success` of a transaction, on a line of its own, found `write:`",
    ),
    "a field twice": ("- - success: true\n    success: true\n", "2:5: expected each field once, found `success:` again"),
    "a number where a boolean stands": (
        "- - success: 1\n",
        "1:14: expected `true` or `false` as the `success`, found `1`",
    ),
    "a boolean where a number stands": (
        "- - events: [{value: true}]\n",
        "1:22: expected a whole number as the `value`, found `true`",
    ),
    "two fields on a line": (
        "- - events: [] success: true\n",
        "1:16: expected `events` or `success` of a transaction, on a line of its own, found `success:`",
    ),
    "an indentation of no open list": (
        "- - events: []\n   success: true\n",
        "2:4: expected an indentation of 0 or 2 or 4 spaces, found `success:` after 3 spaces",
    ),
    "a comma in block style": ("- - events: [],\n", "1:15: expected `events` or `success` of a transaction, on a line of its own, found `,`"),
    "no comma": ("[[] []]", "1:5: expected `,` or `]`, found `[`"),
    "two commas": ("[[],,[]]", "1:5: expected a list of transactions, found `,`"),
    "another bracket": ("[[}", "1:3: expected a transaction, found `}`"),
    "a dash in flow style": ("[\n- []\n]", "2:1: expected a list of transactions, found `-`"),
    "two documents": ("---\n- []\n---\n", "3:1: expected `-` and a list of transactions, found `---`\n\nhint: a file holds one document"),
    "more behind the end": ("[]\n- []\n", "2:1: expected the end of the file, found `-`"),
    "more behind the dots": ("- []\n...\n- []\n", "3:1: expected the end of the file, found `-`"),
    "an event without its value": (
        "- - events: [{write: true, variable: 1, success: true}]\n    success: true\n",
        "1: expected `value` in an event, found none",
    ),
    "the end inside a list": ("- - events: [\n", f"1: expected `]`, {CUT}"),
    "the end inside an event": ("- - events: [{write: true\n", f"1: expected `}}`, {CUT}"),
    "the end after a dash": ("- - events: []\n    success: true\n-\n", f"3: expected a list of transactions, {CUT}"),
    "the end after a name": ("- - success:\n", f"1: expected a value of `success`, {CUT}"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "message"), MISTAKES.values(), ids=MISTAKES.keys())
def test_a_mistake_is_told_with_its_place(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "history.yaml"
    path.write_text(text)
    with pytest.raises(FormatError) as caught:
        formats.load(path, format="dbcop-yaml")
    assert str(caught.value) == f"{path}:{message}"


def test_a_history_in_block_style_is_read() -> None:
    history = FORM.read(FORM.sample)
    assert [(session.id, len(session.transactions)) for session in history.sessions] == [(0, 2)]
    assert [transaction.status for transaction in history] == [Status.COMMITTED, Status.ABORTED]
    assert [(o.kind, o.key, o.value, o.line) for o in history[0].operations] == [
        (OperationKind.WRITE, 5, 1, 3),
        (OperationKind.READ, 2**64 - 1, 0, 7),
    ]
    assert history.initial == Initial(value=0, replaceable=True)


LIKE_BINCODE = f"""
- - events: [{{write: true, variable: 1, value: 5, success: true}},
             {{write: false, variable: {2**64 - 1}, value: 0, success: true}}]
    success: true
  - {{events: [], success: true}}
- []
- - success: false
    events:
    - write: false
      variable: 1
      value: 5
      success: true
    - {{"write": true, 'variable': 3, "value": 6, "success":false}}
    - {{success: False, value: 6, variable: 3, write: FALSE}}
"""


def test_yaml_and_bincode_of_one_history_are_equal() -> None:
    history = FORM.read(LIKE_BINCODE.encode())
    assert history == ALL_FORMS["dbcop-bincode"].read(BINCODE)
    assert history.notes == {
        "failed reads dropped": 1,
        "failed writes kept as aborted transactions": 1,
        "sessions without a transaction left out": 1,
    }


STYLES = [
    f"- - events: [{EVENT}]\n    success: true\n",
    f"[[{{events: [{EVENT}], success: true}}]]",
    f"[[{{events: [{EVENT},], success: true,}},],]",
    '[[{"events":[{"write":true,"variable":1,"value":2,"success":true}],"success":true}]]',
    "-\n  -\n    events:\n      -\n        write: true\n        variable: 1\n"
    "        value: 2\n        success: true\n    success: true\n",
    "# a comment\n---\n\n- - events: # here too\n    - write: true\r\n      variable: 1\n"
    "      value: 2\n      success: true\n    success: true\n...\n",
    "    - - events:\n         - write:\n            true\n           variable: 1\n"
    "           value: 2\n           success: TRUE\n        success: True\n",
]


@pytest.mark.parametrize("text", STYLES)
def test_the_style_does_not_matter(text: str, tmp_path: Path) -> None:
    path = tmp_path / "history"
    path.write_text(text)
    history = formats.load(path)
    assert history.source.format == "dbcop-yaml"
    assert history == FORM.read(STYLES[0].encode())


def test_two_files_are_two_histories(tmp_path: Path) -> None:
    for name in ("a.yaml", "b.yaml"):
        (tmp_path / name).write_bytes(FORM.sample)
    with pytest.raises(UsageError, match="one file is one dbcop-yaml history"):
        formats.load(tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        '[[{"events":[{"Write":{"variable":0,"version":1}}],"committed":true}]]',
        "- name: test\n  success: true\n",
        "- - events: []\n    success: true\n",
    ],
)
def test_similar_content_is_not_recognised(text: str) -> None:
    assert not formats.find("dbcop-yaml").sniff(text.encode())
