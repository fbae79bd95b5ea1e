"""The rows of histories in Spark: read, spread by key and by session, judged; only results come back."""

from __future__ import annotations

import pickle
import re
from dataclasses import dataclass
from functools import cached_property, partial, reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from isoscope._native import table_columns
from isoscope.cluster.part_history import HISTORY, POSITION, RawNames
from isoscope.cluster.session_part import FACTS, OF_TRANSACTION
from isoscope.cluster.split_frames import SplitFrames
from isoscope.cluster.tasks import RESULT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pyspark.sql import Column, DataFrame, SparkSession

    from isoscope.cluster.files import HistoryFiles
    from isoscope.cluster.spans import Span
    from isoscope.cluster.tasks import Tasks

__all__ = ["Frames"]

#: Columns of a key's rows that verdicts depend on.
_OF_KEY = ("key", "key_edn", "value", "value_edn", "value_list", "value_length", "kind")
#: Columns of a transaction that the rows of a key need.
_TIMES = tuple(name for name in OF_TRANSACTION if not name.startswith(("invoke", "complete")))
_MARKERS = ("begin", "commit", "abort")
_LAST, _OPERATIONS, _TOUCHES, _TIMED, _PROBLEM = FACTS
_FACTS = f"{_LAST} long, {_OPERATIONS} long, {_TOUCHES} boolean, {_TIMED} boolean, {_PROBLEM} string"


