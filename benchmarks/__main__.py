"""`python -m benchmarks [NAME] [--record]`: measures, prints, records.

Names: growth, adya, clock, collection, online, soak, service, faults, memory, stability, pipeline,
intervals, recording, history-log, versions, report, journal, explainable, weak, large, solver,
solver-points, verification, certification, graph, instructions, spark.

Without a name: start-up, loading and the weak levels. The others take some minutes, and `large` 6 GB.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import (
    adya,
    certification,
    clock,
    clock_growth,
    collection,
    explainable,
    faults,
    graph,
    graph_page,
    growth,
    history_log,
    instructions,
    intervals,
    journal,
    loading,
    online,
    pipeline,
    recording,
    report,
    service,
    soak,
    solver,
    solver_points,
    spark,
    stability,
    startup,
    verification,
    versions,
    weak,
)
from benchmarks.loading import Row
from isoscope.errors import IsoscopeError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

HERE = Path(__file__).parent
_HOW = (
    "The yardstick is the time in which Python iterates over the lines of the text file; the ratio is the "
    "median of time by yardstick of the same run. Memory is the peak above that after the imports."
)


def main() -> None:
    names = [argument for argument in sys.argv[1:] if argument != "--record"]
    name = names[0] if names else "results"
    record = "--record" in sys.argv[1:]
    if name in _PLOTTED:
        _PLOTTED[name](record=record)
    elif name in _SUITES:
        _rows(name, record=record)
    else:
        sys.exit(f"no benchmark is called `{name}`: {', '.join([*_PLOTTED, *_SUITES])}")


def _results() -> Iterator[Row]:
    for suite in (startup, loading, weak):
        yield from suite.rows()


_SUITES: dict[str, Callable[[], Iterable[Row]]] = {
    "results": _results,
    "weak": weak.rows,
    "versions": versions.rows,
    "report": report.rows,
    "journal": journal.rows,
    "large": weak.large,
}


def _rows(name: str, *, record: bool) -> None:
    rows = _printed(_SUITES[name]())
    if record:
        _write(f"{name}.md", _head("Measured", name, _HOW) + _table(rows))


def _printed(rows: Iterable[Row]) -> list[Row]:
    kept: list[Row] = []
    for row in rows:
        kept.append(row)
        _print(row)
    return kept


def _print(row: Row) -> None:
    print(f"{row.name:<40} {', '.join(f'{n} {f}' for n, f in row.figures.items())}", flush=True)


def _table(rows: Iterable[Row]) -> str:
    body = [f"| {row.name} | {', '.join(f'{n} **{f}**' for n, f in row.figures.items())} |" for row in rows]
    return "\n".join(["| measurement | figures |", "|---|---|", *body, ""])


def _growth(*, record: bool) -> None:
    points: list[growth.Growth] = []
    for point in growth.measure_all():
        points.append(point)
        seconds = ", ".join(f"{asked} {time:.3f} s" for asked, time in point.seconds.items())
        print(f"{point.figure} {point.label}: {seconds}", flush=True)
    if record:
        how = "Seconds of the check and megabytes of loading and checking; best and worst of two runs."
        shown = "\n".join(f"![{name}]({name})" for name in growth.pictures(points))
        _write("growth.md", _head("How it grows", "growth", how) + f"{shown}\n\n{growth.page(points)}")
        for name, picture in growth.pictures(points).items():
            _write(name, picture)


def _adya(*, record: bool) -> None:
    points: list[adya.Point] = []
    for point in adya.measure_all():
        points.append(point)
        print(adya.line(point), flush=True)
    if record:
        how = (
            f"Seconds to build a graph and to search it; {adya.LIMIT:g} s are the limit of a search. "
            "How far the BC-graph is ahead of consecutive starts depends on contention: "
            "with many keys they are close together."
        )
        shown = "\n".join(f"![{name}]({name})" for name in adya.pictures(points))
        title = "Snapshot isolation, by the BC-graph and by Adya's"
        _write("adya.md", _head(title, "adya", how) + f"{shown}\n\n{adya.page(points)}")
        for name, picture in adya.pictures(points).items():
            _write(name, picture)


def _clock(*, record: bool) -> None:
    rows = _printed(clock.rows())
    points: list[clock_growth.Point] = []
    for point in clock_growth.measure_all():
        points.append(point)
        print(clock_growth.line(point), flush=True)
    if record:
        shown = "\n".join(f"![{name}]({name})" for name in clock_growth.pictures(points))
        grown = f"## How it grows\n\n{clock_growth.HOW}\n\n{shown}\n\n{clock_growth.page(points)}"
        head = _head("The levels of the database's clock", "clock", clock.HOW)
        _write("clock.md", f"{head}{_table(rows)}\n{grown}")
        for name, picture in clock_growth.pictures(points).items():
            _write(name, picture)


def _collection(*, record: bool) -> None:
    runs = collection.measure_all()
    for run in runs:
        print(collection.line(run), flush=True)
    if record:
        head = _head("The clock levels in memory and from a disk", "collection", collection.HOW)
        _write("collection.md", f"{head}![collection.svg](collection.svg)\n\n{collection.page(runs)}")
        _write("collection.svg", collection.picture(runs))


def _online(*, record: bool) -> None:
    runs: list[online.Fed] = []
    rows: list[Row] = []
    for run in online.measure_all():
        runs.append(run)
        rows += _printed([online.row(run)])
    limited = [*soak.limited()]
    rows += _printed(map(soak.row, limited))
    if record:
        pictures = online.pictures(runs) | {"online-limit.svg": soak.picture(limited)}
        _record("online", "The clock levels while transactions arrive", online.HOW, _table(rows), pictures)


def _soak(*, record: bool) -> None:
    runs = [*soak.measure_all()]
    rows = _printed(map(soak.row, runs))
    if record:
        pictures = {"soak.svg": soak.picture(runs)}
        _record("soak", "An hour's load, online", soak.HOW, _table(rows), pictures)


def _service(*, record: bool) -> None:
    rows = _printed(service.rows())
    rows += _printed([service.kills()])
    if record:
        _record("service", "The online service", service.HOW, _table(rows), {})


def _faults(*, record: bool) -> None:
    rows = _printed(faults.rows())
    if record:
        _record("faults", "The online service under attack and after a crash", faults.HOW, _table(rows), {})


def _memory(*, record: bool) -> None:
    rows = _printed([faults.memory_row(faults.memory())])
    if record:
        _record("memory", "The memory of the online service", faults.HOW_MEMORY, _table(rows), {})


def _stability(*, record: bool) -> None:
    cases: list[stability.Flips] = []
    for flips in stability.measure_all():
        cases.append(flips)
        print(stability.line(flips), flush=True)
    if record:
        pictures = stability.pictures(cases)
        title = "Provisional answers that change"
        _record("stability", title, stability.HOW, stability.page(cases), pictures)


def _pipeline(*, record: bool) -> None:
    runs: list[pipeline.Run] = []
    rows: list[Row] = []
    for run in pipeline.measure_all():
        runs.append(run)
        rows += _printed([pipeline.row(run)])
    if record:
        _record("pipeline", "Traces in order", pipeline.HOW, _table(rows), pipeline.pictures(runs))


def _intervals(*, record: bool) -> None:
    told: list[intervals.Told] = []
    for part in intervals.PARTS:
        print(f"# {part.title}", flush=True)
        told.append(part.told(_print))
    if record:
        head = _head(intervals.TITLE, "intervals", intervals.HOW)
        _write("intervals.md", head + "\n".join(part.text for part in told))
        for file, picture in (picture for part in told for picture in part.pictures.items()):
            _write(file, picture)


def _recording(*, record: bool) -> None:
    rows = _printed([recording.alone()])
    rounds: list[recording.Round] = []
    try:
        for found in recording.measure_all():
            rounds.append(found)
            print(recording.line(found), flush=True)
    except IsoscopeError as error:
        rows += _printed([Row("PostgreSQL", {"skipped": str(error).partition("\n")[0]})])
    rows += _printed(recording.rows(rounds))
    if record:
        shown = "\n![recording.svg](recording.svg)\n" if rounds else ""
        _write(
            "recording.md", _head("What recording costs", "recording", recording.HOW) + _table(rows) + shown
        )
        if rounds:
            _write("recording.svg", recording.picture(rounds))


def _explainable(*, record: bool) -> None:
    rows = _printed(explainable.rows())
    if record:
        _record("explainable", "Intervals against an exact oracle", explainable.HOW, _table(rows), {})


def _solver_points(*, record: bool) -> None:
    rows = _printed(solver_points.rows())
    if record:
        _record("solver-points", "Published evaluations of solvers", solver_points.HOW, _table(rows), {})


def _solver(*, record: bool) -> None:
    rows = _printed(solver.rows())
    if record:
        _record("solver", "Snapshot isolation and serializability from values", solver.HOW, _table(rows), {})


def _verification(*, record: bool) -> None:
    rows = _printed(verification.rows())
    if record:
        _record(
            "verification", "How long certificates take to be verified", verification.HOW, _table(rows), {}
        )


def _certification(*, record: bool) -> None:
    rows = _printed(certification.rows())
    if record:
        _record("certification", "What certificates add to a check", certification.HOW, _table(rows), {})


def _spark(*, record: bool) -> None:
    rows: list[Row] = []
    for row in spark.rows():
        rows.append(row)
        _print(row)
        # The largest history takes long: what was measured before it stays if the run is ended.
        if record:
            _record("spark", "Checks on Apache Spark", spark.how(), _table(rows), {})


def _history_log(*, record: bool) -> None:
    rows = _printed(history_log.rows())
    if record:
        _record("history-log", "What the log of a run costs", history_log.HOW, _table(rows), {})


def _instructions(*, record: bool) -> None:
    costs: dict[str, instructions.Cost] = {}
    for name, cost in instructions.measure_all():
        costs[name] = cost
        print(f"{name}: {cost.instructions} instructions, {cost.bytes} bytes an operation", flush=True)
    if record:
        instructions.write(costs)


def _graph(*, record: bool) -> None:
    points: list[graph.Point] = []
    for point in graph.measure_all():
        points.append(point)
        print(graph.line(point), flush=True)
    if record:
        title = "Levels as queries on graph databases"
        _record("graph", title, graph.how(), graph_page.page(points), graph_page.pictures(points))


_PLOTTED = {
    "growth": _growth,
    "adya": _adya,
    "clock": _clock,
    "collection": _collection,
    "online": _online,
    "soak": _soak,
    "service": _service,
    "faults": _faults,
    "memory": _memory,
    "stability": _stability,
    "pipeline": _pipeline,
    "intervals": _intervals,
    "recording": _recording,
    "explainable": _explainable,
    "history-log": _history_log,
    "verification": _verification,
    "certification": _certification,
    "spark": _spark,
    "solver": _solver,
    "solver-points": _solver_points,
    "graph": _graph,
    "instructions": _instructions,
}


def _record(name: str, title: str, how: str, body: str, pictures: dict[str, str]) -> None:
    shown = "".join(f"![{file}]({file})\n" for file in pictures)
    _write(f"{name}.md", _head(title, name, how) + (f"{shown}\n{body}" if shown else body))
    for file, picture in pictures.items():
        _write(file, picture)


def _write(name: str, text: str) -> None:
    (HERE / name).write_text(text, encoding="utf-8")


def _head(title: str, name: str, how: str) -> str:
    command = (
        "python -m benchmarks --record" if name == "results" else f"python -m benchmarks {name} --record"
    )
    return (
        f"# {title}\n\n`{command}` writes this page. {how}\n\n"
        f"- commit: {_commit()}\n"
        f"- machine: {os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}\n\n"
    )


def _commit() -> str:
    command = ["git", "describe", "--always", "--dirty"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


main()
