"""A campaign: many runs over databases, isolations, workloads, faults and seeds, and what they found.

Every run that ends is one line of `runs.jsonl` in the folder of the campaign, so that a campaign that was
interrupted goes on where it was. Anomalies of the same shape are one finding: the history of the first is
shrunk to the few transactions that show it. The history of a run that broke a promise is kept as a whole.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from itertools import product
from time import monotonic
from typing import TYPE_CHECKING, Any

from isoscope import checkers, explain, formats, levels
from isoscope.databases.database import without_password
from isoscope.databases.nodes import MOST_NODES
from isoscope.errors import IsoscopeError, UsageError
from isoscope.run.faults import FaultPlan
from isoscope.run.plan import Plan, execute
from isoscope.run.result import Limits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from isoscope.history import History
    from isoscope.levels import Level
    from isoscope.run.plan import CompletedRun
    from isoscope.verdict import Finding, Report

__all__ = ["Campaign", "Combination", "FoundAnomaly", "RunRecord", "combinations"]

_RUNS = "runs.jsonl"
#: The most transactions from which the search for a small example starts: from more, it would take too long.
_SHRUNK_BELOW = 50_000
#: Seconds for the check of one run.
_TIME_LIMIT = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Combination:
    """One point of the grid; `database` is a name with settings, as `galera,wsrep_sync_wait=1,nodes=3`.

    Of a URL it has no password, since it is printed and written to files; `target` is the whole.
    """

    database: str
    isolation: str
    workload: str
    faults: str
    seed: int
    target: str = field(default="", compare=False, repr=False)

    @property
    def name(self) -> str:
        """A name for files."""
        parts = (self.database, self.isolation, self.workload, self.faults or "no-faults", str(self.seed))
        return "-".join(parts).replace(",", "-").replace("=", "-").replace(":", "-").replace("/", "-")

    def plan(self, seconds: float, every: float, parameters: Mapping[str, Any]) -> Plan:
        """The run; raises `UsageError` if there is no such database, setting, parameter or fault."""
        target, settings, nodes = _parsed(self.target or self.database)
        faults = FaultPlan.parse(self.faults, every=every, seed=self.seed) if self.faults else None
        return Plan.of(
            target,
            isolation=self.isolation,
            settings=settings,
            workload=self.workload,
            parameters=parameters,
            seed=self.seed,
            limits=Limits(seconds=seconds),
            nodes=nodes,
            faults=faults,
        )


#: What a file has of a combination.
_KEPT = tuple(name for name in Combination.__slots__ if name != "target")


def combinations(
    databases: Sequence[str],
    *,
    isolations: Sequence[str] = (),
    workloads: Sequence[str] = ("key-value",),
    faults: Sequence[str] = ("",),
    seeds: int = 1,
) -> list[Combination]:
    """The grid, seed by seed: a short budget sees every database once before any twice.

    Without `isolations`, every isolation of each database; those that a database does not have are left out.
    Raises `UsageError` for what no database of the grid has.
    """
    for kinds in filter(None, faults):
        problems = [_problem_with(database, kinds) for database in databases]
        if None not in problems:
            raise UsageError(str(problems[0]))
    found = []
    for seed, database, workload, fault in product(range(seeds), databases, workloads, faults):
        target, settings, nodes = _parsed(database)
        # Raises for an unknown database or setting before anything runs.
        known = list(Plan.of(target, settings=settings, workload=workload, nodes=nodes).database.ISOLATIONS)
        shown = without_password(database)
        found += [
            Combination(
                database=shown, isolation=name, workload=workload, faults=fault, seed=seed, target=database
            )
            for name in known
            if not isolations or name in isolations
        ]
    if not found:
        raise UsageError(
            f"no database of the campaign has an isolation {' or '.join(isolations)}\n\n"
            "hint: `isoscope databases` lists those of each database"
        )
    return found


def _problem_with(database: str, kinds: str) -> UsageError | None:
    """Why faults of these kinds cannot be injected into a database; None if they can be."""
    target, settings, nodes = _parsed(database)
    plan = Plan.of(target, settings=settings, nodes=nodes, faults=FaultPlan.parse(kinds))
    try:
        plan.database.use_faults(FaultPlan.parse(kinds).kinds)
    except UsageError as error:
        return error
    return None


def _parsed(database: str) -> tuple[str, dict[str, str], int | None]:
    """The name, the settings and the number of nodes."""
    name, *parts = database.split(",")
    shown, settings = without_password(database), dict[str, str]()
    for part in parts:
        setting, equals, value = part.partition("=")
        if not equals:
            raise UsageError(f"{shown}: expected a name with settings, as galera,wsrep_sync_wait=1,nodes=3")
        if setting in settings:
            raise UsageError(f"{shown}: `{setting}` is there twice")
        settings[setting] = value
    nodes = settings.pop("nodes", None)
    if nodes is not None and not (nodes.isdecimal() and 1 <= int(nodes) <= MOST_NODES):
        raise UsageError(f"{shown}: `nodes` is a number from 1 to {MOST_NODES}, not `{nodes}`")
    return name, settings, None if nodes is None else int(nodes)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundAnomaly:
    """An anomaly of one run; `pattern` are the relations of its steps, `is_broken` if it breaks a promise."""

    name: str
    count: int
    level: str
    pattern: str
    is_broken: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """What is kept of a run: its answer and the anomalies, or the problem that ended it."""

    combination: Combination
    database: str = ""
    answer: str = ""
    sentence: str = ""
    promises: tuple[str, ...] = ()
    committed: int = 0
    seconds: float = 0.0
    faults: int = 0
    problem: str = ""
    anomalies: tuple[FoundAnomaly, ...] = field(default=())

    def document(self) -> dict[str, Any]:
        """The record as JSON."""
        found = {name: getattr(self, name) for name in self.__slots__ if name != "combination"}
        found["promises"] = list(self.promises)
        found["anomalies"] = [{name: getattr(one, name) for name in one.__slots__} for one in self.anomalies]
        return {**{name: getattr(self.combination, name) for name in _KEPT}, **_run(found)}

    @classmethod
    def of(cls, document: dict[str, Any]) -> RunRecord:
        """The record of a document. Raises KeyError or TypeError if it is none."""
        run = document["run"]
        told = {**run, "promises": tuple(run["promises"])}
        told["anomalies"] = tuple(FoundAnomaly(**one) for one in run["anomalies"])
        return cls(combination=Combination(**{name: document[name] for name in _KEPT}), **told)

    def shape(self, one: FoundAnomaly) -> tuple[str, ...]:
        """What makes two findings the same: database, isolation, level, anomaly and pattern."""
        return self.combination.database, self.combination.isolation, one.level, one.name, one.pattern


def _run(found: dict[str, Any]) -> dict[str, Any]:
    return {"run": found}


class Campaign:
    """The runs of a grid in a folder; `run` goes on until all are done or the budget is spent."""

    def __init__(
        self,
        folder: Path,
        grid: Sequence[Combination],
        *,
        seconds: float,
        every: float,
        parameters: Mapping[str, Any],
    ) -> None:
        self.folder, self.grid, self._seconds, self._every = folder, list(grid), seconds, every
        self._parameters = parameters
        self.records = list(_records(folder / _RUNS))

    @property
    def left(self) -> list[Combination]:
        """The combinations that have not run yet."""
        done = {record.combination for record in self.records}
        return [one for one in self.grid if one not in done]

    def run(
        self,
        *,
        budget: float,
        starts: Callable[[Combination, int, int], None],
        kept: Callable[[RunRecord, FoundAnomaly, CompletedRun, History], None],
    ) -> None:
        """Runs what is left; `starts` is called before each run, `kept` for each finding of a new shape.

        Raises KeyboardInterrupt if a run was interrupted. That run is not kept.
        """
        end = monotonic() + budget
        shapes = {record.shape(one) for record in self.records for one in record.anomalies}
        left = self.left
        for number, combination in enumerate(left, start=len(self.grid) - len(left) + 1):
            if monotonic() >= end:
                return
            starts(combination, number, len(self.grid))
            record, completed, report = self._one(combination)
            if completed is not None and completed.run.interrupted:
                raise KeyboardInterrupt  # Ctrl-C means the campaign, and this run was cut short.
            for one in record.anomalies:
                if record.shape(one) not in shapes and completed is not None and report is not None:
                    shapes.add(record.shape(one))
                    kept(record, one, completed, self._shrunk(completed, report, one))
            self._keep(record)

    def _one(self, combination: Combination) -> tuple[RunRecord, CompletedRun | None, Report | None]:
        """One run; a database that cannot be run is a record with a problem, and not the end."""
        try:
            completed = execute(combination.plan(self._seconds, self._every, self._parameters))
        except IsoscopeError as error:
            return RunRecord(combination=combination, problem=str(error).partition("\n")[0]), None, None
        report = completed.check(time_limit=_TIME_LIMIT)
        broken = report.answer.broken
        record = RunRecord(
            combination=combination,
            database=completed.run.database,
            answer=str(report.answer.outcome),
            sentence=report.answer.sentence,
            promises=tuple(map(str, completed.promises)),
            committed=completed.run.progress.committed,
            seconds=round(completed.run.progress.seconds, 3),
            faults=len(completed.run.faults),
            problem=completed.run.problem or "",
            anomalies=tuple(_anomalies(report)),
        )
        if broken:
            formats.save(completed.history, self.folder / f"{combination.name}.parquet")
        return record, completed, report

    def _shrunk(self, completed: CompletedRun, report: Report, one: FoundAnomaly) -> History:
        """The few transactions of a history that show an anomaly, or all if no start is short enough."""
        history, level = completed.history, levels.parse(one.level)
        near = next(finding.anomalies for finding in report.findings if finding.name == one.name)

        def shows(part: History) -> bool:
            if len(part) > _SHRUNK_BELOW:
                return False
            [verdict] = checkers.check(part, [level], max_anomalies=1, time_limit=_TIME_LIMIT).verdicts
            return one.name in verdict.anomaly_counts

        try:
            return explain.shrink(history, shows, near=near) if near else history
        except ValueError:  # No part that was tried shows it.
            return history

    def _keep(self, record: RunRecord) -> None:
        self.records.append(record)
        with (self.folder / _RUNS).open("a", encoding="utf-8") as file:
            file.write(json.dumps(record.document(), ensure_ascii=False) + "\n")


def _anomalies(report: Report) -> Iterator[FoundAnomaly]:
    for finding in report.findings:
        if finding.levels:
            yield FoundAnomaly(
                name=finding.name,
                count=finding.count,
                level=str(_weakest(finding)),
                pattern=_pattern(finding),
                is_broken=finding.counts,
            )


def _weakest(finding: Finding) -> Level:
    return levels.weakest(finding.levels)[0]


def _pattern(finding: Finding) -> str:
    """The relations of the first example, from the smallest rotation: a cycle has no first step."""
    if not finding.anomalies:
        return ""
    relations = [step.relation for step in finding.anomalies[0].steps]
    turns = (relations[place:] + relations[:place] for place in range(len(relations)))
    return " ".join(min(turns, default=[]))


def _records(path: Path) -> Iterator[RunRecord]:
    """The records of a campaign that was begun before.

    What did not run is run again, and so is a line that was cut off.
    """
    if not path.exists():
        return
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            record = RunRecord.of(json.loads(line))
        except (KeyError, TypeError, ValueError):
            continue
        if record.answer:
            yield record
