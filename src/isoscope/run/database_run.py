"""A run in one call: workload, live verification, check, and whether the promise was kept."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

from isoscope import formats
from isoscope import levels as lattice
from isoscope.run.faults import DEFAULT_EVERY, FaultPlan
from isoscope.run.plan import Plan, execute, verify_live
from isoscope.run.result import Limits

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from isoscope.history import History
    from isoscope.levels import Level
    from isoscope.run.plan import CompletedRun
    from isoscope.run.result import Progress
    from isoscope.verdict import Answer, Report

__all__ = ["DatabaseRun", "run_database"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class DatabaseRun:
    """A run and its report; `print(result)` shows both, the answer first."""

    completed: CompletedRun = field(repr=False)
    report: Report = field(repr=False)

    @property
    def history(self) -> History:
        """Everything that the sessions did and saw."""
        return self.completed.history

    @property
    def answer(self) -> Answer:
        """Whether the database kept its promise: `answer.outcome`, and the sentence as `str(answer)`."""
        return self.report.answer

    @property
    def progress(self) -> Progress:
        """How long the run took, and how many transactions committed and aborted."""
        return self.completed.run.progress

    def __bool__(self) -> NoReturn:
        raise TypeError("the answer is yes, no or not decided: compare `.answer.outcome`, not truth")

    def __str__(self) -> str:
        return str(self.report)

    def __repr__(self) -> str:
        return f"<DatabaseRun {self.answer}>"


def run_database(  # noqa: PLR0913 - all but the first are seldom needed
    target: str = "",
    levels: Level | str | Iterable[Level | str] | None = None,
    *,
    driver: str | None = None,
    isolation: str | None = None,
    workload: str = "key-value",
    seconds: float | None = None,
    transactions: int | None = None,
    rate: float | None = None,
    retries: int = 0,
    until_violated: bool = False,
    seed: int = 0,
    settings: Mapping[str, str] | None = None,
    urls: Sequence[str] = (),
    nodes: int | None = None,
    faults: str | None = None,
    every: float = DEFAULT_EVERY,
    live: bool | str = False,
    profile: str | None = None,
    out: str | os.PathLike[str] | None = None,
    max_anomalies: int = 1,
    progress: Callable[[Progress], None] | None = None,
    **parameters: Any,
) -> DatabaseRun:
    """Run a workload on a database and check what it promises.

    target         `sqlite`, `duckdb`, `postgresql`, `mariadb`, `etcd`, `galera` or `simulated`, made or
                   started for this run, or a URL such as `postgresql://user:password@host/name`
    driver         `module:Class` of a driver of your own; then `target` is its URL, or empty
    levels         levels to check instead of what is promised, by any of their names
    isolation      the isolation that sessions ask for; by default the first of the database
    workload       what sessions do: `key-value`, `list-append`, `rw-register`, `smallbank`, ...
    seconds        end after this time; 10, unless `transactions` is given
    transactions   end after so many transactions, aborted ones included
    rate           try no more transactions a second than this
    retries        do what was aborted so many times again, as new transactions
    until_violated end when a promised level is violated, and not only by time
    seed           of the workload
    settings       of the database, as `{"journal": "wal"}`
    urls           of further nodes of the database at `target`; sessions are spread over them
    nodes          how many nodes are started, of `postgresql`, `etcd` or `galera`
    faults         to inject meanwhile: `kill,pause` at random, or `kill@5s:n2,pause@12s`
    every          seconds from one random fault to the next; each lasts for half of them
    live           verify while it runs: True in this process, or the URL of an `isoscope serve`
    profile        what the live verification looks for; by default the profile of the database
    out            a file for the history; its format follows from its name
    max_anomalies  counterexamples that are kept of each anomaly; all are counted
    progress       called several times a second
    parameters     of the workload: `sessions`, `keys`, `read_ratio`, `min_txn_length`, ...

    The result has `answer` (yes, no or not decided), `report`, `history` and `progress`. Raises `UsageError`
    if a name or a parameter is unknown, and `DatabaseError` if the database cannot be started or reached.

        result = isoscope.run("sqlite", isolation="read-uncommitted", seconds=3)
        print(result)
    """
    plan = Plan.of(
        target,
        driver=driver,
        isolation=isolation,
        settings=settings or {},
        workload=workload,
        parameters=parameters,
        seed=seed,
        limits=Limits(
            seconds=seconds,
            transactions=transactions,
            rate=rate,
            retries=retries,
            until_violated=until_violated,
        ),
        urls=urls,
        nodes=nodes,
        faults=None if faults is None else FaultPlan.parse(faults, every=every, seed=seed),
    )
    asked = [levels] if isinstance(levels, str) else levels or ()
    named = tuple(lattice.parse(str(level)) for level in asked)
    verification = None
    if live is not False:
        url = live if isinstance(live, str) else None
        verification = verify_live(plan, url=url, profile=profile, max_anomalies=max_anomalies)
    completed = execute(plan, verification=verification, progress=progress)
    if completed.run.error is not None:
        raise completed.run.error
    if out is not None:
        formats.save(completed.history, out)
    return DatabaseRun(completed=completed, report=completed.check(levels=named, max_anomalies=max_anomalies))
