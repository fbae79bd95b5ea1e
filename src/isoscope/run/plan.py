"""A planned run: workload x database, its live verification, its result and what that says of the promise."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from isoscope import checkers, databases, plugins, profiles
from isoscope.databases.database import refuse_unknown
from isoscope.errors import UsageError
from isoscope.levels import Level
from isoscope.run import sessions
from isoscope.run.active_sessions import default_sessions
from isoscope.run.guarded_workload import GuardedWorkload
from isoscope.run.hermitage import HERMITAGE
from isoscope.run.local_verification import LocalVerification
from isoscope.run.result import Limits
from isoscope.run.service_verification import ServiceVerification
from isoscope.verdict import Origin
from isoscope.workloads import CLIENTS, client_workload

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from isoscope.databases.database import Database
    from isoscope.history import History
    from isoscope.run.faults import FaultPlan
    from isoscope.run.history_log import HistoryLog
    from isoscope.run.result import Progress, Run
    from isoscope.run.verification import SentSummary, Verification, VerifiedSummary
    from isoscope.verdict import Report
    from isoscope.workloads.clients import ClientWorkload

__all__ = ["DEFAULT_SECONDS", "CompletedRun", "Plan", "execute", "verify_live"]

#: Seconds of a run that has no other limit.
DEFAULT_SECONDS = 10.0
DEFAULT_WORKLOAD = "key-value"
#: Databases in which more sessions, by default, would only abort each other: SQLite has one writer.
_MOST_SESSIONS = {"sqlite": 3}
#: Sessions of a run on several nodes, or with faults.
_OF_NODES = 6
_NOTHING: Mapping[str, Any] = MappingProxyType({})
_PAST = (
    "--live judges reads by the time at which they were made, and nodes of {} may show the past\n\n"
    "hint: leave out --live: the history is checked when the run ends. With --profile NAME they are judged "
    "all the same"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A workload, the database that it will run on, and when the run ends."""

    database: Database
    settings: Mapping[str, str]
    workload: str
    clients: ClientWorkload
    seed: int
    limits: Limits
    faults: FaultPlan | None = None

    @classmethod
    def of(  # noqa: PLR0913 - all but the first are seldom needed
        cls,
        target: str,
        *,
        isolation: str | None = None,
        settings: Mapping[str, str] = _NOTHING,
        workload: str = DEFAULT_WORKLOAD,
        parameters: Mapping[str, Any] = _NOTHING,
        seed: int = 0,
        limits: Limits | None = None,
        driver: str | None = None,
        urls: Sequence[str] = (),
        nodes: int | None = None,
        faults: FaultPlan | None = None,
    ) -> Plan:
        """`target` is the name of a database or a URL; the default isolation is the database's first.

        `driver` is `module:Class` of a driver of your own, and `target` then its URL, or empty. Without a
        limit, the run takes ten seconds. `urls` are further nodes of the database at `target`; `nodes` is how
        many are started. Raises `UsageError` if a name or a parameter is unknown.
        """
        if workload not in CLIENTS and not plugins.is_path(workload):
            refuse_unknown("workload", workload, [*CLIENTS, HERMITAGE, *plugins.names("workload")])
        limits = limits or Limits()
        if limits.seconds is None and limits.transactions is None:
            limits = replace(limits, seconds=DEFAULT_SECONDS)
        database = databases.connect(
            target, isolation=isolation, settings=settings, driver_path=driver, urls=urls, nodes=nodes
        )
        if workload == DEFAULT_WORKLOAD and "sessions" not in parameters:
            # At a standby, all transactions that write are aborted: that is no reason for fewer sessions.
            is_alone = not urls and nodes is None and faults is None
            limits = replace(limits, adapts=is_alone)
            count = default_sessions(_MOST_SESSIONS.get(database.NAME))
            parameters = {**parameters, "sessions": count if is_alone else max(count, _OF_NODES)}
        clients = client_workload(workload, {**parameters, "seed": seed})
        return cls(
            database=database,
            settings=settings,
            workload=workload,
            clients=clients if workload in CLIENTS else GuardedWorkload(workload, clients),
            seed=seed,
            limits=limits,
            faults=faults,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletedRun:
    """A run, what it was asked to be, and what the database promised.

    `verification` says what a live verification did, `mechanisms` what it found if it was in this process.
    """

    plan: Plan = field(repr=False)
    run: Run
    promises: tuple[Level, ...]
    verification: VerifiedSummary | SentSummary | None = None
    mechanisms: Report | None = field(default=None, repr=False)

    @property
    def isolation(self) -> str:
        """The isolation that sessions asked for."""
        return self.plan.database.isolation

    @property
    def history(self) -> History:
        """The history; raises ValueError if nothing was recorded."""
        if self.run.history is None:
            raise ValueError("the run was not recorded")
        return self.run.history

    def check(
        self,
        history: History | None = None,
        *,
        levels: tuple[Level, ...] = (),
        also: Iterable[Level] = (),
        max_anomalies: int = 1,
        time_limit: float = checkers.TIME_LIMIT,
    ) -> Report:
        """Checks the history, or the same one in a file, and adds what the live verification found.

        Without `levels`, those that the evidence can decide and those that were promised, and `also` others.
        """
        history = self.history if history is None else history
        chosen = levels or {*checkers.default_levels(history), *self.promises}
        asked = [level for level in Level if level in {*chosen, *also}]
        report = checkers.check(history, asked, max_anomalies=max_anomalies, time_limit=time_limit)
        live = None if self.mechanisms is None else self.mechanisms.mechanisms
        return replace(
            report, mechanisms=live, promises=self.promises, origin=self.origin, asked=tuple(levels)
        )

    @property
    def origin(self) -> Origin:
        """The database, its isolation, and what was committed in how many seconds."""
        name, version = _name_and_version(self.run.database)
        profile = profiles.of(self.plan.database.NAME, self.isolation, self.plan.settings)
        return Origin(
            database=name,
            version=version,
            isolation=self.isolation.replace("-", " ").upper(),
            documented="" if profile is None else profiles.load(profile).documented,
            seconds=self.run.progress.seconds,
            committed=self.run.progress.committed,
        )

    def document(self) -> dict[str, Any]:
        """The run as JSON."""
        progress = self.run.progress
        return {
            "database": self.run.database,
            "isolation": self.isolation,
            "settings": dict(self.plan.settings),
            "workload": self.plan.workload,
            "sessions": self.plan.clients.sessions,
            "seed": self.plan.seed,
            "seconds": round(progress.seconds, 6),
            "committed": progress.committed,
            "aborted": progress.aborted,
            "indeterminate": progress.indeterminate,
            "operations": progress.operations,
            "reasons": dict(self.run.reasons.most_common()),
            "promises": [str(level) for level in self.promises],
            "problem": self.run.problem,
            "interrupted": self.run.interrupted,
            "active_sessions": self.run.active_sessions,
            "found_violation": self.run.found_violation,
            **({"nodes": list(self.run.nodes)} if self.run.nodes else {}),
            **({"faults": [fault.document() for fault in self.run.faults]} if self.run.faults else {}),
        }


def _name_and_version(told: str) -> tuple[str, str]:
    """Both parts of what a database calls itself, such as `MariaDB 10.11.6, no order of versions: ...`."""
    name, _, version = told.partition(",")[0].rpartition(" ")
    return (name, version) if name and version[:1].isdigit() else (told.partition(",")[0], "")


def execute(
    plan: Plan,
    *,
    record: bool = True,
    verification: Verification | None = None,
    log: HistoryLog | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> CompletedRun:
    """Runs the plan, as `run` does."""
    ran = sessions.run(
        plan.database,
        plan.clients,
        plan.limits,
        record=record,
        sink=verification,
        log=log,
        faults=plan.faults,
        progress=progress,
    )
    return CompletedRun(
        plan=plan,
        run=ran,
        promises=plan.database.promises,  # only a database that was opened knows all of them
        verification=None if verification is None else verification.summary(),
        mechanisms=None if verification is None else verification.report(),
    )


def verify_live(
    plan: Plan, *, url: str | None = None, profile: str | None = None, max_anomalies: int = 1
) -> Verification:
    """A verification for `execute`: by the service at `url`, or else in this process.

    The default profile is that of the database, its isolation and its settings. Raises `UsageError` if there
    is none, if the service checks another one, or if reads may show the past, which no profile expects.
    """
    database = plan.database
    past = _PAST.format(database.NAME) if database.shows_past and profile is None else ""
    name = profile or profiles.of(database.NAME, database.isolation, plan.settings)
    if url is not None:
        known = None if name is None else profiles.load(name).name
        return ServiceVerification(url, profile=known, sessions=plan.clients.sessions, unfit=past)
    if past:
        raise UsageError(past)
    if name is None:
        raise UsageError(
            f"no profile says what {database.NAME} promises at {database.isolation}\n\n"
            "hint: --profile names one; `isoscope profiles` lists them"
        )
    return LocalVerification(profiles.load(name), sessions=plan.clients.sessions, max_anomalies=max_anomalies)
