"""Typed, documented stub of the native core; stubtest keeps it true."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal, Protocol, Self, TypeAlias, final

from typing_extensions import Buffer

from isoscope.databases.profiled import Delays, Load
from isoscope.databases.simulated import Simulated
from isoscope.history import Transaction
from isoscope.workloads.breaking import Scene
from isoscope.workloads.workload import Workload

__all__ = [
    "CLOCK_AXIOMS",
    "HAPPENS_BEFORE_METHODS",
    "KINDS",
    "STATUSES",
    "UNKNOWN",
    "ActivityCounts",
    "BucketCounts",
    "Builder",
    "ClockFinding",
    "ClockJudgement",
    "ClockNews",
    "ClockOnline",
    "ClockReport",
    "ClockStability",
    "ClockStatus",
    "ClockStream",
    "Columns",
    "ConcurrencyCounts",
    "Conduct",
    "ConflictFinding",
    "CycleFinding",
    "Dependency",
    "DependencyCount",
    "Dispatched",
    "EventGraph",
    "EvidenceExtents",
    "ExplainedValues",
    "FindingNews",
    "Graph",
    "GraphStatistics",
    "HeldLock",
    "InitialRow",
    "InjectedFault",
    "IntervalsOnline",
    "IntervalsReport",
    "Itemised",
    "KeyUseCounts",
    "LatencyQuantiles",
    "Lifetime",
    "ListColumns",
    "MechanismCheck",
    "MechanismFinding",
    "MechanismsJudgement",
    "OperationConduct",
    "OperationRow",
    "OrderWitness",
    "OrderedKeys",
    "ParseError",
    "Profile",
    "ProfiledRun",
    "ProofStep",
    "RangeRow",
    "ReadFinding",
    "Reader",
    "Refused",
    "RowVersion",
    "SessionRow",
    "ShownVersion",
    "SimulatedRun",
    "SimulatedStore",
    "SnapshotUsed",
    "StaleRead",
    "StreamLimits",
    "StreamRefused",
    "StruckFault",
    "TableColumns",
    "TableReader",
    "Term",
    "TransactionRow",
    "TrueDependency",
    "Truth",
    "UnjudgedReads",
    "UnjudgedVersions",
    "Unknown",
    "ValuesJudgement",
    "VersionOrderRow",
    "VersionsJudgement",
    "WeakEffort",
    "WeakJudgement",
    "WitnessRead",
    "__version__",
    "activity",
    "clock_ties",
    "dependencies",
    "dispatch_times",
    "event_graph",
    "explain_values",
    "generate",
    "graph_statistics",
    "itemised",
    "judge_clock",
    "judge_clock_stream",
    "judge_intervals",
    "judge_values",
    "judge_versions",
    "ordered_keys",
    "simulate",
    "sources_agree",
    "sub_history",
    "table_columns",
    "with_transactions_on_same_keys",
    "with_transactions_read_from",
]

__version__: str

_Times: TypeAlias = tuple[int | None, int | None]
# The number of the kind, key, value, and the instants before and after.
_RecordedRow: TypeAlias = tuple[int, Any, Any, int, int]

# Data, validity bitmap if something is null, and offset of an Arrow column.
_Column: TypeAlias = tuple[Buffer, Buffer | None, int]

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
class TransactionRow:
    """One transaction of a history, with its operations in program order."""

    @property
    def id(self) -> Any: ...
    @property
    def session(self) -> int: ...
    @property
    def session_id(self) -> Any: ...
    @property
    def status(self) -> str: ...
    @property
    def line(self) -> int: ...
    @property
    def sequence(self) -> int | None: ...
    @property
    def start(self) -> tuple[int, int] | None: ...
    @property
    def commit(self) -> tuple[int, int] | None: ...
    @property
    def interval(self) -> _Times | None: ...
    @property
    def positions(self) -> _Times | None: ...
    @property
    def operations(self) -> tuple[OperationRow, ...]: ...

@final
class OperationRow:
    """One operation of a history."""

    @property
    def kind(self) -> str: ...
    @property
    def key(self) -> Any: ...
    @property
    def value(self) -> Any: ...
    @property
    def interval(self) -> _Times | None: ...
    @property
    def table(self) -> str | None: ...
    @property
    def columns(self) -> tuple[str, ...] | None: ...
    @property
    def statement(self) -> str | None: ...
    @property
    def lock_mode(self) -> str | None: ...
    @property
    def read_mode(self) -> str | None: ...
    @property
    def predicate(self) -> str | None: ...
    @property
    def tombstone(self) -> bool: ...
    @property
    def line(self) -> int: ...

@final
class RangeRow:
    """The bounds and the result of a range read."""

    @property
    def low(self) -> Any: ...
    @property
    def high(self) -> Any: ...
    @property
    def rows(self) -> tuple[tuple[Any, Any], ...]: ...
    @property
    def tombstones(self) -> tuple[tuple[Any, Any], ...]: ...

@final
class TableColumns:
    """Rows of a history, each column as little-endian bytes."""

    @property
    def rows(self) -> int: ...
    @property
    def integers(self) -> dict[str, bytes]: ...
    @property
    def texts(self) -> dict[str, tuple[bytes, list[str]]]: ...
    @property
    def lists(self) -> ListColumns | None: ...
    @property
    def tombstones(self) -> bytes | None: ...

@final
class ListColumns:
    """A column of lists of integers."""

    @property
    def offsets(self) -> bytes: ...
    @property
    def elements(self) -> bytes: ...
    @property
    def present(self) -> bytes: ...

@final
class SessionRow:
    """A session of a history."""

    @property
    def id(self) -> Any: ...
    @property
    def transactions(self) -> tuple[int, ...]: ...

@final
class InitialRow:
    """The values of keys before the first write."""

    @property
    def value(self) -> Any: ...
    @property
    def replaceable(self) -> bool: ...
    @property
    def of_key(self) -> dict[Any, Any]: ...

@final
class VersionOrderRow:
    """The order of versions that one source gives."""

    @property
    def source(self) -> str: ...
    @property
    def versions(self) -> dict[Any, tuple[Any, ...]]: ...

@final
class EvidenceExtents:
    """How complete each kind of evidence of a history is, by the name of the extent."""

    @property
    def values(self) -> str: ...
    @property
    def version_order(self) -> str: ...
    @property
    def timestamps(self) -> str: ...
    @property
    def intervals(self) -> str: ...
    @property
    def repeated_values(self) -> int: ...

KINDS: tuple[str, ...]
STATUSES: tuple[str, ...]

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
    def session(self, session: int) -> SessionRow: ...
    def find(self, id: Any) -> int | None: ...
    def transaction(self, transaction: int) -> TransactionRow: ...
    def place_in_session(self, transaction: int) -> int: ...
    def ids(self, transactions: Sequence[int]) -> list[Any]: ...
    def first_operation(self, transaction: int) -> int: ...
    def locate(self, operation: int) -> tuple[int, int]: ...
    def initial(self) -> InitialRow: ...
    def versions(self) -> list[VersionOrderRow]: ...
    def notes(self) -> list[tuple[str, int]]: ...
    def kind_counts(self) -> dict[str, int]: ...
    def repeats(self) -> bool:
        """Whether a value of a key was written by several transactions, or appended twice by one."""

    def status_counts(self) -> dict[str, int]: ...
    def evidence(self) -> EvidenceExtents: ...
    def present_evidence(self) -> list[str]: ...
    def features(self) -> list[str]: ...
    def same(self, other: Columns) -> bool: ...
    def counted(self) -> list[bool]: ...
    def took_effect(self) -> list[int]:
        """Indeterminate transactions that count as committed."""
    def write(self, format: str, sink: _Sink) -> None: ...
    def unwritable(self, format: str) -> list[str]: ...
    def leaves_operations(self, format: str) -> bool: ...
    def export_rows(self, transaction: int, most: int) -> tuple[int, TableColumns]: ...
    def export_versions(self) -> TableColumns: ...
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
    def add(self, transaction: Transaction) -> None: ...
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
    def version(self, source: str, key: Any, value: Any) -> None: ...
    def slice(self, ids: Sequence[Any], *, initial: bool) -> Columns: ...
    def finish(self) -> Columns: ...

_Workload: TypeAlias = Workload

def generate(workload: _Workload, *, isolation: str, script: Sequence[Scene]) -> Columns:
    """The history of a workload, the same for the same arguments on every machine."""

@final
class SimulatedRun:
    """A whole run of the simulated database."""

    @property
    def columns(self) -> Columns: ...
    @property
    def faults(self) -> tuple[InjectedFault, ...]: ...

def simulate(workload: _Workload, database: Simulated) -> SimulatedRun:
    """A run of the simulated database."""

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
        compares_inserts: bool,
        clock_skew: bool,
        certifier: str,
        commit_lock: str,
        statements: Mapping[str, Conduct],
    ) -> Self: ...
    def conduct(
        self, kind: str, *, statement: str | None, lock_mode: str | None, read_mode: str | None
    ) -> OperationConduct:
        """The locks and reads of an operation of this kind with these labels; None is a missing label."""

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

@final
class ProofStep:
    """One step of a proof: a transaction precedes another one, both by their numbers."""

    def __new__(
        cls,
        *,
        before: int | None,
        after: int | None,
        relation: str,
        key: Any,
        operations: Sequence[int],
        source: str,
    ) -> Self:
        """For tests: a step that no kernel found."""
    @property
    def before(self) -> int | None:
        """None for the initial state."""
    @property
    def after(self) -> int | None:
        """None for the initial state."""
    @property
    def relation(self) -> str:
        """`session`, `wr`, `ww`, `cm`, `rw` or `real-time`."""
    @property
    def key(self) -> Any: ...
    @property
    def operations(self) -> list[int]:
        """The operations that show it."""
    @property
    def source(self) -> str:
        """How the order of two versions is known that the step rests on; empty if it rests on none."""

@final
class ReadFinding:
    """A read that no order of transactions explains."""

    @property
    def anomaly(self) -> str: ...
    @property
    def read(self) -> int: ...
    @property
    def other(self) -> int | None:
        """The write that was, or should have been, read; the earlier read; None in thin air."""
    @property
    def value(self) -> Any:
        """The value, or the element of the list, that is wrong."""
    @property
    def is_logged(self) -> bool:
        """Whether a log shows the value of an aborted read as committed."""

@final
class UnjudgedReads:
    """The reads and keys that the method of values does not judge."""

    @property
    def repeated_reads(self) -> int:
        """Reads of values that several transactions wrote."""
    @property
    def repeated_keys(self) -> list[Any]: ...
    @property
    def deleted_keys(self) -> list[Any]: ...
    @property
    def mixed_keys(self) -> list[Any]:
        """Keys that are both written and appended to."""
    @property
    def range_reads(self) -> int: ...

@final
class StaleRead:
    """A read from an older transaction although a newer one was in the reader's sight."""

    @property
    def reader(self) -> int: ...
    @property
    def older(self) -> int | None:
        """None for the initial state."""
    @property
    def newer(self) -> int: ...
    @property
    def key(self) -> Any: ...
    @property
    def read(self) -> int: ...
    @property
    def sight(self) -> list[ProofStep]:
        """How the newer transaction came to the reader's sight."""

