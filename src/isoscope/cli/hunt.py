"""`isoscope hunt`: a campaign over databases, isolations, workloads, faults and seeds."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from isoscope import checkers, formats, levels
from isoscope.cli.cluster_options import Duration
from isoscope.cli.exit_status import UNDECIDED, VIOLATED
from isoscope.cli.progress import Line
from isoscope.errors import UsageError
from isoscope.reports.campaign import (
    CampaignFinding,
    CampaignRow,
    campaign_answer,
    campaign_outcome,
    render_campaign,
    render_campaign_markdown,
)
from isoscope.reports.html import render_html
from isoscope.run.campaign import Campaign, combinations
from isoscope.run.faults import DEFAULT_EVERY
from isoscope.verdict import Decision

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isoscope.history import History
    from isoscope.run import CompletedRun
    from isoscope.run.campaign import Combination, FoundAnomaly, RunRecord

__all__ = ["command"]

_FINDINGS = "findings.jsonl"
#: The answers of runs, and what the table says of them.
_OUTCOMES = {"no": "broken", "not-decided": "not decided", "yes": "kept", "not-asked": "nothing promised"}


@click.command("hunt")
@click.argument("databases", metavar="DATABASE...", nargs=-1, required=True)
@click.option("--out", "folder", required=True, metavar="FOLDER", type=click.Path(path_type=Path),
              help="Where histories, reports and the page go; a campaign that is there goes on.")  # fmt: skip
@click.option("--budget", type=Duration(), default=600.0, show_default="10m", metavar="DURATION",
              help="Begin no run after this time.")  # fmt: skip
@click.option("--seconds", type=Duration(), default=10.0, show_default="10s", metavar="DURATION",
              help="Time of each run.")  # fmt: skip
@click.option("--isolation", "isolations", multiple=True, metavar="NAME",
              help="Isolation to run; may be repeated. By default all of each database.")  # fmt: skip
@click.option("--workload", "workloads", multiple=True, default=("key-value",), show_default=True,
              metavar="NAME", help="Workload to run; may be repeated.")  # fmt: skip
@click.option("--faults", multiple=True, metavar="KINDS",
              help="Faults to inject, as for `isoscope run`, or none; may be repeated.")  # fmt: skip
@click.option("--every", type=Duration(), default=DEFAULT_EVERY, show_default="5s", metavar="DURATION",
              help="Time from one random fault to the next.")  # fmt: skip
@click.option("--sessions", type=click.IntRange(1, 2**16), help="Connections of each run.")
@click.option("--keys", type=click.IntRange(1, 2**28), help="Keys of each run: few keys, many conflicts.")
@click.option("--seeds", default=1, show_default=True, type=click.IntRange(1, 10**6),
              help="Runs of each combination, with seeds from 0.")  # fmt: skip
def command(
    databases: tuple[str, ...], *, folder: Path, budget: float, seconds: float, every: float, **given: Any
) -> int:
    """Run many combinations, and keep every anomaly of a new shape.

    DATABASE is a name with settings: postgresql, galera,innodb_snapshot_isolation=ON or postgresql,nodes=2.
    The grid is databases x isolations x workloads x faults x seeds. Each run is checked. Of anomalies with
    the same database, isolation, level, name and steps, the first is kept: its history is shrunk and gets a
    report. The history of a run that broke a promise is kept as a whole. FOLDER/index.html has a table of all
    databases and anomalies, with links.

    The same command goes on with a campaign that was interrupted, and a larger --seeds adds to it. Ctrl-C
    ends the campaign; the run that it cuts off is made again then, and so is one that could not begin.

    \b
    Exits 0 if every database kept its promises, 1 if one broke one, 3 if one is not decided or did not run,
    2 if something went wrong.

    \b
    Examples:
        isoscope hunt sqlite duckdb --out campaign --seconds 3s
        isoscope hunt galera,nodes=3 etcd,nodes=3 --faults none --faults kill,pause,partition --out nightly
          --budget 8h --seconds 1m --seeds 100
    """
    faults = ["" if kinds == "none" else kinds for kinds in given["faults"]] or [""]
    grid = combinations(
        databases,
        isolations=given["isolations"],
        workloads=given["workloads"],
        faults=faults,
        seeds=given["seeds"],
    )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--out {folder}: {error.strerror}") from None
    parameters = {name: given[name] for name in ("sessions", "keys") if given[name] is not None}
    campaign = Campaign(folder, grid, seconds=seconds, every=every, parameters=parameters)
    kept = _Findings(folder)
    with Line() as line:

        def starts(combination: Combination, number: int, count: int) -> None:
            text = f"run {number:,} of {count:,}: {_said(combination)}; {len(kept.findings):,} findings"
            line.show(text)
            if not line.changes:
                click.echo(text, err=True)

        try:
            campaign.run(budget=budget, starts=starts, kept=kept.add)
        except KeyboardInterrupt:
            click.echo("interrupted: the same command goes on", err=True)
        else:
            if campaign.left:
                click.echo("the budget is spent: the same command goes on", err=True)
    return _write(campaign, kept.findings)


def _said(one: Combination) -> str:
    return ", ".join(
        filter(None, [one.database, one.isolation, one.workload, one.faults, f"seed {one.seed}"])
    )


@dataclass(slots=True)
class _Findings:
    """The findings in the folder of a campaign, each with its history and its report."""

    folder: Path
    findings: list[CampaignFinding]

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        path = folder / _FINDINGS
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        self.findings = [CampaignFinding(**json.loads(line)) for line in lines]

    def add(self, record: RunRecord, one: FoundAnomaly, completed: CompletedRun, part: History) -> None:
        """Writes the shrunk history, its report, and a line for both."""
        number = len(self.findings) + 1
        # Of a URL, only what is before the colon can be part of the name of a file.
        database = record.combination.database.partition(",")[0].partition(":")[0]
        name = f"{number:03d}-{database}-{one.name}"
        formats.save(part, self.folder / f"{name}.parquet")
        report = checkers.check(formats.load(self.folder / f"{name}.parquet"), [levels.parse(one.level)])
        page = render_html(report, folder=str(self.folder))
        (self.folder / f"{name}.html").write_text(page, encoding="utf-8")
        finding = CampaignFinding(
            database=record.combination.database,
            isolation=completed.isolation,
            anomaly=one.name,
            level=one.level,
            pattern=one.pattern,
            is_broken=one.is_broken,
            transactions=len(part),
            report=f"{name}.html",
            history=f"{name}.parquet",
        )
        self.findings.append(finding)
        fields = {field: getattr(finding, field) for field in CampaignFinding.__slots__}
        with (self.folder / _FINDINGS).open("a", encoding="utf-8") as file:
            file.write(json.dumps(fields, ensure_ascii=False) + "\n")


def _write(campaign: Campaign, findings: list[CampaignFinding]) -> int:
    """Writes the page; the exit status."""
    rows = list(_rows(campaign.records))
    page = render_campaign(str(campaign.folder), rows, findings, len(campaign.left))
    (campaign.folder / "index.html").write_text(page, encoding="utf-8")
    (campaign.folder / "findings.md").write_text(render_campaign_markdown(rows, findings), encoding="utf-8")
    click.echo(campaign_answer(rows, findings, len(campaign.left)))
    for row in rows:
        said = ", ".join(sorted(row.seen)) or "no anomaly"
        faults = f", faults {row.faults}" if row.faults else ""
        click.echo(f"  {row.database}, {row.isolation}{faults}: {row.outcome}; {said}")
        for problem in row.problems:
            click.echo(f"    {problem}")
    click.echo(f"page: {campaign.folder / 'index.html'}")
    statuses = {Decision.NO: VIOLATED, Decision.NOT_DECIDED: UNDECIDED}
    return statuses.get(campaign_outcome(rows), 0)


def _rows(records: list[RunRecord]) -> Iterator[CampaignRow]:
    """One row for each database, isolation and kind of faults."""
    groups: dict[tuple[str, str, str], list[RunRecord]] = {}
    for record in records:
        one = record.combination
        groups.setdefault((one.database, one.isolation, one.faults), []).append(record)
    for (database, isolation, faults), group in groups.items():
        answers = {record.answer for record in group if record.answer}
        yield CampaignRow(
            database=database,
            isolation=isolation,
            faults=faults,
            runs=len(group),
            committed=sum(record.committed for record in group),
            promises=", ".join(next((record.promises for record in group if record.promises), ())),
            outcome=_outcome(answers),
            seen=frozenset(one.name for record in group for one in record.anomalies),
            broken=frozenset(one.name for record in group for one in record.anomalies if one.is_broken),
            problems=tuple(dict.fromkeys(record.problem for record in group if record.problem)),
        )


def _outcome(answers: set[str]) -> str:
    """`no` if one run broke the promise, else `not decided` if one is not decided."""
    return next((said for answer, said in _OUTCOMES.items() if answer in answers), "did not run")
