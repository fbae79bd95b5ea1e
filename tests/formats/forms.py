"""Every form in which a history can be written, and how to read and write it without a disk."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

from isoscope import formats
from isoscope.formats.source import File, Input
from tests import strategies
from tests.formats import placed_histories

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
LOG = b"""{"tick":"94","type":2200,"tid":"137","db":"rwRegister"}
{"tick":"95","type":2300,"tid":"137","data":{"_key":"1","_id":"rwCol/1","_rev":"_f","rwAttr":2}}
{"tick":"96","type":2201,"tid":"137","db":"rwRegister"}
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
    "aion": Form(format="aion", suffix=".json", sample=AION, histories=strategies.aion_histories()),
    "dbcop-hist": Form(
        format="dbcop-hist",
        suffix=".hist",
        sample=DBCOP_HIST,
        histories=placed_histories.dbcop_hist_histories(),
    ),
    "dbcop-json": Form(
        format="dbcop-json",
        suffix=".dbcop.json",
        sample=DBCOP_JSON,
        histories=placed_histories.dbcop_json_histories(),
    ),
    "awdit": Form(
        format="awdit", suffix=".awdit", sample=AWDIT, histories=placed_histories.awdit_histories()
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