@final
class ConflictFinding:
    """A cycle in the commit order that a weak level demands."""

    @property
    def anomaly(self) -> str: ...
    @property
    def order(self) -> list[ProofStep]:
        """The steps of a cycle; of a conflict, those from the older transaction to the newer one."""
    @property
    def stale_read(self) -> StaleRead | None:
        """The read that makes a conflict; None if the steps are a cycle."""

@final
class WeakEffort:
    """What it took to decide the strongest weak level.

    With tree clocks, `joins` of clocks looked at so many `entries`; without clocks, so many `traversals`
    visited so many transactions.
    """

    @property
    def demands(self) -> int:
        """Demands on the commit order that were kept."""
    @property
    def joins(self) -> int: ...
    @property
    def entries(self) -> int: ...
    @property
    def traversals(self) -> int: ...
    @property
    def visits(self) -> int: ...

@final
class WeakJudgement:
    """What values say of the weak levels: read committed, read atomic, causal."""

    @property
    def violated(self) -> list[str]: ...
    @property
    def satisfied(self) -> list[str]: ...
    @property
    def undecided(self) -> list[str]:
        """Levels that there are too many sessions to decide."""
    @property
    def contradictory(self) -> list[str]:
        """Levels on which sources of the order of versions lead to different answers."""
    @property
    def counts(self) -> dict[str, int]:
        """How often each anomaly was found."""
    @property
    def is_partial(self) -> bool:
        """Whether there may be more anomalies, because not all sessions could be looked at together."""
    @property
    def findings(self) -> list[ConflictFinding]: ...
    @property
    def effort(self) -> WeakEffort: ...
    @property
    def orders(self) -> dict[str, list[int]]:
        """Transactions in a commit order of each level that is satisfied, if that was asked for."""

