"""Several verifiers, each with the operations of its own keys, and what no one of them sees.

A part keeps all transactions with their begins and ends, and of the statements those on its keys. Where a
snapshot is taken with the first statement, that one may be on a key of another part: so each part is told its
interval as that of the begin, and judges by a profile whose snapshots are taken there.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING, Any

from benchmarks.intervals_loads import BLINDW_RW, Simulated, yardstick
from benchmarks.suite import Measurement, Suite
from isoscope import _native
from isoscope.databases.profiled import Profiled, run
from isoscope.formats.parquet import from_stream, to_stream
from isoscope.profiles import Snapshot

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from isoscope.databases.profiled import Load
    from isoscope.history import History, Interval
    from isoscope.profiles import Profile

__all__ = [
    "CROSSING",
    "PARTITIONS",
    "Crossed",
    "Instances",
    "certified",
    "crossed",
    "instances_measurement",
    "merged",
    "of_part",
    "partitioned",
    "split",
]

PROFILE = "postgresql/serializable"
LOAD = replace(BLINDW_RW, transactions=100_000, keys=10_000)
FAULTY = replace(BLINDW_RW, transactions=20_000)
#: The certifier fails on one occasion in two.
FAULTS = {"missed-certifier": 0.5}
COUNTS = (2, 4)
REPEATS = 3
SLICE = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Instances:
    """Best seconds for the parts of one history: a thread for each, and of one verifier for the whole."""

    count: int
    operations: int
    together: float
    whole: float
    yardstick: float


def partitioned(
    load: Load = LOAD, counts: Sequence[int] = COUNTS, repeats: int = REPEATS
) -> Iterator[Instances]:
    """The same history for each number of instances; raises AssertionError if one accuses the database."""
    simulated = Simulated(profile=PROFILE, load=load)
    slices, lines = [*simulated.slices(SLICE)], yardstick(simulated.history())
    whole = min(_seconds(simulated.promise, [slices]) for _ in range(repeats))
    for count in counts:
        parts = [*zip(*(split(history, count) for history in slices), strict=True)]
        yield Instances(
            count=count,
            operations=sum(history.columns.operations for history in slices),
            together=min(_seconds(of_part(simulated.promise), parts) for _ in range(repeats)),
            whole=whole,
            yardstick=lines,
        )


def _seconds(profile: Profile, parts: Sequence[Sequence[History]]) -> float:
    """The core releases Python's lock: threads are enough."""
    started = perf_counter()
    with ThreadPoolExecutor(len(parts)) as pool:
        list(pool.map(lambda part: _verify(profile, part), parts))
    return perf_counter() - started


def of_part(profile: Profile) -> Profile:
    """The profile of a part, where a begin has the interval of the first statement.

    Raises ValueError if that does not say when the snapshot was taken.
    """
    match profile.snapshot:
        case Snapshot.STATEMENT:
            return profile
        case Snapshot.FIRST_STATEMENT:
            return replace(profile, snapshot=Snapshot.BEGIN)
        case other:
            raise ValueError(f"{profile.name}: a part does not know when a snapshot of `{other}` was taken")


def _verify(profile: Profile, slices: Sequence[History]) -> None:
    engine = _native.IntervalsOnline(
        profile.native, clock_error=0, max_anomalies=1, initial=0, timeout=10**18
    )
    for history in slices:
        engine.take(history.columns, 0)
    engine.flush()
    found = {check.anomaly: check.count for check in engine.checks() if check.count}
    if found or engine.sizes()["late"]:
        raise AssertionError(f"{profile.name}: {found} in a database without a fault")


def split(history: History, count: int) -> tuple[History, ...]:
    """A history by the remainder of its keys, which are numbers."""
    import pyarrow as pa  # noqa: PLC0415 - heavy: only this needs it
    import pyarrow.compute as pc  # noqa: PLC0415

    with pa.ipc.open_stream(to_stream(history)) as stream:
        table = stream.read_all().combine_chunks()
    is_begin = pc.equal(table["kind"], "begin")
    for name in ("operation_invoke", "operation_complete"):
        moved = pa.chunked_array([table[name].slice(1), table[name].slice(len(table) - 1)]).combine_chunks()
        place = table.schema.get_field_index(name)
        table = table.set_column(place, table.schema.field(name), pc.if_else(is_begin, moved, table[name]))
    keys = table["key"]
    # The remainder: there is no such function.
    remainders = pc.subtract(keys, pc.multiply(pc.divide(keys, count), count))
    ours = [pc.fill_null(pc.equal(remainders, part), True) for part in range(count)]  # noqa: FBT003
    return tuple(_history(table.filter(mine)) for mine in ours)


def _history(table: Any) -> History:
    import pyarrow as pa  # noqa: PLC0415

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return from_stream(sink.getvalue().to_pybytes(), path="<part>")


