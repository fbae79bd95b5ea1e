"""Typed, documented stub of the native core; stubtest keeps it true."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, Protocol, Self, TypeAlias, final

from typing_extensions import Buffer

from isoscope.databases.profiled import Delays, Load
from isoscope.databases.simulated import Simulated
from isoscope.workloads.breaking import Scene
from isoscope.workloads.workload import Workload

__all__ = [
    "UNKNOWN",
    "Builder",
    "ClockFacts",
    "ClockIntake",
    "ClockOnline",
    "ClockTrial",
    "Columns",
    "Conduct",
    "Graph",
    "HeldLock",
    "InjectedFault",
    "IntervalsOnline",
    "Lifetime",
    "OperationConduct",
    "ParseError",
    "Profile",
    "ProfiledRun",
    "Reader",
    "Refused",
    "RowVersion",
    "RunMerge",
    "ShownVersion",
    "SimulatedStore",
    "StruckFault",
    "TableReader",
    "Term",
    "TrueDependency",
    "Truth",
    "Unknown",
    "__version__",
    "activity",
    "clock_ties",
    "deduced_versions",
    "dependencies",
    "dispatch_times",
    "generate",
    "graph_statistics",
    "itemised",
    "judge_clock",
    "judge_intervals",
    "judge_predicates",
    "judge_values",
    "judge_versions",
    "neighbours",
    "ordered_keys",
    "part",
    "servers",
    "simulate",
    "table_columns",
]

__version__: str

_Times: TypeAlias = tuple[int | None, int | None]
# Kind, key, value, interval, table, columns, statement kind, lock mode, read mode, predicate, tombstone,
# line.
_OperationRow: TypeAlias = tuple[
    int, Any, Any, _Times | None, str | None, tuple[str, ...] | None, str | None, str | None, str | None,
    str | None, bool, int,
]  # fmt: skip
# Kind, key, value, and the instants before and after.
_RecordedRow: TypeAlias = tuple[int, Any, Any, int, int]
# Id, session number, session id, status, line, sequence, start, commit, interval, positions, operations.
_TransactionRow: TypeAlias = tuple[
    Any, int, Any, int, int, int | None, tuple[int, int] | None, tuple[int, int] | None,
    _Times | None, _Times | None, tuple[_OperationRow, ...],
]  # fmt: skip

# Data, validity bitmap if something is null, and offset of an Arrow column.
_Column: TypeAlias = tuple[Buffer, Buffer | None, int]
# Rows; integers by column; texts (indices, dictionary) by column; lists (offsets, elements, present);
# tombstones.
_Table: TypeAlias = tuple[
    int,
    dict[str, bytes],
    dict[str, tuple[bytes, list[str]]],
    tuple[bytes, bytes, bytes] | None,
    bytes | None,
]

class _Sink(Protocol):
    def write(self, data: bytes, /) -> object: ...

class ParseError(Exception):
    """Why a parser stopped: its arguments say where and what."""

@final
class Unknown:
    """The result of a read that the client never learned."""

UNKNOWN: Unknown

@final
class Term:
    """A scalar without a Python twin (keyword, symbol, ratio, ...), known by its EDN text."""

    def __new__(cls, text: str) -> Term: ...
    @property
    def text(self) -> str: ...
    def __hash__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __lt__(self, other: Term, /) -> bool: ...
    def __le__(self, other: Term, /) -> bool: ...
    def __gt__(self, other: Term, /) -> bool: ...
    def __ge__(self, other: Term, /) -> bool: ...
    def __getnewargs__(self) -> tuple[str]: ...

@final
class Columns:
    """The columns of a history; never changed after they are built."""

    @property
    def transactions(self) -> int: ...
    @property
    def operations(self) -> int: ...
    @property
    def sessions(self) -> int: ...
    @property
    def key_count(self) -> int: ...
    @property
    def ties(self) -> int | None: ...
    def keys(self) -> list[Any]: ...
    def session(self, session: int) -> tuple[Any, list[int]]: ...
    def find(self, id: Any) -> int | None: ...
    def transaction(self, transaction: int) -> _TransactionRow: ...
    def place_in_session(self, transaction: int) -> int: ...
    def first_operation(self, transaction: int) -> int: ...
    def locate(self, operation: int) -> tuple[int, int]: ...
    def initial(self) -> tuple[Any, bool, list[tuple[Any, Any]]]: ...
    def versions(self) -> list[tuple[int, list[tuple[Any, list[Any]]]]]: ...
    def notes(self) -> list[tuple[str, int]]: ...
    def kind_counts(self) -> list[int]: ...
    def status_counts(self) -> list[int]: ...
    def evidence(self) -> tuple[list[int], int]: ...
    def present_evidence(self) -> list[bool]: ...
    def features(self) -> list[str]: ...
    def same(self, other: Columns) -> bool: ...
    def counted(self) -> list[bool]: ...
    def write(self, format: str, sink: _Sink) -> None: ...
    def unwritable(self, format: str) -> list[str]: ...
    def leaves_operations(self, format: str) -> bool: ...
    def export_rows(self, transaction: int, most: int) -> tuple[int, _Table]: ...
    def export_versions(self) -> _Table: ...
    def used_columns(self) -> list[tuple[str, bool]]: ...
    def initial_edn(self) -> tuple[str, bool, list[tuple[str, str]]]: ...

@final
class Reader:
    """Parses a format, fed block by block."""

    def __new__(cls, format: str) -> Reader: ...
    @property
    def is_text(self) -> bool: ...
    def start_of_file(self, name: str) -> None: ...
    def feed(self, block: Buffer) -> None: ...
    def end_of_file(self) -> int: ...
    def attach_log(self, log: Buffer) -> None: ...
    def drain(self, initial: tuple[Any, list[tuple[Any, Any]]] | None = None) -> Columns | None: ...
    def finish(self, initial: tuple[Any, list[tuple[Any, Any]]] | None = None) -> Columns: ...

@final
class TableReader:
    """Collects tables, one row an operation, into a history."""

    def __new__(cls) -> TableReader: ...
    def add(
        self,
        rows: int,
        integers: dict[str, _Column],
        texts: dict[str, tuple[_Column, list[str]]],
        lists: tuple[_Column, _Column] | None,
        tombstones: Buffer | None,
    ) -> None: ...
    def initial_edn(self, value: str, replaceable: bool, of_key: list[tuple[str, str]]) -> None: ...
    def initial(self, value: Any, of_key: list[tuple[Any, Any]]) -> None: ...
    def drain(self) -> Columns: ...
    def finish(self) -> Columns: ...

def table_columns() -> tuple[list[str], list[str]]:
    """Names of the columns of integers and of the columns of texts."""

@final
class Builder:
    """Collects transactions one by one."""

    def __new__(cls) -> Builder: ...
    def transaction(
        self,
        id: Any,
        session: Any,
        *,
        named: bool,
        status: int,
        operations: Sequence[tuple[Any, ...]],
        line: int = 0,
        sequence: int | None = None,
        start: tuple[int, int] | None = None,
        commit: tuple[int, int] | None = None,
        interval: _Times | None = None,
        positions: _Times | None = None,
    ) -> None: ...
    def recorded(
        self,
        id: Any,
        session: Any,
        status: int,
        operations: list[_RecordedRow],
        timestamps: tuple[tuple[int, int], tuple[int, int]] | None = None,
    ) -> None: ...
    def initial(self, value: Any, *, replaceable: bool) -> None: ...
    def initial_of(self, key: Any, value: Any) -> None: ...
    def version(self, source: int, key: Any, value: Any) -> None: ...
    def finish(self) -> Columns: ...

_Workload: TypeAlias = Workload

def generate(workload: _Workload, *, isolation: str, script: Sequence[Scene]) -> Columns:
    """The history of a workload, the same for the same arguments on every machine."""

def simulate(workload: _Workload, database: Simulated) -> tuple[Columns, list[InjectedFault]]:
    """The history of a run of the simulated database, and the violations that its fault caused."""

@final
class InjectedFault:
    """One violation that the fault of a simulated database caused, by the id of the transaction."""

    axiom: Final[str]
    transaction: Final[int]
    key: Final[Any]
    other: Final[int | None]
    expected: Final[Any]
    found: Final[Any]

class Refused(Exception):  # noqa: N818
    """The simulated database refuses a step; the transaction should be rolled back."""

@final
class SimulatedStore:
    """The simulated database, used step by step; a session has at most one open transaction."""

    def __new__(cls, isolation: str, *, lists: bool, bug: str | None, bug_rate: float, seed: int) -> Self: ...
    def add_row(self, key: int, value: int) -> None: ...
    def add_session(self) -> int: ...
    def begin(self, session: int) -> None: ...
    def read(self, session: int, key: int) -> int | tuple[int, ...] | None: ...
    def range_read(self, session: int, low: int, high: int) -> list[tuple[int, int]]: ...
    def write(self, session: int, key: int, value: int) -> None: ...
    def append(self, session: int, key: int, value: int) -> None: ...
    def insert(self, session: int, key: int, value: int) -> None: ...
    def delete(self, session: int, key: int) -> None: ...
    def commit(self, session: int) -> tuple[int, int]: ...
    def abort(self, session: int) -> None: ...
    def log(self) -> list[tuple[int, int]]: ...
    def version_count(self, key: int) -> int: ...

@final
class Conduct:
    """What one kind of statement locks and reads."""

    def __new__(cls, *, lock: str, read: str, locks_predicate: bool) -> Self: ...

@final
class OperationConduct:
    """What one operation locks and reads, by its kind, its labels and the profile."""

    @property
    def statement(self) -> str:
        """The kind of the statement that the operation is a part of."""

    @property
    def lock(self) -> str:
        """The lock that it holds on its rows until the transaction ends."""

    @property
    def read(self) -> str:
        """Which versions of its rows it reads."""

    @property
    def locks_predicate(self) -> bool:
        """Whether its lock covers all rows that its predicate matches."""

    @property
    def skips_locked(self) -> bool:
        """Whether it leaves out rows that other transactions have locked."""

@final
class Profile:
    """The mechanisms of one isolation level of one database; names are those of `isoscope.profiles`.

    Raises ValueError for a name that is not known. Profiles are equal if and only if their `repr` is.
    """

    def __new__(
        cls,
        *,
        snapshot: str,
        granularity: str,
        first_updater_wins: bool,
        certifier: str,
        commit_lock: str,
        statements: Mapping[str, Conduct],
    ) -> Self: ...
    def conduct(
        self, kind: str, *, statement: str | None, lock_mode: str | None, read_mode: str | None
    ) -> OperationConduct:
        """What an operation of this kind with these labels locks and reads; None is a label that is missing."""

@final
class ProfiledRun:
    """A run of a database that works as a profile says, in slices; rates are shares of occasions."""

    def __new__(
        cls,
        profile: Profile,
        load: Load,
        delays: Delays,
        *,
        seed: int,
        faults: Sequence[tuple[str, float]],
        truth: bool,
    ) -> Self: ...
    def next(self, transactions: int) -> Columns:
        """The history of the next so many transactions that end; an empty one if there are no more."""

    def truth(self) -> Truth:
        """The true times and the faults; the run is over then."""

@final
class Truth:
    """The true times of a run. Transactions and operations are numbered as in the history."""

    lifetimes: Final[tuple[Lifetime, ...]]
    locks: Final[tuple[HeldLock, ...]]
    shown: Final[tuple[ShownVersion, ...]]
    versions: Final[tuple[RowVersion, ...]]
    dependencies: Final[tuple[TrueDependency, ...]]
    faults: Final[tuple[StruckFault, ...]]

@final
class Lifetime:
    """True instants of a transaction; `snapshot` if all of it reads one, `committed` if it did."""

    begun: Final[int]
    snapshot: Final[int | None]
    committed: Final[int | None]
    ended: Final[int]

@final
class HeldLock:
    """A lock on rows from `low` to `high`; `mode` is share, update or exclusive."""

    transaction: Final[int]
    low: Final[int]
    high: Final[int]
    mode: Final[str]
    is_predicate: Final[bool]
    taken: Final[int]
    released: Final[int]

@final
class ShownVersion:
    """A read looked at a row as it was at an instant: the version of `writer`, None for the initial one."""

    operation: Final[int]
    key: Final[int]
    at: Final[int]
    writer: Final[int | None]
    appeared: Final[int]

@final
class RowVersion:
    """The version of a row that a transaction left, and when it appeared."""

    key: Final[int]
    transaction: Final[int]
    appeared: Final[int]

@final
class TrueDependency:
    """One transaction comes before another because of a row; `kind` is wr, ww or rw."""

    kind: Final[str]
    before: Final[int]
    after: Final[int]
    key: Final[int]

@final
class StruckFault:
    """A fault that struck; `is_visible` if clients of committed transactions can have seen it."""

    fault: Final[str]
    transaction: Final[int]
    operation: Final[int]
    is_visible: Final[bool]

# Counts by name; name, read, other operation, value; repeated reads and their keys, keys that are deleted,
# keys that are mixed, range reads.
_Reads: TypeAlias = tuple[
    list[int], list[tuple[int, int, int | None, Any]], tuple[int, list[Any], list[Any], list[Any], int]
]
# Before, after, relation, key, operations.
_Step: TypeAlias = tuple[int, int, int, Any, list[int]]
# Name; reader, older, newer; key; read; how older precedes newer; how newer came to the reader's sight.
_Finding: TypeAlias = tuple[int, tuple[int, int | None, int] | None, Any, int, list[_Step], list[_Step]]
# Which levels are violated; counts by name; whether there may be more; findings; how many demands on the
# commit order were kept; what happens-before cost: joins, entries, traversals, visits.
_Weak: TypeAlias = tuple[list[bool], list[int], bool, list[_Finding], int, tuple[int, int, int, int]]

def judge_values(
    columns: Columns,
    strongest: int | None,
    most: int,
    method: int = 0,
    limits: tuple[int, int] | None = None,
) -> tuple[_Reads, _Weak | None]:
    """Judges all reads, and the weak levels up to `strongest`: 0 read committed, 1 read atomic, 2 causal.

    Happens-before is computed by `method`: 0 lazily, 1 with vector clocks, 2 with tree clocks, 3 by
    traversal. `limits` are those on the steps and on the bytes of clocks.
    """

# Before and after, None for the initial version; relation, key, operations, source of the order.
_Dependency: TypeAlias = tuple[int | None, int | None, int, Any, list[int], int]

def judge_versions(
    columns: Columns, assume: int, most: int, budget: int | None = None
) -> tuple[
    list[int],
    list[int],
    list[tuple[int, list[_Dependency], list[list[_Dependency]], int | None]],
    list[tuple[int, int, int]],
    tuple[bool, int, int],
]:
    """Judges all levels that speak of versions.

    Outcomes by level (0 holds, 1 violated, 2 no real time, 3 search too long, 4 sources contradict each
    other); counts by name; findings: name, steps, alternatives, level that it was looked for; by source of
    order how many keys it orders, and how many to the end; whether an append has no version, keys of
    predicate reads that were set aside, range reads that are not judged.

    `assume` is the sum of 1 (writes follow reads), 2 (sequential keys) and 4 (linearizable keys).
    """

def ordered_keys(columns: Columns, assume: int) -> list[tuple[int, int, int]]:
    """By source of order: how many keys it orders, and how many of them to the last version.

    Free after `judge_versions` with the same claims.
    """

def dependencies(columns: Columns) -> list[tuple[int, int, int]]:
    """The edges of the dependency graph: before, after, relation."""

def graph_statistics(columns: Columns) -> tuple[int, tuple[int, int, int], int, int, int, bool]:
    """Vertices, edges (wr, ww, rw), components, the largest, traversals, and whether there are more."""

@final
class Graph:
    """A graph, ready to be searched."""

    @staticmethod
    def begins_and_commits(*, seed: int, transactions: int, sessions: int, dependencies: int) -> Graph:
        """A graph of begins and commits without cycles; sessions take turns."""
    @property
    def nodes(self) -> int: ...
    @property
    def edges(self) -> int: ...
    def components(self) -> int:
        """How many strongly connected components there are."""

# Name, transaction, other transaction, key, operation, operation that it is held against, elements of the
# list that was expected, class and write of what was found.
_Contradiction: TypeAlias = tuple[
    int, int, int | None, Any, int | None, int | None, list[Any], tuple[int, int | None] | None
]
# Transactions without timestamps, keys that they wrote, keys that are deleted, keys that are mixed, range
# reads.
_ClockAside: TypeAlias = tuple[int, int, list[Any], list[Any], int]

def clock_ties(columns: Columns, serializable: bool) -> int:
    """Only puts the events in order: how many timestamps belong to several transactions."""

def judge_clock(
    columns: Columns, serializable: bool, most: int
) -> tuple[list[int], list[_Contradiction], int, _ClockAside]:
    """Holds a history against the database's own clock: snapshot isolation, or serializability.

    Counts by name; findings; timestamps that belong to several transactions; what was set aside.
    """

# Name, case, and the operations that show it.
_IntervalsFinding: TypeAlias = tuple[int, int, list[int]]
# Counts by name; findings; (checked, undecided) of consistent read, mutual exclusion, first updater wins and
# certifier; (total, overlapping, uncertain) of wr, ww and rw.
_IntervalsJudged: TypeAlias = tuple[
    list[int], list[_IntervalsFinding], list[tuple[int, int]], list[tuple[int, int, int]]
]

def judge_intervals(columns: Columns, profile: Profile, *, clock_error: int, most: int) -> _IntervalsJudged:
    """Holds a history against the mechanisms of a profile.

    Raises ValueError with the number of a transaction and what is wrong with it if one has no intervals.
    """

def deduced_versions(columns: Columns, profile: Profile, *, clock_error: int) -> Columns:
    """The history with the order of versions that is certain by its mechanisms as one that it declares.

    Raises ValueError as `judge_intervals` does.
    """

@final
class IntervalsOnline:
    """Mirrors the mechanisms of a profile; there is no clock in it, every call says what time it is."""

    def __new__(
        cls,
        profile: Profile,
        *,
        clock_error: int,
        most: int,
        initial: Any,
        timeout: int,
    ) -> IntervalsOnline: ...
    def admit(self, columns: Columns) -> None:
        """Raises ValueError as `take` would; nothing is taken."""

    def take(self, columns: Columns, now: int) -> int:
        """Takes all transactions of `columns`, which arrive at `now`; how many are new.

        Raises ValueError with the number of one that cannot be judged and what is wrong with it; then
        none is taken.
        """

    def heartbeat(self, session: Any, time: int, now: int) -> None:
        """Nothing that began before `time` will come from this session any longer."""

    def advance(self, now: int) -> None:
        """It is `now`: whoever was silent for too long is not waited for."""

    def flush(self) -> None:
        """Nothing more will come."""

    def news(self) -> list[tuple[int, int, int, Any, Any, Any]]:
        """What was found since the last time: number, name, case, transaction, other transaction, key."""

    def report(self) -> tuple[Columns, list[tuple[int, int]], _IntervalsJudged]:
        """Transactions that show what was found, sessions and places, and what `judge_intervals` gives."""

    def recent(self, number: int) -> tuple[Columns, list[tuple[int, int]], _IntervalsJudged] | None:
        """The same of one piece of news, if it is one of the last."""

    def counts(self) -> list[int]:
        """Counts by name."""

    def sizes(self) -> dict[str, int]:
        """How many of what there are."""

    @property
    def watermark(self) -> int | None:
        """Everything that began before it is known; None if nothing is."""

    def holding_back(self) -> list[Any]:
        """The session that holds the watermark back; empty if none does."""

    def save(self) -> bytes:
        """Everything, as bytes."""

    @staticmethod
    def load(data: bytes) -> IntervalsOnline:
        """The engine that was saved; raises ValueError if these are no bytes of one."""

@final
class ClockIntake:
    """Takes a history slice by slice, and gives sorted runs of its events."""

    def __new__(cls, snapshot: bool, serializable: bool, most: int) -> ClockIntake: ...
    def take(self, columns: Columns) -> tuple[int, str] | None: ...
    def run(self, least: int) -> bytes | None: ...
    def finish(self) -> ClockFacts: ...

@final
class ClockFacts:
    """What is known of a history when all of it was seen."""

    @property
    def sizes(self) -> list[int]: ...
    @property
    def present(self) -> list[bool]: ...
    def holds_list(self, key: Any) -> bool: ...
    def trial(self, serializable: bool, most: int) -> ClockTrial: ...

@final
class ClockOnline:
    """Judges one level of the clock while transactions arrive; every call says what time it is."""

    def __new__(
        cls, serializable: bool, *, most: int, timeout: int, keep: int, initial: Any
    ) -> ClockOnline: ...
    def admit(self, columns: Columns) -> None: ...
    def take(self, columns: Columns, now: int) -> int: ...
    def spill_to(self, folder: str, least: int) -> None: ...
    def save(self) -> bytes: ...
    @staticmethod
    def load(data: bytes) -> ClockOnline: ...
    @property
    def trouble(self) -> str | None: ...
    def advance(self, now: int) -> None: ...
    def flush(self) -> None: ...
    def news(self) -> list[tuple[int, int, Any, Any, Any, bool]]: ...
    def report(self) -> tuple[Columns, list[tuple[int, int]], Any]: ...
    def recent(self, number: int) -> tuple[Columns, list[tuple[int, int]], Any] | None: ...
    def sizes(self) -> dict[str, int]: ...
    def counts(self) -> list[int]: ...
    def stability(self) -> tuple[list[int], list[int], list[int]]: ...
    @property
    def watermark(self) -> tuple[int, int] | None: ...

@final
class ClockTrial:
    """One level, judged in several passes over the runs."""

    SPILLED: int
    @property
    def repeated(self) -> tuple[str, int, int] | None: ...
    def rewind(self, runs: int) -> None: ...
    def advance(self) -> int | None: ...
    def feed(self, run: int, block: bytes) -> None: ...
    def spilled(self) -> bytes: ...
    def suspect(self, spilled: bytes) -> None: ...
    def tally(self, spilled: bytes) -> None: ...
    def ask(self) -> bool: ...
    def judged(self) -> tuple[list[int], list[_Contradiction], int, _ClockAside]: ...

@final
class RunMerge:
    """Several runs as one, for those who cannot have so many at once."""

    def __new__(cls, runs: int) -> RunMerge: ...
    def advance(self) -> int | None: ...
    def feed(self, run: int, block: bytes) -> None: ...
    def merged(self) -> bytes: ...

# Median, 95th and 99th percentile, longest.
_Latency: TypeAlias = list[int]
# Added up over instants, and the most at once.
_UnderWay: TypeAlias = tuple[int, int]
# Transactions by status, latency of the committed ones, under way.
_Bucket: TypeAlias = tuple[tuple[int, int, int], _Latency | None, _UnderWay]
# Clock; first instant, length and width of a bucket; transactions without an instant, and without both ends;
# buckets; latency and under way of all; keys with the transactions that use, read and write them; keys by
# the logarithm of their uses.
_Activity: TypeAlias = tuple[
    int,
    tuple[int, int, int],
    tuple[int, int],
    list[_Bucket],
    tuple[_Latency | None, _UnderWay],
    list[tuple[Any, int, int, int]],
    list[int],
]

def activity(columns: Columns, buckets: int, keys: int) -> _Activity:
    """What went on, in at most so many buckets, and the so many keys that most transactions use."""

# Operation, key, writer if it was not the initial state; operation, key; how many were set aside.
_Predicates: TypeAlias = tuple[list[tuple[int, Any, int | None]], list[tuple[int, Any]], int]

def judge_predicates(columns: Columns) -> _Predicates:
    """What predicate reads, and reads of keys that are deleted at times, observed and missed."""

def itemised(columns: Columns) -> Columns | None:
    """The same history with every range read as reads of its rows; None if that does not say the same."""

def part(columns: Columns, transactions: Sequence[int], without: Sequence[int]) -> Columns:
    """The part with these transactions, `without` these operations and what goes with them."""

def servers(columns: Columns, transactions: Sequence[int]) -> list[int]:
    """These transactions and everybody who must stay if all their reads are to."""

def neighbours(columns: Columns, transactions: Sequence[int]) -> list[int]:
    """These transactions and everybody with an operation on one of their keys."""

# Items, batches, whether all came in order, the most items that ever waited.
_Dispatched: TypeAlias = tuple[int, int, bool, int]

def dispatch_times(
    clients: Sequence[Buffer], *, way: Literal["pipeline", "plain", "naive"], capacity: int
) -> _Dispatched:
    """Puts what clients say in order, for each its times: by the pipeline, or as it is measured against."""