@final
class ValuesJudgement:
    """What values say of a history."""

    @property
    def read_counts(self) -> dict[str, int]:
        """How many reads show each anomaly."""
    @property
    def read_findings(self) -> list[ReadFinding]: ...
    @property
    def unjudged(self) -> UnjudgedReads: ...
    @property
    def weak(self) -> WeakJudgement | None:
        """None if no weak level was asked for."""

HAPPENS_BEFORE_METHODS: tuple[str, ...]

def judge_values(
    columns: Columns,
    *,
    strongest: str | None,
    max_anomalies: int,
    happens_before: str = "lazy",
    max_steps: int | None = None,
    max_clock_bytes: int | None = None,
    by_recorded_order: bool = False,
    keeps_orders: bool = False,
) -> ValuesJudgement:
    """Judges all reads, and the weak levels up to `strongest`.

    `keeps_orders` asks for a commit order of each level that is satisfied.

    `by_recorded_order`: the commit order must contain what a log, a declaration or commit timestamps record.

    `happens_before` is one of `HAPPENS_BEFORE_METHODS`. `max_steps` and `max_clock_bytes` bound the work for
    very many sessions.
    """

@final
class ExplainedValues:
    """What explanations of repeated values say of cut isolation and the weak levels."""

    @property
    def is_ambiguous(self) -> bool:
        """Whether there is anything that may be explained in several ways."""
    @property
    def is_contradictory(self) -> bool:
        """Whether sources of the order of versions contradict each other in every explanation."""
    @property
    def outcomes(self) -> dict[str, str]:
        """For cut isolation and each weak level up to the strongest `holds`, `violated` or `unknown`."""
    @property
    def cut_finding(self) -> ReadFinding | None:
        """A read that breaks cut isolation in an explanation."""
    @property
    def witnesses(self) -> list[OrderWitness]:
        """A commit order of each weak level that holds."""

