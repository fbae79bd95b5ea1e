"""Transactions as they arrive, in the shape of AION as JSON lines, cut for the parts that judge them.

A part has some keys, and gets of each transaction its operations on them; or it has some sessions, and gets
for each operation a read that found nothing: EXT, INT and NOCONFLICT follow from the one, SESSION and "start
before commit" from the other.
"""

from __future__ import annotations

import json
import pickle
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

from isoscope.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pyarrow as pa

__all__ = ["ARRIVALS", "CLOCK_UNITS", "END", "TIMES", "Arrival", "Cutter", "joined"]

#: The schema of what parts get: pickled arrivals; or, for the part `TIMES`, the latest time so far.
ARRIVALS = "part int, time timestamp, payload binary"
#: A part that judges nothing. Rows with a time go to it, so that Spark knows how far time is. The rows of
#: arrivals have none: Spark drops rows behind its watermark, and names none of them.
TIMES = -1
#: Every transaction is before `END`, in milliseconds. The end of a stream is told by a time far behind it,
#: so that the watermark passes it, yet in a year that pandas knows.
END, _AFTER_THE_END = 2**42, 2**43
#: How many milliseconds so many ticks of the database's clock are.
CLOCK_UNITS = {"ns": (1, 1_000_000), "us": (1, 1_000), "ms": (1, 1), "s": (1_000, 1)}
_READ = {"t": "r", "k": 0, "v": None}


class Arrival(NamedTuple):
    """A transaction as a part gets it: a line in the shape of AION, and what orders it among others.

    `time` is the later of start and commit in milliseconds; None for one without timestamps that did not
    commit. `session` is empty for a transaction without one.
    """

    time: int | None
    order: tuple[Any, ...]
    session: str
    place: int | None
    id: int | str
    line: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Cutter:
    """Cuts transactions for so many parts of keys, and as many of sessions behind them."""

    parts: int
    clock_unit: str

    def cut(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """What each part gets of these lines, and the latest time that they have."""
        for batch in batches:
            found: dict[int, list[Arrival]] = {}
            latest = None
            columns = (batch[name].to_pylist() for name in ("value", "place", "is_end"))
            for line, place, is_end in zip(*columns, strict=True):
                if is_end:
                    latest = _AFTER_THE_END
                    continue
                for part, arrival in self._arrivals(line, place):
                    found.setdefault(part, []).append(arrival)
                    latest = max(latest or 0, arrival.time or 0)
            if latest is not None:
                yield _rows([TIMES, *found], [latest], map(pickle.dumps, found.values()))

    def _arrivals(self, line: bytes | None, place: str) -> Iterator[tuple[int, Arrival]]:
        # A message of Kafka may have no value at all; a blank line of a file is nothing.
        if line is not None and not line.strip():
            return
        try:
            said = json.loads((line or b"").decode())
            yield from self._cut(said)
        except (ValueError, TypeError, KeyError, AttributeError):
            shown = "no value" if line is None else line[:200].decode(errors="backslashreplace")
            problem = f"{place}: expected a transaction in the shape of AION as one line of JSON\n  {shown}"
            raise UsageError(f"{problem}\n\nhint: docs/reference/formats/aion.md has the fields") from None

    def _cut(self, said: dict[str, Any]) -> Iterator[tuple[int, Arrival]]:
        of_part: dict[int, list[dict[str, Any]]] = {}
        for operation in said["ops"]:
            of_part.setdefault(_hash(operation["k"]) % self.parts, []).append(operation)
        session = "" if said.get("sid") is None else repr(said["sid"])
        by_session = self.parts + _hash(session or said["tid"]) % self.parts
        of_part[by_session] = [_READ] * len(said["ops"])
        for part, operations in of_part.items():
            # A part of keys takes transactions by their times, whatever their places in sessions.
            place = {"sno": None} if part < self.parts and "sno" in said else {}
            line = json.dumps({**said, **place, "ops": operations})
            yield part, Arrival(self._time(said), _order(said), session, _place(said), said["tid"], line)

    def _time(self, said: dict[str, Any]) -> int | None:
        times = [_reading(said[end])[0] for end in ("sts", "cts") if said.get(end) is not None]
        if not times:
            return None
        multiplied, divided = CLOCK_UNITS[self.clock_unit]
        time = max(times) * multiplied // divided
        if 0 <= time < END:
            return time
        problem = f"{max(times)} {self.clock_unit} is beyond what Spark takes for a time"
        raise UsageError(
            f"transaction {said['tid']!r}: {problem}\n\n"
            "hint: --clock-unit is the unit of the database's clock"
        )


def joined(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """One row for each part: Spark 3.5 cannot hand over state beside several if pyarrow is new."""
    times: list[int] = []
    found: dict[int, list[Arrival]] = {}
    for batch in batches:
        cells = (
            batch["part"].to_pylist(),
            batch["time"].cast("int64").to_pylist(),
            batch["payload"].to_pylist(),
        )
        for part, time, payload in zip(*cells, strict=True):
            if payload is None:
                times.append(time // 1000)
            else:
                found.setdefault(part, []).extend(pickle.loads(payload))
    latest = [max(times)] if times else []
    yield _rows([*[TIMES][: len(latest)], *found], latest, map(pickle.dumps, found.values()))


def _rows(parts: list[int], times: list[int], payloads: Iterable[bytes]) -> pa.RecordBatch:
    """Times first, in milliseconds, then payloads."""
    import pyarrow as pa  # noqa: PLC0415 - heavy: only this engine pays for it

    moments = [*(time * 1000 for time in times), *[None] * (len(parts) - len(times))]
    columns = [
        pa.array(parts, pa.int32()),
        pa.array(moments, pa.int64()).cast(pa.timestamp("us", "UTC")),
        pa.array([*[None] * len(times), *payloads], pa.binary()),
    ]
    return pa.RecordBatch.from_arrays(columns, names=["part", "time", "payload"])


def _hash(name: object) -> int:
    return crc32(repr(name).encode())


def _order(said: dict[str, Any]) -> tuple[Any, ...]:
    """The order in which a part takes transactions, the same however they arrive."""
    ends = (said.get("cts"), said.get("sts"))
    return (
        *(_reading(end) if end is not None else (-1, 0) for end in ends),
        _place(said) or 0,
        repr(said["tid"]),
    )


def _reading(time: Any) -> tuple[int, int]:
    return (int(time["p"]), int(time.get("l", 0))) if isinstance(time, dict) else (int(time), 0)


def _place(said: dict[str, Any]) -> int | None:
    return None if said.get("sno") is None else int(said["sno"])
