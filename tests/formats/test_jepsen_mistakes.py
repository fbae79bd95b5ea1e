"""Mistakes in Jepsen histories: each message with its place."""

# ruff: noqa: E501 - messages stand as they are printed

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from isoscope import formats
from isoscope.errors import FormatError

if TYPE_CHECKING:
    from pathlib import Path

WORKLOADS = (
    "list-append, rw-register, closed-predicate and long fork are read; bank transfers only as reads and writes of "
    "accounts; sets, counters, queues, mutexes and compare-and-set registers are no isolation histories: use "
    "Jepsen's own checkers"
)

MISTAKES = {
    "a map that is cut short": (
        "{:type :ok, :process 0, :value [[:append 1 2]]",
        (
            "PATH:1:47: expected a closing bracket or quote, or more of what begins before, found the end of the input\n"
            "    1 | {:type :ok, :process 0, :value [[:append 1 2]]\n"
            "      |                                               ^\n"
            "\n"
            "hint: the text is cut short, or a closing bracket or quote is missing"
        ),
    ),
    "one bracket too many": (
        "{:type :ok, :process 0, :value [[:append 1 2]]}}",
        (
            "PATH:1:48: expected an operation such as `{:type :ok, :process 0, :value [[:append 1 2]]}`, found `}`\n"
            "    1 | {:type :ok, :process 0, :value [[:append 1 2]]}}\n"
            "      |                                                ^\n"
            "\n"
            "hint: is this another format? Name it with --format"
        ),
    ),
    "another workload": (
        "{:type :ok, :process 0, :value [[:cas 1 2]]}",
        (
            "PATH:1:34: expected a micro-operation that is `:r`, `:w`, `:append`, `:insert`, `:delete` or `:rp`, found `:cas 1 2]]}`\n"
            "    1 | {:type :ok, :process 0, :value [[:cas 1 2]]}\n"
            "      |                                  ^\n"
            "\n"
            f"hint: {WORKLOADS}"
        ),
    ),
    "another predicate": (
        "{:type :ok, :process 0, :value [[:rp [:< 2] {:x 1}]]}",
        (
            "PATH:1:38: expected a predicate that is `:true`, `[:= integer]` or `[:mod positive-integer integer]`, found `[:< 2] {:x 1}]]}`\n"
            "    1 | {:type :ok, :process 0, :value [[:rp [:< 2] {:x 1}]]}\n"
            "      |                                      ^"
        ),
    ),
    "rows that are no map": (
        "{:type :ok, :process 0, :value [[:rp :true [:x 1]]]}",
        (
            "PATH:1:44: expected a map of the rows that were seen, such as `{:x 0}`, found `[:x 1]]]}`\n"
            "    1 | {:type :ok, :process 0, :value [[:rp :true [:x 1]]]}\n"
            "      |                                            ^"
        ),
    ),
    "a row without a value": (
        "{:type :ok, :process 0, :value [[:rp :true {:x}]]}",
        (
            "PATH:1:47: expected a value for every key, found `}]]}`\n"
            "    1 | {:type :ok, :process 0, :value [[:rp :true {:x}]]}\n"
            "      |                                               ^"
        ),
    ),
    "a first transaction without a map": (
        "{:type :ok, :process 0, :value [[:w 1 2]], :f :init}",
        (
            "PATH:1:32: expected a map of keys and values that were inserted, such as `{:x 0}`, found `[[:w 1 2]], :f :init}`\n"
            "    1 | {:type :ok, :process 0, :value [[:w 1 2]], :f :init}\n"
            "      |                                ^"
        ),
    ),
    "a delete with a value": (
        "{:type :ok, :process 0, :value [[:delete 1 2]]}",
        (
            "PATH:1:44: expected nothing behind the key of what was deleted, found `2]]}`\n"
            "    1 | {:type :ok, :process 0, :value [[:delete 1 2]]}\n"
            "      |                                            ^"
        ),
    ),
    "no micro-operations": (
        "{:type :ok, :process 0, :value 5}",
        (
            "PATH:1:32: expected a vector of micro-operations such as `[[:r 1 nil] [:append 1 2]]`, found `5}`\n"
            "    1 | {:type :ok, :process 0, :value 5}\n"
            "      |                                ^\n"
            "\n"
            f"hint: {WORKLOADS}"
        ),
    ),
    "another type": (
        "{:type :okay, :process 0, :value [[:r 1 nil]]}",
        (
            "PATH:1:1: expected a type: invoke, ok, fail or info, found `{:type :okay, :process 0`\n"
            "    1 | {:type :okay, :process 0, :value [[:r 1 nil]]}\n"
            "      | ^"
        ),
    ),
    "two invocations of a process": (
        (
            "{:type :invoke, :process 0, :value [[:r 1 nil]]}\n"
            "{:type :invoke, :process 0, :value [[:r 1 nil]]}\n"
        ),
        (
            "PATH:2: expected the completion of the invocation on line 1 of this process, found another invocation\n"
            "\n"
            "hint: a process is a session and runs one transaction at a time: give concurrent ones processes of their own, or take :process out of all events to check without sessions and real time"
        ),
    ),
    "a write without a value": (
        "{:type :ok, :process 0, :value [[:w 1]]}",
        (
            "PATH:1:38: expected a value behind the key, found `]]}`\n"
            "    1 | {:type :ok, :process 0, :value [[:w 1]]}\n"
            "      |                                      ^"
        ),
    ),
    "a micro-operation of four": (
        "{:type :ok, :process 0, :value [[:w 1 2 3]]}",
        (
            "PATH:1:41: expected `]` behind kind, key and value, found `3]]}`\n"
            "    1 | {:type :ok, :process 0, :value [[:w 1 2 3]]}\n"
            "      |                                         ^"
        ),
    ),
    "a leading zero": (
        "{:type :ok, :process 0, :value [[:w 1 08]]}",
        (
            "PATH:1:39: expected a number without leading zeros, found `08]]}`\n"
            "    1 | {:type :ok, :process 0, :value [[:w 1 08]]}\n"
            "      |                                       ^"
        ),
    ),
    "a repeated key": (
        "{:type :ok, :type :ok, :process 0, :value []}",
        (
            "PATH:1:13: expected each key of the map once, found `:type :ok, :process 0, :`\n"
            "    1 | {:type :ok, :type :ok, :process 0, :value []}\n"
            "      |             ^"
        ),
    ),
    "an open vector": (
        "[{:type :ok, :process 0, :value [[:w 1 8]]}\n",
        (
            "PATH:1: expected `]` for the `[` of line 1, found the end of the file\n"
            "\n"
            "hint: the file is cut short: operations may be missing"
        ),
    ),
    "an unknown escape": (
        '{:type :ok, :process 0, :value [[:w 1 "a\\q"]]}',
        (
            'PATH:1:41: expected an escape such as `\\n`, `\\"` or `\\u00e9`, found `\\q"]]}`\n'
            '    1 | {:type :ok, :process 0, :value [[:w 1 "a\\q"]]}\n'
            "      |                                         ^"
        ),
    ),
    "a map without a value": (
        "{:type :ok, :process 0, :value [[:w {1} 2]]}",
        (
            "PATH:1:37: expected a map with a value for every key, found `{1} 2]]}`\n"
            "    1 | {:type :ok, :process 0, :value [[:w {1} 2]]}\n"
            "      |                                     ^"
        ),
    ),
    "a repeated id": (
        (
            "{:type :ok, :process 0, :transaction 7, :value []}\n"
            "{:type :ok, :process 0, :transaction 7, :value []}\n"
        ),
        (
            "PATH:2: expected a transaction id of its own, found `7` again\n"
            "\n"
            "hint: `:transaction` must differ from the position of every other completion, too"
        ),
    ),
    "brackets that do not match": (
        "{:type :ok :value [[:r 1 [1 2}]]}",
        (
            "PATH:1:30: expected a form or `]`, found `}]]}`\n"
            "    1 | {:type :ok :value [[:r 1 [1 2}]]}\n"
            "      |                              ^"
        ),
    ),
}