def explain_values(
    columns: Columns, *, strongest: str | None, by_recorded_order: bool, max_seconds: float
) -> ExplainedValues:
    """Judges cut isolation and the weak levels up to `strongest` where values repeat."""

def sources_agree(columns: Columns, *, max_seconds: float) -> bool:
    """Whether the sources of the order of versions agree in some explanation of repeated values."""

@final
class CycleFinding:
    """A cycle of dependencies, or what the sources of the version order show."""

    @property
    def anomaly(self) -> str: ...
    @property
    def steps(self) -> list[ProofStep]: ...
    @property
    def alternatives(self) -> list[list[ProofStep]]:
        """A cycle for each order of versions, where every order leads to one."""
    @property
    def level(self) -> str | None:
        """The level that it was looked for, if it was for one only."""

@final
class OrderedKeys:
    """How many keys a source of the version order orders, and how many of them to the last version."""

    @property
    def source(self) -> str:
        """Empty for keys that no source orders."""
    @property
    def keys(self) -> int: ...
    @property
    def whole(self) -> int: ...

@final
class UnjudgedVersions:
    """The reads and keys that the method of version orders does not judge."""

    @property
    def repeated_reads(self) -> int:
        """Reads of values that several transactions wrote."""
    @property
    def repeated_keys(self) -> list[Any]: ...
    @property
    def deleted_keys(self) -> list[Any]:
        """Keys that are lists and are deleted."""
    @property
    def mixed_keys(self) -> list[Any]:
        """Keys that are both written and appended to."""
    @property
    def range_reads(self) -> int:
        """Range reads that are not itemised."""
    @property
    def has_unsure_appends(self) -> bool:
        """Whether several transactions appended the same element to a list."""
    @property
    def has_unsure_rows(self) -> bool:
        """Whether a recorded order shows a value that several transactions, or none, may have written."""

@final
class VersionsJudgement:
    """What the order of versions says of a history."""

    @property
    def outcomes(self) -> dict[str, str]:
        """For each level `holds`, `violated`, `untimed`, `search-too-long` or `contradictory`."""
    @property
    def counts(self) -> dict[str, int]:
        """How often each anomaly was found."""
    @property
    def findings(self) -> list[CycleFinding]: ...
    @property
    def ordered_keys(self) -> list[OrderedKeys]:
        """The strongest source first, but for keys that no source orders."""
    @property
    def has_incompatible_lists(self) -> bool:
        """Whether reads of a list contradict each other, so that no order of its versions explains all."""
    @property
    def explained(self) -> list[str]:
        """Levels that were decided by what may explain values that several transactions wrote."""
    @property
    def progress(self) -> dict[str, tuple[int, int, int, bool]]:
        """How far each search that was too long came: choices, conflicts, seconds, if memory ended it."""
    @property
    def unjudged(self) -> UnjudgedVersions: ...
    @property
    def witnesses(self) -> list[OrderWitness]:
        """Why levels hold, of those whose witness was asked for."""

@final
class OrderWitness:
    """An order that shows that a level holds, by the numbers of transactions and operations."""

    @property
    def level(self) -> str: ...
    @property
    def form(self) -> str:
        """What `order` lists: `order` transactions, `events` begins and commits, `versions` nothing."""
    @property
    def order(self) -> list[int]:
        """Transactions; of `events` each twice, its begin first."""
    @property
    def version_offsets(self) -> list[int]:
        """Where the versions of each key begin, and the end."""
    @property
    def versions(self) -> list[int]:
        """The writes that installed the versions of each key, the oldest first, without the initial one."""
    @property
    def took_effect(self) -> list[int]:
        """Indeterminate transactions that took effect."""
    @property
    def reads(self) -> list[WitnessRead]:
        """Reads that several writes may explain."""
    @property
    def source(self) -> str:
        """The source of the version order that is believed alone, if sources contradict each other."""
    @property
    def fault(self) -> str:
        """What the replay found wrong; empty unless a single read is wrong."""

@final
class WitnessRead:
    """A read, and the writes that it shows."""

    @property
    def read(self) -> int: ...
    @property
    def writes(self) -> list[int | None]:
        """One write, or those of the elements of a list; None for the initial state, or if none wrote it."""
    @property
    def is_list(self) -> bool: ...

def judge_versions(
    columns: Columns,
    *,
    claims: Sequence[str],
    max_anomalies: int,
    max_steps: int | None = None,
    max_bytes: int | None = None,
    max_seconds: float | None = None,
    asked: Sequence[str] | None = None,
    witnessed: Sequence[str] | None = None,
    of_items: bool = False,
) -> VersionsJudgement:
    """Judges all levels that speak of versions.

    If `of_items`, nothing follows from versions that came after what range reads left out.

    Of the levels `witnessed` that hold, an order is given that shows it; a level behind one that implies it
    has the same.

    `max_steps`, `max_bytes` and, level by level, `max_seconds` bound the search for an order of versions. It
    is made for the levels `asked`, and for others if one of these stays unknown; or for all.
    """

