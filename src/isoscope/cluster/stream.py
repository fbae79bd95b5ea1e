"""The online check as a query of Structured Streaming: parts keep their engines in Spark's checkpoints.

Spark 3.5 hands state over by pandas; what is handed over is bytes, so that its types do not matter.
"""

from __future__ import annotations

import json
import pickle
from dataclasses import dataclass, field
from functools import partial
from threading import Event
from typing import TYPE_CHECKING, Any

from isoscope.cluster.arrivals import ARRIVALS, CLOCK_UNITS, TIMES, Cutter, joined
from isoscope.cluster.stream_part import StreamPart, StreamQuestion
from isoscope.cluster.stream_report import StreamSoFar
from isoscope.cluster.stream_source import NO_CONNECTOR, arriving_lines
from isoscope.errors import IsoscopeError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    import pandas as pd
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.state import GroupState

    from isoscope.cluster.stream_part import PartResult
    from isoscope.verdict import Report

__all__ = ["SparkStream"]

_RESULT = "part int, payload binary"


@dataclass(frozen=True, kw_only=True)
class SparkStream:
    """A folder of JSON lines, or a topic of Kafka, that is checked while it grows.

    `checkpoint` is a folder for the state of Spark, and for the report so far. `found` gets the results of
    each batch, and how many lines of findings were written before them; it says how many it wrote. A batch
    that was not finished before a stop comes again, with the same results.
    """

    spark: SparkSession
    source: str
    checkpoint: Path
    question: StreamQuestion
    clock_unit: str = "ns"
    #: At most so many files make a batch.
    files_per_batch: int | None = None
    #: Ends the query, from any thread or from a signal: Spark's own handler would cut it off.
    stop: Event = field(default_factory=Event)
    found: Callable[[int, int, list[PartResult]], int] = field(default=lambda _batch, _lines, _results: 0)

    def run(self, *, to_the_end: bool) -> Report:
        """Judges what arrives until `stop`; with `to_the_end`, what is there, finally."""
        self._open()
        try:
            self._until_it_stops(to_the_end=to_the_end)
            if to_the_end and not self.stop.is_set():
                (self._ends / "end").write_text("end\n")
                self._until_it_stops(to_the_end=True)
        except Exception as error:
            raise _failed(error) from None
        return self.report()

    def report(self) -> Report:
        """The verdicts on everything that the watermark is past."""
        return self._so_far().report(self.question, self.source)

    def _open(self) -> None:
        if self.clock_unit not in CLOCK_UNITS:
            raise UsageError(f"--clock-unit is one of {', '.join(CLOCK_UNITS)}, not {self.clock_unit}")
        self._ends.mkdir(parents=True, exist_ok=True)
        settings = json.dumps(
            {
                "source": self.source,
                "clock-unit": self.clock_unit,
                **{name: repr(getattr(self.question, name)) for name in StreamQuestion.__slots__},
            }
        )
        path = self.checkpoint / "settings.json"
        if path.exists() and path.read_text() != settings:
            raise UsageError(
                f"{self.checkpoint}: its state is of another question\n\n"
                "hint: ask with the same options, or name a new folder"
            )
        if any(self._ends.iterdir()):
            raise UsageError(
                f"{self.checkpoint}: this check was brought to its end\n\nhint: name a new folder"
            )
        path.write_text(settings)

    @property
    def _ends(self) -> Path:
        return self.checkpoint / "end"

    def _until_it_stops(self, *, to_the_end: bool) -> None:
        query = self.start(to_the_end=to_the_end)
        while not query.awaitTermination(1):
            if self.stop.is_set():
                query.stop()
                return

    def start(self, *, to_the_end: bool) -> StreamingQuery:
        """Starts the query; with `to_the_end` it stops when it has read what is there."""
        from pyspark.sql.streaming.state import GroupStateTimeout  # noqa: PLC0415 - heavy, and an extra

        parts = self.question.parts
        self.spark.conf.set("spark.sql.shuffle.partitions", parts)
        cutter = Cutter(parts=parts, clock_unit=self.clock_unit)
        lines = arriving_lines(self.spark, self.source, self._ends, self.files_per_batch)
        arrivals = lines.mapInArrow(cutter.cut, ARRIVALS).repartition(parts, "part")
        timed = arrivals.mapInArrow(joined, ARRIVALS).withWatermark(
            "time", f"{self.question.timeout} milliseconds"
        )
        results = timed.groupBy("part").applyInPandasWithState(
            partial(_advance, self.question),
            _RESULT,
            "state binary",
            "append",
            GroupStateTimeout.EventTimeTimeout,
        )
        writer = results.writeStream.foreachBatch(self._keep)
        writer = writer.option("checkpointLocation", str(self.checkpoint / "spark"))
        return (writer.trigger(availableNow=True) if to_the_end else writer).start()

    def _keep(self, frame: DataFrame, batch: int) -> None:
        """Keeps the results of a batch, once."""
        so_far = self._so_far()
        results = sorted((pickle.loads(row[1]) for row in frame.collect()), key=lambda one: one.part)
        if batch <= so_far.batch:
            return
        so_far.take(batch, results)
        so_far.lines += self.found(batch, so_far.lines, results)
        new = self._report_path.with_suffix(".new")
        new.write_bytes(pickle.dumps(so_far))
        new.replace(self._report_path)

    @property
    def _report_path(self) -> Path:
        return self.checkpoint / "report"

    def _so_far(self) -> StreamSoFar:
        if not self._report_path.exists():
            return StreamSoFar()
        found: StreamSoFar = pickle.loads(self._report_path.read_bytes())
        return found


def _advance(
    question: StreamQuestion, key: tuple[int], frames: Iterable[pd.DataFrame], state: GroupState
) -> Iterator[pd.DataFrame]:
    """A part and what arrived for it; its state is the part, as bytes."""
    import pandas as pd  # noqa: PLC0415 - heavy, and an extra

    payloads = [one for frame in frames for one in frame["payload"] if isinstance(one, bytes)]
    if key[0] == TIMES:
        return
    saved: Any = state.get[0] if state.exists else None
    part = (
        StreamPart.new(key[0], question) if saved is None else StreamPart.load(key[0], question, bytes(saved))
    )
    result = part.advance(
        (one for text in payloads for one in pickle.loads(text)), state.getCurrentWatermarkMs()
    )
    state.update((part.save(),))
    state.setTimeoutTimestamp(part.due_at)
    yield pd.DataFrame({"part": [key[0]], "payload": [pickle.dumps(result)]})


def _failed(error: Exception) -> Exception:
    """An error of Spark in one line; of our own code on a worker its message."""
    text = str(error)
    if NO_CONNECTOR in text:
        return UsageError(
            "Apache Spark has no connector for Kafka\n\n"
            "hint: docs/how-to/check-on-spark.md says which jars it needs, and how Spark gets them"
        )
    for kind in ("UsageError", "FormatError"):
        _, mark, told = text.partition(f"isoscope.errors.{kind}: ")
        if mark:
            return UsageError(told.partition("\n\tat ")[0].strip())
    if isinstance(error, IsoscopeError) or type(error).__module__.partition(".")[0] not in (
        "py4j",
        "pyspark",
    ):
        return error
    # What comes before is numbers of the query.
    told = (text or type(error).__name__).splitlines()[0].rpartition("terminated with exception: ")[2]
    hint = "\n\nhint: does the topic exist, and do its brokers answer?" if "org.apache.kafka" in told else ""
    return UsageError(f"Apache Spark failed: {told}{hint}")
