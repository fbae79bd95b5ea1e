"""Every form in which a history can be written, and how to read and write it without a disk."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from isoscope import formats
from isoscope.formats.source import File, Input
from tests import strategies
from tests.formats import binary, histories_without_ids, traces

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from isoscope.history import History

PLUME = b"w(1,5,0,7)\nw(9,1,3,-1)\nr(1,5,2,8)\nr(18446744073709551615,-4,2,9)\n"
EDN = b"""{:type :invoke, :f :txn, :value [[:r "k" nil] [:append 1 2]], :process 0, :index 0, :time 5}
#jepsen.history.Op{:index 1, :process 1, :type :info, :value [[:w :x 1.5] [:r {:a #{1}} [1 2]]]} ; lost
{:type :ok, :f :txn, :value [[:r "k" [1 "\\u00e9"]] [:append 1 2]], :process 0, :index 2, :time 9}
"""
EVENTS = b"""[{"type":"invoke","f":"txn","value":[["r","k",null],["append",1,2]],"process":0,"index":0},
{"type":"ok","value":[["r","k",[1,"\\u00e9",-2.5e3]],["append",1,2]],"process":0,"index":2,"x":{"y":[true]}}]
"""
AION = b"""[{"tid":1,"sid":"s","sno":2,"sts":{"p":5,"l":1},"cts":7,"ops":[{"t":"w","k":"x","v":1.5}]},
{"tid":"two","status":"aborted","ops":[{"t":"r","k":3,"v":[1,"\\n"]},{"t":"append","k":3,"v":null}],"x":{}}]
"""
LINES = AION.decode().strip("[]\n").replace("},\n", "}\n").encode() + b"\n"
DBCOP_HIST = "// first\n[x:=1 7:=2] [7==2 x:=0]!\n[x==? y==?]\n---\n[größe:=5]\n".encode()
DBCOP_JSON = b"""{"params":{"id":0},"info":"","data":[
[{"events":[{"Write":{"variable":0,"version":5}},{"Read":{"variable":1,"version":null}}],"committed":true},
{"events":[["w",1,0],["r",0,5]],"committed":false}],
[{"committed":true,"events":[],"x":{}}]],"end":"2025-01-01T00:00:00Z"}
"""
AWDIT = b"""w 0 0
w 1 0
=====
w 0 5
-----
r 0 5
r 1 0
"""
TRACES = rb"""{"threadID":"0-0","transactionID":"0-0,0","operationID":"0-0,0,0","operationTraceType":"START"}
{"threadID":"1","transactionID":7,"operationTraceType":"SELECT","startTimestamp":5,"finishTimestamp":"9",
"predicateLock":"a > 1.5","readMode":"CONSISTENT_READ","readTupleList":[{"table":"t","primaryKey":"0",
"valueMap":{"v":null,"w":"\u00e9"}},{"primaryKey":-2.5e3,"valueMap":{"value":true}}],"sql":{"x":[]}}
{"threadID":"0-0","transactionID":"0-0,0","operationTraceType":"delete","operationID":"0-0,0,1",
"writeTupleList":[{"table":"t","primaryKey":"0","valueMap":{}}],"traceLockMode":"EXCLUSIVE_LOCK","statement":null}
{"threadID":"0-0","transactionID":"0-0,0","operationTraceType":"COMMIT","operationID":"0-0,0,2","finishTimestamp":5}
"""
SESSION = rb"""{"value":[["range","nil","nil",[{"id":1,"sk":1,"val":5}],[{"id":2,"val":8}]]],"isInitial":true}
{"value":[["r",1,7,false],["w",1,5,true],["w",2,6,false],["i","k",1.5,null,true,true,true,"w"]],"preBeginTS":5}
{"value":[["d",1,4,5,false,true],{"opType":"r","key":1,"value":7,"isDead":true},["append",3,1],["r",3,[1,2]]]}
"""
SESSION_EDN = rb"""{:type :ok, :isInitial true, :value [[:range nil nil [{:id 1, :sk 1, :val 5}]
[{:id 2 :val 8}]]]}
{:type :fail, :value [[:w 1 99 true]]} ; not counted
{:type :ok :process 1 :value [[:r 1 7 false] [:w 1 5 true] (:i "k" 1.5 nil true true),
[:append 3 1] [:r 3 [1 2]]]}
"""
GRAPH = rb"""[{"_key":"1","_id":"txn/1"},{"_key":"2","_id":"txn/2"},{"_key":"x","_id":"txn/x","n":[1.5,null]},
{"_from":"txn/1","_to":"txn/2","from_evt":"w_evt/1,1","to_evt":"a_evt/2,1","type":"ww"},
{"_from":"txn/1","_to":"txn/x","from_evt":"w_evt/1,1","to_evt":"r_evt/x,5","type":"wr"},
{"_from":"txn/x","_to":"txn/2","from_evt":"r_evt/x,5","to_evt":"a_evt/2,1","type":"rw"},
{"_from":"txn/x","_to":"txn/2","type":"so"}]
"""
LOG = b"""{"tick":"94","type":2200,"tid":"137","db":"rwRegister"}
{"tick":"95","type":2300,"tid":"137","data":{"_key":"1","_id":"rwCol/1","_rev":"_f","rwAttr":2}}
{"tick":"96","type":2201,"tid":"137","db":"rwRegister"}
"""
YAML = b"""---
- - events:
      - write: true
        variable: 5
        value: 1
        success: true
      - {write: false, variable: 18446744073709551615, value: 0, success: true}
    success: true
  - events: []   # nothing
    success: false