def ordered_keys(columns: Columns, *, claims: Sequence[str]) -> list[OrderedKeys]:
    """For each source: how many keys it orders, and how many of them to the last version."""

@final
class Dependency:
    """An edge of the dependency graph, by the numbers of transactions."""

    @property
    def before(self) -> int: ...
    @property
    def after(self) -> int: ...
    @property
    def relation(self) -> str:
        """`wr`, `ww` or `rw`."""

def dependencies(columns: Columns) -> list[Dependency]:
    """The edges of the dependency graph."""

@final
class EventGraph:
    """The dependency graph between operations, as columns; operations are numbered through the history."""

    @property
    def transactions(self) -> list[int]:
        """Transactions that count as committed and touch data."""
    @property
    def before(self) -> list[int]:
        """The earlier transaction of each edge."""
    @property
    def after(self) -> list[int]:
        """The later transaction of each edge."""
    @property
    def relations(self) -> list[str]:
        """`wr`, `ww` or `rw`."""
    @property
    def keys(self) -> list[int]:
        """The number of each edge's key."""
    @property
    def first(self) -> list[int]:
        """The operation of the earlier transaction."""
    @property
    def second(self) -> list[int]:
        """The operation of the later transaction."""
    @property
    def sources(self) -> list[str]:
        """How the order of the two versions is known."""
    @property
    def sessions(self) -> list[tuple[int, int]]:
        """Neighbours in a session."""
    @property
    def real_time(self) -> list[tuple[int, int]]:
        """Pairs in real-time order from which all others follow."""
    @property
    def wrong_reads(self) -> list[tuple[int, str]]:
        """Reads that no order of transactions explains, each with the name of an anomaly."""
    @property
    def repeated_reads(self) -> int:
        """Reads of values that several transactions wrote."""
    @property
    def unjudged_keys(self) -> int:
        """Keys whose reads are not judged: written and appended to, or deleted at times."""
    @property
    def is_complete(self) -> bool:
        """Whether all versions of all keys are in order."""
    @property
    def has_open_registers(self) -> bool:
        """Whether versions that may have been read are not in order."""
    @property
    def is_contradictory(self) -> bool:
        """Whether two sources order versions differently."""
    @property
    def has_unsure_keys(self) -> bool:
        """Whether an append or a recorded row may be of several transactions."""

def event_graph(columns: Columns) -> EventGraph:
    """The dependency graph between operations."""

@final
class GraphStatistics:
    """Sizes of the dependency graph; edges of a kind count once between two transactions."""

    @property
    def vertices(self) -> int: ...
    @property
    def wr(self) -> int: ...
    @property
    def ww(self) -> int: ...
    @property
    def rw(self) -> int: ...
    @property
    def edges(self) -> int:
        """Edges of all kinds."""
    @property
    def density(self) -> float:
        """Edges for each vertex."""
    @property
    def components(self) -> int:
        """Components with several transactions."""
    @property
    def largest_component(self) -> int: ...
    @property
    def traversals(self) -> int:
        """The lengths of all cycles that meet no transaction twice, added up."""
    @property
    def traversals_are_partial(self) -> bool:
        """Whether there were too many cycles to count."""

def graph_statistics(columns: Columns) -> GraphStatistics:
    """Sizes of the dependency graph."""

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

# The method of timestamps.

#: The anomalies that can contradict the clock, each with the axiom that it breaks.
CLOCK_AXIOMS: dict[str, str]

@final
class ClockFinding:
    """One contradiction between the history and the clock."""

    @property
    def name(self) -> str:
        """The name of the anomaly."""

    @property
    def axiom(self) -> str:
        """The axiom that it breaks."""

    @property
    def transaction(self) -> int:
        """The transaction that reads, or starts too early; of a conflict the one that committed first."""

    @property
    def other(self) -> int | None:
        """The other transaction, if there is one."""

    @property
    def key(self) -> Any: ...
    @property
    def operation(self) -> int | None:
        """The read; of a conflict the write of the first transaction."""

    @property
    def against(self) -> int | None:
        """The operation that it contradicts; None: the initial value."""

    @property
    def expected(self) -> list[Any]:
        """The elements of the list that a stale read should have shown."""

    @property
    def version_class(self) -> str | None:
        """The class of the version that a stale read shows."""

    @property
    def version_write(self) -> int | None:
        """The write that installed this version."""