JSON_MISTAKES = {
    "an open array": (
        '[{"type":"ok","process":0,"value":[["append",1,2]]}',
        (
            "PATH:1: expected `]` for the `[` of line 1, found the end of the file\n"
            "\n"
            "hint: the file is cut short: operations may be missing"
        ),
    ),
    "another workload": (
        '{"type":"ok","process":0,"value":[["cas",1,2]]}',
        (
            'PATH:1:36: expected a micro-operation that is `r`, `w`, `append`, `insert`, `delete` or `rp`, found `"cas",1,2]]}`\n'
            '    1 | {"type":"ok","process":0,"value":[["cas",1,2]]}\n'
            "      |                                    ^\n"
            "\n"
            f"hint: {WORKLOADS}"
        ),
    ),
    "no micro-operations": (
        '{"type":"ok","process":0,"value":5}',
        (
            'PATH:1:34: expected an array of micro-operations such as `[["r",1,null],["append",1,2]]`, found `5}`\n'
            '    1 | {"type":"ok","process":0,"value":5}\n'
            "      |                                  ^\n"
            "\n"
            f"hint: {WORKLOADS}"
        ),
    ),
    "an array that is written": (
        '{"type":"ok","process":0,"value":[["w",1,[2]]]}',
        (
            "PATH:1:42: expected a string, a number, a boolean or null, found `[2]]]}`\n"
            '    1 | {"type":"ok","process":0,"value":[["w",1,[2]]]}\n'
            "      |                                          ^"
        ),
    ),
    "not a number": (
        '{"type":"ok","process":0,"value":[["w",1,NaN]]}',
        (
            "PATH:1:42: expected a JSON value, found `NaN]]}`\n"
            '    1 | {"type":"ok","process":0,"value":[["w",1,NaN]]}\n'
            "      |                                          ^"
        ),
    ),
    "a trailing comma": (
        '{"type":"ok","process":0,"value":[["w",1,2]],}',
        (
            "PATH:1:46: expected another member after `,`, found `}`\n"
            '    1 | {"type":"ok","process":0,"value":[["w",1,2]],}\n'
            "      |                                              ^"
        ),
    ),
    "a repeated field": (
        '{"type":"ok","type":"ok","process":0,"value":[]}',
        (
            'PATH:1:21: expected each field only once, found `"ok","process":0,"value"`\n'
            '    1 | {"type":"ok","type":"ok","process":0,"value":[]}\n'
            "      |                     ^"
        ),
    ),
}


@pytest.mark.parametrize(("text", "message"), MISTAKES.values(), ids=MISTAKES.keys())
def test_a_mistake_is_told_with_its_place(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "history.edn"
    path.write_bytes(text.encode())
    with pytest.raises(FormatError) as caught:
        formats.load(path, format="jepsen")
    assert str(caught.value) == message.replace("PATH", str(path), 1)


@pytest.mark.parametrize(("text", "message"), JSON_MISTAKES.values(), ids=JSON_MISTAKES.keys())
def test_a_mistake_in_json_is_told_with_its_place(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "history.json"
    path.write_bytes(text.encode())
    with pytest.raises(FormatError) as caught:
        formats.load(path, format="jepsen")
    assert str(caught.value) == message.replace("PATH", str(path), 1)