- []
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """A format in one of its spellings, with a sample and with the histories that it can hold."""

    format: str
    suffix: str
    sample: bytes
    histories: SearchStrategy[History]

    def write(self, history: History) -> bytes:
        """The bytes of a file that holds `history`."""
        sink = io.BytesIO()
        write = formats.find(self.format).write
        assert write is not None
        write(history, sink, path=f"history{self.suffix}")
        # pyarrow closes the sink of a Parquet file that it could not finish.
        return sink.getvalue()

    def read(self, content: bytes) -> History:
        """The history in a file of these bytes."""
        stream = io.BufferedReader(io.BytesIO(content))
        return formats.find(self.format).read(Input("<bytes>", (File.streamed("<bytes>", stream),)))

    def losses(self, history: History) -> tuple[str, ...]:
        """What a file of this form cannot hold of `history`."""
        return formats.find(self.format).losses(history, f"history{self.suffix}")


TEXT_FORMS = {
    "plume": Form(format="plume", suffix=".txt", sample=PLUME, histories=strategies.plume_histories()),
    "jepsen": Form(format="jepsen", suffix=".edn", sample=EDN, histories=strategies.jepsen_histories()),
    "jepsen-json": Form(
        format="jepsen", suffix=".json", sample=EVENTS, histories=strategies.jepsen_histories(json=True)
    ),
    "jepsen-json-lines": Form(
        format="jepsen",
        suffix=".jsonl",
        sample=EVENTS.replace(b"[{", b"{").replace(b"},\n", b"}\n").replace(b"}]\n", b"}\n"),
        histories=strategies.jepsen_histories(json=True),
    ),
    "leopard": Form(
        format="leopard",
        suffix=".json",
        sample=b"[" + TRACES.replace(b"}\n{", b"},\n{").rstrip() + b"]\n",
        histories=traces.leopard_histories(),
    ),
    "leopard-lines": Form(
        format="leopard", suffix=".jsonl", sample=TRACES, histories=traces.leopard_histories()
    ),
    "aion": Form(format="aion", suffix=".json", sample=AION, histories=strategies.aion_histories()),
    "dbcop-hist": Form(
        format="dbcop-hist",
        suffix=".hist",
        sample=DBCOP_HIST,
        histories=histories_without_ids.dbcop_hist_histories(),
    ),
    "dbcop-json": Form(
        format="dbcop-json",
        suffix=".dbcop.json",
        sample=DBCOP_JSON,
        histories=histories_without_ids.dbcop_json_histories(),
    ),
    "awdit": Form(
        format="awdit", suffix=".awdit", sample=AWDIT, histories=histories_without_ids.awdit_histories()
    ),
    "aion-lines": Form(format="aion", suffix=".jsonl", sample=LINES, histories=strategies.aion_histories()),
}
_PARQUET = Form(format="parquet", suffix=".parquet", sample=b"", histories=strategies.any_histories())
FORMS = TEXT_FORMS | {
    "parquet": Form(
        format="parquet",
        suffix=".parquet",
        sample=_PARQUET.write(strategies.EVERYTHING),
        histories=strategies.any_histories(),
    )
}


def _read_only(name: str, suffix: str, sample: bytes) -> Form:
    return Form(format=name, suffix=suffix, sample=sample, histories=st.nothing())


#: Forms that are only read: no history is written in them.
READ_ONLY_TEXT = {
    "dbcop-yaml": _read_only("dbcop-yaml", ".yaml", YAML),
    "viper": _read_only("viper", ".log", SESSION),
    "viper-edn": _read_only("viper", ".edn", SESSION_EDN),
    "grail": _read_only("grail", ".json", GRAPH),
}
READ_ONLY = READ_ONLY_TEXT | {
    "dbcop-bincode": _read_only("dbcop-bincode", ".bincode", binary.BINCODE),
    "cobra": _read_only("cobra", ".log", binary.COBRA),
    "cobra-times": _read_only("cobra", ".log", binary.COBRA_TIMES),
}
ALL_FORMS = FORMS | READ_ONLY
ALL_TEXT_FORMS = TEXT_FORMS | READ_ONLY_TEXT