@final
class ClockJudgement:
    """What the clock says of one level."""

    @property
    def level(self) -> str:
        """The level."""

    @property
    def counts(self) -> dict[str, int]:
        """How many there are of each anomaly that was found, by name."""

    @property
    def findings(self) -> list[ClockFinding]:
        """The first of each anomaly."""

    @property
    def ties(self) -> int:
        """Timestamps that belong to several transactions."""

    @property
    def untimed(self) -> int:
        """Transactions that lack a timestamp."""

    @property
    def untimed_keys(self) -> int:
        """Keys that these wrote."""

    @property
    def deleted_keys(self) -> list[Any]:
        """Keys that are not judged because some transaction deletes them."""

    @property
    def mixed_keys(self) -> list[Any]:
        """Keys that are both written and appended to."""

    @property
    def repeated_reads(self) -> int:
        """Reads that are right if a transaction took effect of which the client never learned the end."""

    @property
    def repeated_keys(self) -> list[Any]:
        """The keys of these reads."""

    @property
    def range_reads(self) -> int: ...

def clock_ties(columns: Columns, level: str) -> int:
    """Only puts the events in order: how many timestamps belong to several transactions."""

def judge_clock(
    columns: Columns, levels: Sequence[str], max_anomalies: int, window: tuple[int, int] | None = None
) -> list[ClockJudgement]:
    """Holds a history against the database's own clock, level by level.

    Events whose physical time is not in `window`, both ends included, only shape the state.
    """

class StreamRefused(Exception):  # noqa: N818
    """A history cannot be judged slice by slice: its arguments are the line, or 0, and the problem."""

@final
class StreamLimits:
    """How much of a stream is in memory at once."""

    def __new__(
        cls, *, run_bytes: int, block_bytes: int, suspect_reads: int, merged_runs: int
    ) -> StreamLimits: ...
    @property
    def run_bytes(self) -> int:
        """Bytes of a run before it is sorted and written."""

    @property
    def block_bytes(self) -> int:
        """Bytes that are read of a run at once."""

    @property
    def suspect_reads(self) -> int:
        """Reads that are looked up in one pass."""

    @property
    def merged_runs(self) -> int:
        """Runs that are read at the same time."""

@final
class ClockStream:
    """What the clock says of a stream."""

    @property
    def judgements(self) -> list[ClockJudgement]:
        """One for each level that was asked; none if the history has no timestamps."""

    @property
    def sizes(self) -> dict[str, int]:
        """How many sessions, transactions, operations and keys there are, and transactions of each status."""

    @property
    def evidence(self) -> list[str]:
        """The kinds of evidence."""

    @property
    def load_seconds(self) -> float:
        """Seconds until the slices came."""

    @property
    def sort_seconds(self) -> float:
        """Seconds until they were sorted."""
    def holds_list(self, key: Any) -> bool:
        """Whether some transaction uses a key as a list: then nil reads of it show the empty list."""

def judge_clock_stream(
    slices: Iterable[Columns], folder: str, *, levels: Sequence[str], max_anomalies: int, limits: StreamLimits
) -> ClockStream:
    """Holds a history against the database's own clock, level by level.

    The slices are iterated once, and sorted runs lie in the folder. Raises StreamRefused, or OSError if the
    disk is full.
    """

@final
class SnapshotUsed:
    """The snapshot that an operation of a finding was judged against."""

    @property
    def operation(self) -> int:
        """The operation that took the snapshot."""

    @property
    def interval(self) -> tuple[int, int | None] | None:
        """When the snapshot was taken; None if in the interval of this operation."""

@final
class MechanismFinding:
    """One counterexample."""

    @property
    def mechanism(self) -> str:
        """The mechanism that did not work."""

    @property
    def anomaly(self) -> str:
        """The name of its anomaly."""

    @property
    def case(self) -> str:
        """Which case of the anomaly it is."""

    @property
    def operations(self) -> list[int]:
        """The operations that show it, in the order that the case requires."""

    @property
    def snapshots(self) -> list[SnapshotUsed]:
        """The snapshot of each of these operations."""

@final
class MechanismCheck:
    """What was checked of one mechanism."""

    @property
    def mechanism(self) -> str:
        """The mechanism."""

    @property
    def anomaly(self) -> str:
        """The name of its anomaly."""

    @property
    def count(self) -> int:
        """How many findings there are."""

    @property
    def checked(self) -> int:
        """How many reads, locks, writes, transactions or orders were checked."""

    @property
    def undecided(self) -> int:
        """How many of them may be right or wrong."""

@final
class DependencyCount:
    """How many dependencies there are of one kind."""

    @property
    def kind(self) -> str:
        """`wr`, `ww` or `rw`."""

    @property
    def total(self) -> int:
        """All of them."""

    @property
    def overlapping(self) -> int:
        """Those whose intervals overlap."""

    @property
    def uncertain(self) -> int:
        """Those that no mechanism decides."""

@final
class MechanismsJudgement:
    """The answer for all mechanisms."""

    @property
    def checks(self) -> list[MechanismCheck]:
        """What was checked, for each mechanism."""

    @property
    def findings(self) -> list[MechanismFinding]:
        """The first findings of each mechanism."""

    @property
    def dependencies(self) -> list[DependencyCount]:
        """How many dependencies there are, for each kind."""

    @property
    def ordered(self) -> Columns | None:
        """The history with the order of versions that is certain, if that was asked for."""

