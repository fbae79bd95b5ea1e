"""The page of all benchmarks: figures and plots from `benchmarks/results`, texts from the suites."""

from __future__ import annotations

from functools import cache, partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import record
from benchmarks.published import PUBLISHED
from benchmarks.suites import SUITES

from docs import markdown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from benchmarks.published import Published
    from benchmarks.record import Machine, Result
    from benchmarks.suite import Measurement, Suite

__all__ = ["PAGE", "anchor", "benchmarks", "pictures", "result", "table"]

PAGE = Path(__file__).parent / "reference" / "benchmarks.md"
_INTRO = (
    "Every figure here, and every one that another page quotes with a link to a section here, is from a file "
    "in `benchmarks/results`, which one command writes: `python -m benchmarks SUITE --record`. "
    "`make bench` runs the suites at a small size in minutes, `make bench-full` at the size of this page; "
    "`SUITE=name` runs one of them. Each section names the commit and the machine of its figures. Histories "
    "are seeded, so that a suite measures the same ones every time. Machines differ and vary: the ratio to "
    "the yardstick, which is measured in the same run, does so much less."
)
_PUBLISHED = (
    "## Figures of publications\n\nWhat each suite repeats, on workloads like the published ones. The time "
    "of another checker on your machine is measured by `python -m benchmarks --peer 'NAME=COMMAND {file}' "
    "--history FILE --level LEVEL`: it and Isoscope take turns on the same file, and the ratio is printed."
)


@cache
def result(suite: str) -> Result:
    """The recorded result of a suite."""
    return record.load(suite)


def benchmarks() -> str:
    """All suites that have a result, after the table of publications."""
    sections = [_section(name, suite) for name, suite in SUITES.items() if _is_recorded(name)]
    return markdown.page("Benchmarks", _INTRO, _PUBLISHED, _published(), *sections)


def anchor(suite: str) -> str:
    """Where a suite is on the page."""
    title = SUITES[suite].title.lower()
    return "".join(c for c in title if c.isalnum() or c in " -_").replace(" ", "-")


def pictures() -> Mapping[Path, Callable[[], str]]:
    """The plots beside the page, each with what draws it."""
    plots = [plot for name in SUITES if _is_recorded(name) for plot in result(name).plots]
    return {PAGE.with_suffix("") / f"{plot.name}.svg": partial(type(plot).svg, plot) for plot in plots}


def _is_recorded(suite: str) -> bool:
    return (record.RESULTS / f"{suite}.json").is_file()


def _published() -> str:
    head = ["publication", "figures", "what", "suites", "what is different, or left out"]
    return markdown.table(head, map(_published_row, PUBLISHED))


def _published_row(one: Published) -> list[str]:
    suites = ", ".join(_link(name) for name in one.suites) or "none"
    return [one.source, one.figures, one.what, suites, one.note]


def _link(suite: str) -> str:
    return f"[{suite}](#{anchor(suite)})" if _is_recorded(suite) else f"{suite} (not recorded)"


def _section(name: str, suite: Suite) -> str:
    found = result(name)
    facts = {"suite": f"`{name}`", "commit": found.commit, "machine": _machine(found.machine)}
    return "\n\n".join([f"## {suite.title}", suite.how, markdown.facts(facts), *_groups(suite, found)])


def _machine(machine: Machine | None) -> str:
    if machine is None:
        return ""
    parts = [f"{machine.cores} cores, {machine.architecture}, Python {machine.python}"]
    if machine.load is not None:
        parts.append(f"load {machine.load:g}")
    if machine.is_real_time:
        parts.append("run with a real-time priority, so that other work waited")
    return ", ".join(parts)


def _groups(suite: Suite, found: Result) -> Iterator[str]:
    """Of each group its title, its text, its plots and its table."""
    names = dict.fromkeys([*(one.group for one in found.measurements), *(one.group for one in found.plots)])
    for group in sorted(names, key=bool):
        if group:
            yield f"### {group}"
        if group in suite.groups:
            yield suite.groups[group]
        plots = [plot for plot in found.plots if plot.group == group]
        if plots:
            yield "\n".join(f"![{plot.title}]({PAGE.stem}/{plot.name}.svg)" for plot in plots)
        yield from map(table, _alike([one for one in found.measurements if one.group == group]))


def _alike(measurements: Sequence[Measurement]) -> Iterator[list[Measurement]]:
    """Measurements that follow each other and have a first figure of the same name."""
    for _, alike in groupby(measurements, key=lambda one: next(iter(one.figures))):
        yield [*alike]


def table(measurements: Sequence[Measurement]) -> str:
    """A column for each figure; a measurement may lack some."""
    titles = [*dict.fromkeys(title for one in measurements for title in one.figures)]
    rows = [[one.name, *(one.figures.get(title, "") for title in titles)] for one in measurements]
    return markdown.table(["", *titles], rows)
