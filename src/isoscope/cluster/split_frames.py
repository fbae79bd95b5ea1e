"""Keys with too many rows for one part in Spark: found, cut by time, spread slice by slice.

Registers are cut, whose writers all have both timestamps. Of lists, and of keys that are not judged, all rows
stay in one part.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial, reduce
from typing import TYPE_CHECKING

from isoscope.cluster.part_history import HISTORY, POSITION
from isoscope.cluster.tasks import RESULT
from isoscope.cluster.time_slices import (
    SLICE,
    LastVersion,
    RawKey,
    SplitKey,
    initial_edn,
    initial_of,
    needs_learning,
    states,
    time_slices,
)
from isoscope.scalars import edn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import Column, DataFrame

    from isoscope.cluster.frames import Frames
    from isoscope.history import Initial

__all__ = ["SplitFrames"]

#: A key is cut in at most so many slices.
_MOST = 64
_WRITES = ("write", "insert")
_TIMES = ("commit_physical", "commit_logical", "start_physical", "start_logical")
_KEY = "_of int, _key long, _key_edn string"


@dataclass(frozen=True)
class SplitFrames:
    """The rows of keys of which there are more than `key_rows`."""

    frames: Frames
    rows: DataFrame
    key_rows: int

    @cached_property
    def split(self) -> list[SplitKey]:
        """The keys that are cut, in the order of their slices."""
        if not self._may_be_any:
            return []
        counted = self.rows.groupBy(HISTORY, *self._key).count().where(f"count > {self.key_rows}")
        sizes = {self._raw(row): row["count"] for row in counted.collect()}
        found: list[SplitKey] = []
        for key, (cuts, initial) in (self._described(sizes) if sizes else {}).items():
            first = found[-1].first_slice + len(found[-1].cuts) + 1 if found else 0
            found.append(SplitKey(key, cuts, initial, first))
        return found

    @property
    def _may_be_any(self) -> bool:
        tasks, columns = self.frames.tasks, {*self.frames.columns}
        is_by_clock = bool(tasks.clock_levels) and not tasks.with_reads
        is_large = any(sum(one.rows) > self.key_rows for one in self.frames.histories)
        return is_by_clock and is_large and {"commit_physical", "start_physical", "key"} <= columns

    @property
    def _key(self) -> list[str]:
        return [name for name in ("key", "key_edn") if name in self.frames.columns]

    def _raw(self, row: object) -> RawKey:
        said = row.asDict()  # type: ignore[attr-defined]  # a Row of Spark
        return RawKey(said[HISTORY], said.get("key"), said.get("key_edn"))

    def without(self, rows: DataFrame) -> DataFrame:
        """The rows of all other keys."""
        return rows.join(self._broadcast(), self.frames.same("key"), "left_anti") if self.split else rows

    def _broadcast(self, keys: Sequence[RawKey] | None = None) -> DataFrame:
        from pyspark.sql import functions as f  # noqa: PLC0415 - heavy, and an extra

        chosen = [one.key for one in self.split] if keys is None else keys
        return f.broadcast(self.frames.spark.createDataFrame([tuple(key) for key in chosen], _KEY))

    def _described(self, sizes: dict[RawKey, int]) -> dict[RawKey, tuple[tuple[int, ...], str]]:
        """The cuts and the initial value of each key that can be cut."""
        from pyspark.sql import functions as f  # noqa: PLC0415

        rows = self.rows.join(self._broadcast([*sizes]), self.frames.same("key"), "left_semi")
        initials = {n: initial_of(one) for n, one in enumerate(self.frames.tasks.beginnings)}
        shares = [place / _MOST for place in range(1, _MOST)]
        times = f.percentile_approx("commit_physical", shares, 10_000).alias("times")
        is_odd = f.max(self._is_odd.cast("int")).alias("is_odd")
        replaced = f.max(self._is_replaced(initials).cast("int")).alias("is_replaced")
        described = rows.groupBy(HISTORY, *self._key).agg(times, is_odd, replaced).where("is_odd = 0")
        learned = self._learned(rows) if needs_learning(initials) else {}
        found = {}
        for row in described.collect():
            key = self._raw(row)
            cuts = _cuts(row["times"] or (), -(-sizes[key] // self.key_rows))
            initial = initials[key.history]
            if cuts and not initial.of_key:
                is_replaced = bool(row["is_replaced"])
                value = initial_edn(initial, is_replaced=is_replaced, learned=learned.get(key))
                found[key] = cuts, value
        return found

    @property
    def _is_odd(self) -> Column:
        """Whether a row shows that its key is no register, or that a version of it has no place in time."""
        from pyspark.sql import functions as f  # noqa: PLC0415

        is_odd = ~f.col("kind").isin("read", *_WRITES)
        for name in ("value_list", "value_length"):
            if name in self.frames.columns:
                is_odd |= f.col(name).isNotNull()
        if "value_edn" in self.frames.columns:
            is_odd |= f.coalesce(f.col("value_edn").startswith("["), f.lit(False))  # noqa: FBT003
        untimed = f.col("commit_physical").isNull() | f.col("start_physical").isNull()
        return is_odd | (f.col("kind").isin(*_WRITES) & self._is_committed & untimed)

    @property
    def _is_committed(self) -> Column:
        from pyspark.sql import functions as f  # noqa: PLC0415

        if "status" not in self.frames.columns:
            return f.lit(True)  # noqa: FBT003
        return f.coalesce(f.col("status"), f.lit("committed")) == "committed"

    def _is_replaced(self, initials: dict[int, Initial]) -> Column:
        """Whether a row writes the initial value of its history, which then takes its place."""
        from pyspark.sql import functions as f  # noqa: PLC0415

        shown = [f.coalesce(f.col(name).cast("string"), f.lit("")) for name in self._value]
        texts = {number: edn(one.value) for number, one in initials.items() if one.replaceable}
        same = f.col("kind").isin(*_WRITES) & self._is_committed
        is_one = [(f.col(HISTORY) == number) & f.lit(text).isin(*shown) for number, text in texts.items()]
        return same & reduce(lambda a, b: a | b, is_one, f.lit(False))  # noqa: FBT003

    @property
    def _value(self) -> list[str]:
        return [name for name in ("value", "value_edn") if name in self.frames.columns]

    def _learned(self, rows: DataFrame) -> dict[RawKey, str]:
        """The first value of each key that a committed transaction read before it wrote, and none wrote."""
        from pyspark.sql import functions as f  # noqa: PLC0415

        key, value = [HISTORY, *self._key], self._value
        owner = [*key, *(name for name in ("transaction", "transaction_edn") if name in self.frames.columns)]
        is_write = f.col("kind").isin(*_WRITES)
        nulls = {name: f.coalesce(f.col(name).cast("string"), f.lit("")) for name in (*owner[1:], *value)}
        told = rows.withColumn("_at", f.col(POSITION)).withColumns(
            {name: column for name, column in nulls.items() if name not in self._key}
        )
        written = told.where(is_write).select(*key, *value).distinct()
        own = told.where(is_write).groupBy(*owner).agg(f.min("_at").alias("_wrote"))
        reads = told.where((f.col("kind") == "read") & self._is_committed)
        reads = reads.where(f.concat(*value) != "").select(*owner, *value, "_at")
        unwritten = reads.alias("r").join(written.alias("w"), _equal([*key, *value], "r", "w"), "left_anti")
        joined = unwritten.alias("r").join(own.alias("o"), _equal(owner, "r", "o"), "left")
        kept = joined.where("o._wrote is null or r._at < o._wrote").select("r.*")
        first = f.min_by(f.concat(*value), "_at").alias("_value")
        return {self._raw(row): row["_value"] for row in kept.groupBy(*key).agg(first).collect()}

    def judged(self, rows: DataFrame) -> DataFrame:
        """The results of all slices; `rows` are those of all keys."""
        from pyspark.sql import functions as f  # noqa: PLC0415

        placed = self._placed(rows)
        spread = self._with_states(placed).select(*rows.columns, f.explode("_slices").alias(SLICE))
        ordered = spread.repartition(self.frames.parts, SLICE).sortWithinPartitions(SLICE, POSITION)
        return ordered.mapInArrow(partial(self.frames.tasks.slices, time_slices(self.split)), RESULT)

    def _placed(self, rows: DataFrame) -> DataFrame:
        """The rows of the keys that are cut, with the first and the last slice that each runs in."""
        from pyspark.sql import functions as f  # noqa: PLC0415

        known = [(*one.key, [*one.cuts], one.first_slice) for one in self.split]
        schema = f"{_KEY}, _cuts array<long>, _first int"
        cuts = f.broadcast(self.frames.spark.createDataFrame(known, schema))
        placed = rows.join(cuts, self.frames.same("key"))
        commit, start = (self._slice_of(f"{end}_physical") for end in ("commit", "start"))
        # A transaction without a commit has no place in the order.
        last = f.coalesce(f.greatest(commit, start), commit)
        first = f.coalesce(f.least(commit, start), commit)
        is_timed = f.col("commit_physical").isNotNull()
        return placed.withColumn("_begins", f.when(is_timed, first).otherwise(f.col("_first"))).withColumn(
            "_ends", f.when(is_timed, last).otherwise(f.col("_first"))
        )

    @staticmethod
    def _slice_of(name: str) -> Column:
        from pyspark.sql import functions as f  # noqa: PLC0415

        before = f.size(f.filter("_cuts", lambda cut: cut < f.col(name)))
        return f.when(f.col(name).isNotNull(), f.col("_first") + before)

    def _with_states(self, placed: DataFrame) -> DataFrame:
        """Rows with all slices that they go to: those that they run in, and those whose state they are."""
        from pyspark.sql import functions as f  # noqa: PLC0415

        times = [self._time(name).alias(name) for name in _TIMES]
        ended = placed.where(f.col("kind").isin(*_WRITES) & self._is_committed)
        newest = ended.groupBy("_of", "_key", "_key_edn", "_ends").agg(
            f.max(f.struct(*times)).alias("_times")
        )
        lasts = [LastVersion(RawKey(*row[:3]), row[3], tuple(row[4])) for row in newest.collect()]
        known = [(*key, *times, slices) for (key, times), slices in states(self.split, lasts).items()]
        names = ", ".join(f"_{name} long" for name in _TIMES)
        schema = f"_of_state int, _key_state long, _key_state_edn string, {names}, _states array<int>"
        state = f.broadcast(self.frames.spark.createDataFrame(known, schema))
        pairs = [("_of", "_of_state"), ("_key", "_key_state"), ("_key_edn", "_key_state_edn")]
        same = [f.col(one).eqNullSafe(f.col(other)) for one, other in pairs]
        same += [self._time(name).eqNullSafe(f.col(f"_{name}")) for name in _TIMES]
        runs = f.sequence("_begins", "_ends")
        further = f.coalesce("_states", f.array().cast("array<int>"))
        joined = placed.join(state, reduce(lambda a, b: a & b, same), "left")
        return joined.withColumn("_slices", f.array_union(runs, further))

    def _time(self, name: str) -> Column:
        """A part of a timestamp; a logical one that is missing is zero."""
        from pyspark.sql import functions as f  # noqa: PLC0415

        if name not in self.frames.columns:
            return f.lit(0).cast("long")
        return f.coalesce(f.col(name), f.lit(0)).cast("long") if name.endswith("logical") else f.col(name)


def _equal(names: Sequence[str], left: str, right: str) -> Column:
    from pyspark.sql import functions as f  # noqa: PLC0415

    same = [f.col(f"{left}.{name}").eqNullSafe(f.col(f"{right}.{name}")) for name in names]
    return reduce(lambda a, b: a & b, same)


def _cuts(times: Sequence[int], slices: int) -> tuple[int, ...]:
    """So many slices less one of these quantiles, far apart from each other."""
    count = min(slices, _MOST)
    chosen = {times[place * _MOST // count - 1] for place in range(1, count)} if times else set()
    return tuple(sorted(chosen))