def judge_intervals(
    columns: Columns,
    profile: Profile,
    *,
    clock_error: int,
    max_anomalies: int,
    orders_versions: bool = False,
) -> MechanismsJudgement:
    """Judges a history by the mechanisms of a profile.

    With `orders_versions`, the judgement has the history with the order of versions that is certain by the
    mechanisms, as one that it declares. Raises ValueError with the number of a transaction and what is wrong
    with it if one has no intervals.
    """

@final
class FindingNews:
    """A finding as it is announced."""

    @property
    def number(self) -> int:
        """1, 2, 3, ..."""

    @property
    def mechanism(self) -> str:
        """The mechanism that did not work."""

    @property
    def anomaly(self) -> str:
        """The name of its anomaly."""

    @property
    def case(self) -> str:
        """Which case of the anomaly it is."""

    @property
    def transaction(self) -> Any:
        """The id of the first transaction that shows it."""

    @property
    def other(self) -> Any:
        """The id of another one."""

    @property
    def key(self) -> Any:
        """The key that it is about."""

@final
class IntervalsReport:
    """Findings with the transactions that show them."""

    @property
    def columns(self) -> Columns:
        """The history of these transactions."""

    @property
    def places(self) -> list[tuple[int, int]]:
        """The session of each, and its place there."""

    @property
    def judgement(self) -> MechanismsJudgement:
        """The counts and the findings."""