def instances_measurement(found: Instances) -> Measurement:
    figures = {
        "operations": f"{found.operations:,}",
        "in threads": f"{found.together:.3f} s",
        "operations/s": f"{found.operations / found.together:,.0f}",
        "one verifier, not split": f"{found.whole:.3f} s",
        "speedup": f"{found.whole / found.together:.2f}",
        "yardstick": f"{found.yardstick:.3f} s",
        "ratio": f"{found.together / found.yardstick:.2f}",
    }
    return Measurement(f"{found.count} instances", figures)


@dataclass(frozen=True, slots=True, kw_only=True)
class Crossed:
    """Certifier violations in one history, by number of verifiers; `sent` were looked at after merging."""

    transactions: int
    count: int
    whole: int
    alone: int
    merged: int
    sent: int


def crossed(load: Load = FAULTY, count: int = 2) -> Iterator[Crossed]:
    """A database whose certifier fails at times."""
    profile = Simulated(profile=PROFILE, load=load).promise
    history = run(Profiled(profile=profile, seed=29, faults=FAULTS), load, truth=False).history
    parts = split(history, count)
    [*sent] = merged(history, parts, profile)
    yield Crossed(
        transactions=len(history),
        count=count,
        whole=certified(history.columns, profile),
        alone=sum(certified(part.columns, of_part(profile)) for part in parts),
        merged=certified(_native.sub_history(history.columns, sent, []), profile),
        sent=len(sent),
    )


def certified(columns: _native.Columns, profile: Profile) -> int:
    """How many violations of the certifier the verifier finds."""
    judged = _native.judge_intervals(columns, profile.native, clock_error=0, max_anomalies=1)
    return sum(check.count for check in judged.checks if check.anomaly == "certifier-violation")


def merged(history: History, parts: Sequence[History], profile: Profile) -> list[int]:
    """Transactions that could be in a violation, by the rw dependencies that all parts together deduce.

    A violation is two in a row between transactions that overlap; the writers of their reads are needed, too.
    """
    edges = {edge for part in parts for edge in _rw(part, of_part(profile)) if _overlap(history, *edge)}
    into, out = {after for _, after in edges}, {before for before, _ in edges}
    pivots = into & out
    close = {number for edge in edges if pivots & {*edge} for number in edge}
    return _native.with_transactions_read_from(history.columns, sorted(close))


def _rw(history: History, profile: Profile) -> Iterator[tuple[int, int]]:
    judged = _native.judge_intervals(
        history.columns, profile.native, clock_error=0, max_anomalies=0, orders_versions=True
    )
    assert judged.ordered is not None
    for edge in _native.dependencies(judged.ordered):
        if edge.relation == "rw":
            yield edge.before, edge.after


def _overlap(history: History, one: int, other: int) -> bool:
    first, second = history.transaction(one).interval, history.transaction(other).interval
    return first is None or second is None or not (_precedes(first, second) or _precedes(second, first))


def _precedes(first: Interval, second: Interval) -> bool:
    """Whether one was certainly over when the other began."""
    if first.complete is None or second.invoke is None:
        return False
    return first.complete < second.invoke


def _crossed(found: Crossed) -> Measurement:
    figures = {
        "transactions": f"{found.transactions:,}",
        "certifier violations, one verifier": f"{found.whole:,}",
        f"{found.count} instances alone": f"{found.alone:,}",
        "with rw dependencies merged": f"{found.merged:,}",
        "transactions looked at again": f"{found.sent:,}",
    }
    return Measurement(f"{PROFILE}, its certifier fails", figures)


PARTITIONS = Suite(
    title="Several instances over partitions",
    how="A million operations of 24 clients on 10,000 keys, split by key; each instance has the begins and "
    "ends of all transactions and the statements on its keys, in slices of 2,000 transactions. Where a "
    "snapshot is taken with the first statement, each instance must be told the interval of that one, "
    "whosever key it is on: judged by the first statement on its own keys, it would accuse a correct "
    "database. Mutual exclusion and first updater wins look at one row at a time, and so does consistent "
    "read but for reads that are torn between rows: those of rows of two instances are missed. Ranges "
    "would have to be cut at the borders.",
    full=lambda: map(instances_measurement, partitioned()),
    quick=lambda: map(instances_measurement, partitioned(replace(LOAD, transactions=2_000), repeats=1)),
)
CROSSING = Suite(
    title="What a cycle across partitions needs",
    how="The certifier does not look at one row: in a write skew T1 reads x and writes y, T2 reads y and "
    "writes x. The instance of x sees T1 -rw-> T2, that of y sees T2 -rw-> T1, and neither sees both. So "
    "instances hand on the rw dependencies between transactions that overlap; those with one that comes in "
    "and one that goes out, their neighbours and the writers of their reads are looked at again as a whole. "
    "Here a simulated certifier fails on every second occasion, 24 clients on 2,000 keys.",
    full=lambda: map(_crossed, crossed()),
    quick=lambda: map(_crossed, crossed(replace(FAULTY, transactions=1_500))),
)