@dataclass(frozen=True)
class Frames:
    """The rows of several histories, numbered in the order given, to be spread to so many parts."""

    spark: SparkSession
    histories: Sequence[HistoryFiles]
    tasks: Tasks
    parts: int
    #: A key with more rows is cut by time.
    key_rows: int

    @cached_property
    def columns(self) -> list[str]:
        """The columns that some file has."""
        present = frozenset().union(*(history.columns for history in self.histories), {"kind"})
        integers, texts = table_columns()
        return [name for name in (*integers, *texts, "value_list", "tombstone") if name in present]

    @cached_property
    def rows(self) -> DataFrame:
        """All rows, each with its history and its position there."""
        from pyspark.sql import functions as f  # noqa: PLC0415 - heavy, and an extra

        names = [name for history in self.histories for name in history.files]
        read = self.spark.read.schema(self._schema).parquet(*names)
        files = self.spark.createDataFrame(
            [*self._places(read.inputFiles())], "_file string, _of int, _first long"
        )
        # Spark writes `file:/` in one place and `file:///` in another.
        name = f.regexp_replace(f.col("_metadata.file_path"), "^file:/+", "file:/")
        placed = read.select("*", name.alias("_file"), f.col("_metadata.row_index").alias("_row"))
        unknown = f.raise_error(f.concat(f.lit("a file that was not asked for: "), f.col("_file"))).cast(
            "int"
        )
        return placed.join(f.broadcast(files), "_file", "left").select(
            *self.columns,
            f.coalesce(f.col("_of"), unknown).alias(HISTORY),
            (f.col("_first") + f.col("_row")).alias(POSITION),
        )

    @property
    def _schema(self) -> str:
        integers, _ = table_columns()
        types = dict.fromkeys(integers, "bigint") | {"value_list": "array<bigint>", "tombstone": "boolean"}
        return ", ".join(f"`{name}` {types.get(name, 'string')}" for name in self.columns)

    def _places(self, uris: Iterable[str]) -> Iterator[tuple[str, int, int]]:
        """Of each file, as Spark calls it: its history, and the position of its first row."""
        known = {
            _plain(name): (number, first)
            for number, history in enumerate(self.histories)
            for name, first in zip(history.files, history.first_positions, strict=True)
        }
        yield from ((re.sub("^file:/+", "file:/", uri), *known[_plain(uri)]) for uri in uris)

    def judged(self) -> dict[int, list[Any]]:
        """The results of all parts, by history."""
        self.spark.conf.set("spark.sql.shuffle.partitions", self.parts)
        rows = self._key_rows
        split = SplitFrames(self, rows, self.key_rows)
        by_key = self._spread(split.without(rows), ("key", "key_edn"))
        frames = [by_key.mapInArrow(self.tasks.keys, RESULT), self._by_session()]
        if split.split:
            frames.append(split.judged(rows))
        if self.tasks.clock_levels and {"start_physical", "commit_physical"} <= {*self.columns}:
            frames.append(self._ties())
        return self._collected(frames)

    @property
    def _key_rows(self) -> DataFrame:
        """The operations, with what verdicts on their keys depend on."""
        from pyspark.sql import functions as f  # noqa: PLC0415

        wanted = [name for name in (*_TIMES, *_OF_KEY) if name in self.columns]
        chosen = [f.col(name) for name in wanted]
        if "statement" in self.columns:
            # Of versions it names the source; of operations it decides nothing.
            chosen.append(f.when(f.col("kind") == "version", f.col("statement")).alias("statement"))
        return self.rows.where(~f.col("kind").isin(*_MARKERS)).select(*chosen, HISTORY, POSITION)

    @property
    def transactions(self) -> DataFrame:
        """One row for each transaction, or two if a batch cuts it."""
        from pyspark.sql import functions as f  # noqa: PLC0415

        also = ("kind", "operation_invoke", "operation_complete")
        wanted = [name for name in (*OF_TRANSACTION, *also) if name in self.columns]
        is_operation = f.col("kind").isNull() | (f.col("kind") != "version")
        rows = self.rows.where(is_operation).select(*wanted, HISTORY, POSITION)
        kept = [HISTORY, POSITION, *(name for name in OF_TRANSACTION if name in self.columns)]
        types = {field.name: field.dataType.simpleString() for field in rows.schema.fields}
        schema = ", ".join(f"`{name}` {types[name]}" for name in kept)
        return rows.mapInArrow(self.tasks.collapse, f"{schema}, {_FACTS}")

    def _by_session(self) -> DataFrame:
        return self._sessions(self.transactions).mapInArrow(self.tasks.sessions, RESULT)

    def _sessions(self, transactions: DataFrame) -> DataFrame:
        """Spread by session; a transaction without one is a session of its own."""
        from pyspark.sql import functions as f  # noqa: PLC0415

        names = [name for name in RawNames._fields if name in self.columns]
        sessions = [f.col(name) for name in names if name.startswith("session")]
        own = [f.col(name) for name in names if name.startswith("transaction")]
        is_nameless = reduce(lambda a, b: a & b, [one.isNull() for one in sessions], f.lit(True))  # noqa: FBT003
        spread = [*sessions, *(f.when(is_nameless, one) for one in own)]
        return self._spread(transactions, spread)

    def _spread(self, rows: DataFrame, by: Sequence[str | Column]) -> DataFrame:
        known = [one for one in by if not isinstance(one, str) or one in self.columns]
        return rows.repartition(self.parts, HISTORY, *known).sortWithinPartitions(HISTORY, POSITION)

    def _ties(self) -> DataFrame:
        """The timestamps that belong to several transactions that count as committed."""
        from pyspark.sql import functions as f  # noqa: PLC0415

        counted = self.transactions.where(f.col(_TOUCHES))
        if "status" in self.columns:
            counted = counted.where(f.coalesce(f.col("status"), f.lit("committed")) == "committed")
        counted = counted.where(f.col("start_physical").isNotNull() & f.col("commit_physical").isNotNull())
        names = [name for name in RawNames._fields[:2] if name in self.columns]
        times = [
            f.struct(f.col(f"{end}_physical").alias("physical"), self._logical(end))
            for end in ("start", "commit")
        ]
        events = counted.select(HISTORY, *names, f.explode(f.array(*times)).alias("time"))
        # Every name on its own, and no structs: with those, Spark would sort all rows to group them.
        same = [column for name in names for column in (f.min(name), f.max(name), f.count(name))]
        grouped = events.groupBy(HISTORY, "time.physical", "time.logical").agg(f.count("*"), *same)
        tied = grouped.where(reduce(lambda a, b: a | b, map(_differs, names))).select(HISTORY)
        return tied.sortWithinPartitions(HISTORY).mapInArrow(self.tasks.ties, RESULT)

    def _logical(self, end: str) -> Column:
        from pyspark.sql import functions as f  # noqa: PLC0415

        name = f"{end}_logical"
        part = f.coalesce(f.col(name), f.lit(0)) if name in self.columns else f.lit(0)
        return part.cast("bigint").alias("logical")

    def excerpts(self, named: dict[int, set[RawNames]]) -> dict[int, list[Any]]:
        """The rows of these transactions as an Arrow stream, and the places in their sessions, by history."""
        from pyspark.sql import functions as f  # noqa: PLC0415

        wanted = [
            (history, *names) for history, some in sorted(named.items()) for names in sorted(some, key=repr)
        ]
        schema = "_of int, _transaction long, _transaction_edn string, _session long, _session_edn string"
        marks = f.broadcast(self.spark.createDataFrame(wanted, schema))
        ids = (
            marks.select("_of", "_transaction", "_transaction_edn").distinct().withColumn("_wanted", f.lit(1))
        )
        rows = self.rows.join(f.broadcast(ids), self.same("transaction"), "left_semi")
        streams = rows.repartition(1).sortWithinPartitions(HISTORY, POSITION)
        sessions = marks.select("_of", "_session", "_session_edn").distinct()
        members = self.transactions.join(f.broadcast(sessions), self.same("session"), "left_semi")
        marked = members.join(f.broadcast(ids), self.same("transaction"), "left")
        marked = marked.select(*members.columns, f.col("_wanted").isNotNull().alias("_wanted"))
        places = self._sessions(marked).mapInArrow(self.tasks.places, RESULT)
        return self._collected([streams.mapInArrow(self.tasks.whole_rows, RESULT), places])

    def same_values(self, reads: dict[int, set[int]], others: dict[int, set[int]]) -> dict[int, list[Any]]:
        """The rows, on their keys, of the transactions that show or write what these reads show.

        Reads, and the operations `others`, are positions; of the latter the transactions are there, too. Each
        history is an Arrow stream.
        """
        from pyspark.sql import functions as f  # noqa: PLC0415

        known = [
            (n, at, is_read) for is_read, of in ((True, reads), (False, others)) for n in of for at in of[n]
        ]
        wanted = f.broadcast(self.spark.createDataFrame(known, "_of int, _at long, _is_read boolean"))
        here = (f.col(HISTORY) == f.col("_of")) & (f.col(POSITION) == f.col("_at"))
        marked = self.rows.join(wanted, here).drop("_of")
        values = self._renamed(marked.where("_is_read"), "key", "value")
        same = self.same("key") & self.same("value")
        writers = self.rows.where(f.col("kind").isin("write", "insert"))
        writers = writers.join(f.broadcast(values), same, "left_semi")
        owners = self._renamed(marked, "key", "transaction").union(
            self._renamed(writers, "key", "transaction")
        )
        of_owner = self.same("key") & self.same("transaction")
        return self._streams(self.rows.join(f.broadcast(owners.distinct()), of_owner, "left_semi"))

    def _renamed(self, rows: DataFrame, *what: str) -> DataFrame:
        """These columns of rows, named as `same` asks for them, each once."""
        from pyspark.sql import functions as f  # noqa: PLC0415

        names = [name for one in what for name in (one, f"{one}_edn") if name in self.columns]
        renamed = [f.col(HISTORY).alias("_of"), *(f.col(name).alias(f"_{name}") for name in names)]
        return rows.select(*renamed).distinct()

    def whole(self, numbers: set[int]) -> dict[int, list[Any]]:
        """All rows of these histories, each as an Arrow stream."""
        from pyspark.sql import functions as f  # noqa: PLC0415

        return self._streams(self.rows.where(f.col(HISTORY).isin(*numbers)))

    def remaining(self, spans: dict[int, tuple[Span, ...]], limit: int) -> dict[int, list[Any]]:
        """The rows of all keys of the transactions in spans as an Arrow stream; how many, if over `limit`."""
        from pyspark.sql import functions as f  # noqa: PLC0415

        transactions = self.transactions
        within = transactions.mapInArrow(partial(self.tasks.within, spans), transactions.schema)
        rows = self.rows.join(self.named(within, "transaction"), self.same("transaction"), "left_semi")
        keys = self.named(rows, "key").persist()
        kept = self.rows.join(f.broadcast(keys), self.same("key"), "left_semi")
        try:
            sizes = {row[0]: row[1] for row in kept.groupBy(HISTORY).count().collect()}
            few = [number for number, size in sizes.items() if size <= limit]
            some = kept.where(f.col(HISTORY).isin(*few))
            found = self._streams(self._with_sessions(some, transactions)) if few else {}
        finally:
            keys.unpersist()
        return found | {number: [size] for number, size in sizes.items() if size > limit}

    def _with_sessions(self, rows: DataFrame, transactions: DataFrame) -> DataFrame:
        """Rows, and the first transaction of each of their sessions: sessions count in the order of these."""
        from pyspark.sql import functions as f  # noqa: PLC0415

        names = [name for name in ("session", "session_edn") if name in self.columns]
        if not names:
            return rows
        members = transactions.join(self.named(rows, "session"), self.same("session"), "left_semi")
        kept = [HISTORY, POSITION, *(name for name in OF_TRANSACTION if name in self.columns)]
        first = f.min_by(f.struct(*kept), POSITION).alias("_first_row")
        firsts = members.groupBy(HISTORY, *names).agg(first).select("_first_row.*")
        return rows.unionByName(firsts, allowMissingColumns=True)

    def named(self, rows: DataFrame, what: str) -> DataFrame:
        """The transactions, or keys, that rows are of, each once."""
        from pyspark.sql import functions as f  # noqa: PLC0415

        names = [name for name in (what, f"{what}_edn") if name in self.columns]
        is_named = reduce(lambda a, b: a | b, [f.col(name).isNotNull() for name in names], f.lit(False))  # noqa: FBT003
        return self._renamed(rows.where(is_named), what)

    def _streams(self, rows: DataFrame) -> dict[int, list[Any]]:
        """Rows as an Arrow stream for each history."""
        ordered = rows.repartition(1).sortWithinPartitions(HISTORY, POSITION)
        return self._collected([ordered.mapInArrow(self.tasks.whole_rows, RESULT)])

    def longest_lists(self, keys: set[tuple[int, int | None, str | None]]) -> dict[Any, list[int]]:
        """Of those of the keys that some transaction uses as a list: the longest list that a row has."""
        from pyspark.sql import functions as f  # noqa: PLC0415

        schema = "_of int, _key long, _key_edn string"
        wanted = f.broadcast(self.spark.createDataFrame(sorted(keys, key=repr), schema))
        rows = self.rows.join(wanted, self.same("key"))
        lists = f.col("value_list") if "value_list" in self.columns else f.lit(None).cast("array<bigint>")
        is_list = lists.isNotNull() | (f.col("kind") == "append")
        if "value_edn" in self.columns:
            is_list |= f.col("value_edn").startswith("[") & (f.col("kind") == "read")
        found = rows.where(is_list).groupBy("_of", "_key", "_key_edn")
        size = f.struct(f.size(lists), -f.col(POSITION))
        return {tuple(row)[:3]: row[3] or [] for row in found.agg(f.max_by(lists, size)).collect()}

    def same(self, what: str) -> Column:
        """Whether a row is of a transaction, or of a session, that is asked for."""
        from pyspark.sql import functions as f  # noqa: PLC0415

        pairs = [(HISTORY, "_of"), *((name, f"_{name}") for name in (what, f"{what}_edn"))]
        same = [
            f.col(name).eqNullSafe(f.col(asked)) for name, asked in pairs if name in (HISTORY, *self.columns)
        ]
        return reduce(lambda a, b: a & b, same)

    @staticmethod
    def _collected(frames: Sequence[DataFrame]) -> dict[int, list[Any]]:
        """The results of frames, by history."""
        found: dict[int, list[Any]] = {}
        for row in reduce(lambda a, b: a.union(b), frames).collect():
            found.setdefault(row[0], []).append(pickle.loads(row[1]))
        return found


def _differs(name: str) -> Column:
    """Whether the rows of a group have several values of a column, or one and none."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    is_everywhere = f.col(f"count({name})").isin(0, f.col("count(1)"))
    return ~is_everywhere | f.coalesce(f.col(f"min({name})") != f.col(f"max({name})"), f.lit(False))  # noqa: FBT003


def _plain(name: str) -> str:
    """A path or URI without the differences between Spark's and ours."""
    parts = urlsplit(name)
    if parts.scheme in ("", "file"):
        return str(Path(unquote(parts.path) if parts.scheme else name).absolute())
    return f"{parts.scheme.replace('s3a', 's3')}://{parts.netloc}{unquote(parts.path)}"