@final
class IntervalsOnline:
    """Verifies the mechanisms of a profile while transactions arrive.

    It reads no clock: each call passes the time.
    """

    def __new__(
        cls,
        profile: Profile,
        *,
        clock_error: int,
        max_anomalies: int,
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
        """All later operations of this session begin at `time` or later."""

    def advance(self, now: int) -> None:
        """It is `now`: sessions that were silent for too long are not waited for."""

    def flush(self) -> None:
        """No more transactions come: all are judged."""

    def news(self) -> list[FindingNews]:
        """The findings since the last call."""

    def report(self) -> IntervalsReport:
        """All counts, with the first findings of each mechanism."""

    def recent(self, number: int) -> IntervalsReport | None:
        """One finding by the number of its news, if it is one of the last."""

    def checks(self) -> list[MechanismCheck]:
        """The counts of each mechanism."""

    def sizes(self) -> dict[str, int]:
        """How many transactions, operations, keys and sessions there are."""

    @property
    def watermark(self) -> int | None:
        """All operations that began before it are known; None if that is not so for any time."""

    def holding_back(self) -> list[Any]:
        """The session that holds the watermark back; empty if none does."""

    def save(self) -> bytes:
        """Everything, as bytes."""

    @staticmethod
    def load(data: bytes) -> IntervalsOnline:
        """The engine that was saved; raises ValueError if these are no bytes of one."""

@final
class ClockNews:
    """A finding that is new, or retracted."""

    @property
    def number(self) -> int:
        """1, 2, 3, ..."""

    @property
    def name(self) -> str:
        """The name of the anomaly."""

    @property
    def axiom(self) -> str:
        """The axiom that it breaks."""

    @property
    def transaction(self) -> Any:
        """The id of the transaction."""

    @property
    def other(self) -> Any:
        """The id of the other transaction, if there is one."""

    @property
    def key(self) -> Any: ...
    @property
    def is_retracted(self) -> bool:
        """Whether a late transaction showed that it is none."""

@final
class ClockReport:
    """The kept findings of an engine, and the transactions that show them."""

    @property
    def columns(self) -> Columns:
        """The transactions, in the order of arrival."""

    @property
    def sessions(self) -> list[int]:
        """The session of each, by the order of first appearance."""

    @property
    def places(self) -> list[int]:
        """The place of each in its session."""

    @property
    def judgement(self) -> ClockJudgement: ...

@final
class ClockStatus:
    """The counters of an engine; `isoscope.checkers.online.OnlineStatus` explains them."""

    @property
    def transactions(self) -> int: ...
    @property
    def aborted(self) -> int: ...
    @property
    def operations(self) -> int: ...
    @property
    def keys(self) -> int: ...
    @property
    def sessions(self) -> int: ...
    @property
    def live(self) -> int: ...
    @property
    def pending(self) -> int: ...
    @property
    def provisional(self) -> int: ...
    @property
    def counts(self) -> dict[str, int]: ...
    @property
    def repeated(self) -> int: ...
    @property
    def unverifiable(self) -> int: ...
    @property
    def unverifiable_reads(self) -> int: ...
    @property
    def overturned(self) -> int: ...
    @property
    def ties(self) -> int: ...
    @property
    def memory(self) -> int: ...
    @property
    def watermark(self) -> tuple[int, int] | None: ...

@final
class ClockStability:
    """How often answers changed before they were final."""

    @property
    def reads(self) -> list[int]:
        """Reads by the number of changes: once, twice, ..."""

    @property
    def transactions(self) -> list[int]:
        """The same of transactions."""

    @property
    def rectified(self) -> list[int]:
        """Stale answers that became right, by the bits of the nanoseconds that it took."""

@final
class ClockOnline:
    """Judges one level of the clock while transactions arrive; every call passes the time."""

    def __new__(
        cls, level: str, *, max_anomalies: int, timeout: int, keep: int, initial: Any
    ) -> ClockOnline: ...
    def admit(self, columns: Columns) -> None: ...
    def take(self, columns: Columns, now: int) -> int: ...
    def spill_to(self, folder: str, min_transactions: int) -> None: ...
    def save(self) -> bytes: ...
    @staticmethod
    def load(data: bytes) -> ClockOnline: ...
    @property
    def trouble(self) -> str | None: ...
    def advance(self, now: int) -> None: ...
    def flush(self) -> None: ...
    def news(self) -> list[ClockNews]: ...
    def report(self) -> ClockReport: ...
    def recent(self, number: int) -> ClockReport | None: ...
    def status(self) -> ClockStatus: ...
    def stability(self) -> ClockStability: ...

@final
class LatencyQuantiles:
    """Quantiles of latencies, by nearest rank."""

    @property
    def p50(self) -> int: ...
    @property
    def p95(self) -> int: ...
    @property
    def p99(self) -> int: ...
    @property
    def max(self) -> int: ...

@final
class ConcurrencyCounts:
    """How many transactions ran at once."""

    @property
    def total(self) -> int:
        """Added up over all instants: divided by their number, the mean."""
    @property
    def peak(self) -> int: ...

@final
class BucketCounts:
    """What transactions did in one bucket of time."""

    @property
    def committed(self) -> int: ...
    @property
    def aborted(self) -> int: ...
    @property
    def indeterminate(self) -> int: ...
    @property
    def latency(self) -> LatencyQuantiles | None: ...
    @property
    def concurrency(self) -> ConcurrencyCounts: ...

@final
class KeyUseCounts:
    """How many transactions use, read and write a key."""

    @property
    def key(self) -> Any: ...
    @property
    def transactions(self) -> int: ...
    @property
    def readers(self) -> int: ...
    @property
    def writers(self) -> int: ...

@final
class ActivityCounts:
    """What transactions did in the course of a history."""

    @property
    def clock(self) -> str:
        """`client`, `database`, `events` or `appearance`."""
    @property
    def first(self) -> int:
        """The first instant, where the first bucket begins."""
    @property
    def length(self) -> int:
        """Instants from the first to the last, both counted."""
    @property
    def width(self) -> int:
        """Instants in a bucket; the last may have fewer."""
    @property
    def untimed(self) -> int:
        """Transactions of which no instant is known: they are in no bucket."""
    @property
    def open(self) -> int:
        """Transactions of which not both ends are known."""
    @property
    def buckets(self) -> list[BucketCounts]: ...
    @property
    def latency(self) -> LatencyQuantiles | None: ...
    @property
    def concurrency(self) -> ConcurrencyCounts: ...
    @property
    def keys(self) -> list[KeyUseCounts]: ...
    @property
    def keys_by_use(self) -> list[int]:
        """At `n`: keys that 2**n transactions use or more, but fewer than 2**(n + 1)."""

def activity(columns: Columns, buckets: int, keys: int) -> ActivityCounts:
    """What transactions did, in at most so many `buckets`, and the `keys` that most of them use."""

@final
class Itemised:
    """A history with reads in the place of range reads."""

    @property
    def columns(self) -> Columns | None:
        """The history; None if there would be too many reads."""
    @property
    def origins(self) -> list[int]:
        """The recorded operation of each operation."""
    @property
    def excess(self) -> int | None:
        """How many reads there would be, if they are too many."""

def itemised(columns: Columns, *, most: int = ...) -> Itemised:
    """The same history with reads in the place of range reads, if these are no more than `most`."""

def sub_history(columns: Columns, transactions: Sequence[int], without: Sequence[int]) -> Columns:
    """The sub-history with these transactions, `without` these operations and what goes with them."""

def with_transactions_read_from(columns: Columns, transactions: Sequence[int]) -> list[int]:
    """These transactions and those that must stay if all their reads are to stay."""

def with_transactions_on_same_keys(columns: Columns, transactions: Sequence[int]) -> list[int]:
    """These transactions and all others with an operation on one of their keys."""

@final
class Dispatched:
    """How the items of all clients were dispatched."""

    @property
    def items(self) -> int:
        """How many items there were."""

    @property
    def batches(self) -> int:
        """In how many batches."""

    @property
    def in_order(self) -> bool:
        """Whether all came in order."""

    @property
    def max_waiting(self) -> int:
        """The largest number of items that waited at once."""

def dispatch_times(
    clients: Sequence[Buffer], *, way: Literal["pipeline", "plain", "naive"], capacity: int
) -> Dispatched:
    """Dispatches the items of clients, each given by its times in order.

    `plain` and `naive` are there only in a build with the feature `baselines`.
    """
