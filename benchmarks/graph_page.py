"""The tables and plots of `benchmarks/graph.py`, numbered as in Qiu 2023."""

from __future__ import annotations

from math import exp
from statistics import median
from typing import TYPE_CHECKING

from benchmarks.graph import ASKED, DEPTHS, METHODS, Asked, Point
from benchmarks.plot import Panel, figure
from benchmarks.regression import Fit, correlated, fitted
from isoscope.graphdb import DEPTH, LEVELS, QueryMethod
from isoscope.levels import Level

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["page", "pictures"]

_FACTORS = ("vertices", "edges", "traversals", "density", "aborted")
#: Table 5.5 is fitted over the histories of these experiments together.
_TOGETHER = ("List1", "List3", "Reg1", "Reg2")


def pictures(points: Sequence[Point]) -> dict[str, str]:
    """Milliseconds over what each experiment varies, for two levels, and over the depth for all."""
    named = (name for name in _experiments(points) if ":" in name)
    panels = [_panel(points, experiment, level) for experiment in named for level in ASKED]
    depths = [_depth_panel(points, level) for level in LEVELS]
    return {
        "graph-time.svg": figure(panels, title="Milliseconds of a level: queries and the native core"),
        "graph-depth.svg": figure(depths, title="Milliseconds of bounded queries by their depth"),
    }


def page(points: Sequence[Point]) -> str:
    """The tables: ratios, correlations of factors, regressions."""
    tables = (_ratios, _correlations, _together, _halves, _single, _by_depth)
    return "\n".join([line for table in tables for line in (*table(points), "")])


def _experiments(points: Sequence[Point]) -> list[str]:
    return [*dict.fromkeys(point.case.experiment for point in points)]


def _of(points: Sequence[Point], *names: str) -> list[Point]:
    """The points of the experiments that these names begin."""
    return [point for point in points if point.case.experiment.startswith(names)]


def _panel(points: Sequence[Point], experiment: str, level: Level) -> Panel:
    mine = [point for point in points if point.case.experiment == experiment]
    series = {
        f"{store} {method}": [p.queries[Asked(store, method, DEPTH, level)] * 1e3 for p in mine]
        for store in mine[0].loading
        for method in METHODS
    }
    return Panel(
        title=f"{level}, {experiment.partition(':')[0]}",
        across=experiment.partition(": ")[2],
        labels=[str(point.case.value) for point in mine],
        series={**series, "native, all levels": [point.native * 1e3 for point in mine]},
        is_logarithmic=True,
    )


def _depth_panel(points: Sequence[Point], level: Level) -> Panel:
    largest = _of(points, "depth")[-1]
    series = {
        store: [largest.queries[Asked(store, QueryMethod.CYCLE, d, level)] * 1e3 for d in DEPTHS]
        for store in largest.loading
    }
    return Panel(
        title=str(level),
        across="depth",
        labels=[*map(str, DEPTHS)],
        series={**series, "native, all levels": [largest.native * 1e3] * len(DEPTHS)},
        is_logarithmic=True,
    )


def _ratios(points: Sequence[Point]) -> Iterator[str]:
    """Every query by the native core: alone, and with the loading that it needs."""
    yield "## Queries beside the native core\n"
    asked = sorted({key for point in points for key in point.queries if key.depth == DEPTH})
    alone, whole = ({key: _by_native(points, key, loads=loads) for key in asked} for loads in (False, True))
    yield _claim(min(map(min, whole.values())), min(map(min, alone.values())), len(asked))
    yield "| query | seconds (median) | query alone (least, median) | with loading (least, median) |"
    yield "|---|---|---|---|"
    for key in asked:
        seconds = median(point.queries[key] for point in points if key in point.queries)
        named = f"{key.store} {key.method} {key.level}"
        yield f"| {named} | {seconds:.4f} | {_least(alone[key])} | {_least(whole[key])} |"
    for store in points[0].loading:
        loads = median(point.loading[store] for point in points)
        ratios = [point.loading[store] / point.native for point in points]
        yield f"| loading into {store} | {loads:.3f} | | {_least(ratios)} |"
    native, yard = median(p.native for p in points), median(p.native / p.yardstick for p in points)
    yield f"| native core, all levels ({yard:,.1f} times the yardstick) | {native:.5f} | 1, 1 | 1, 1 |"


def _by_native(points: Sequence[Point], key: Asked, *, loads: bool) -> list[float]:
    having = [point for point in points if key in point.queries]
    return [(p.queries[key] + loads * p.loading[key.store]) / p.native for p in having]


def _least(ratios: Sequence[float]) -> str:
    return f"{min(ratios):,.0f}, {median(ratios):,.0f}"


def _claim(whole: float, alone: float, queries: int) -> str:
    return (
        f"From the history to the verdict, the native core is at least **{whole:,.0f} times** faster than "
        f"each of the {queries} queries with the loading that it needs. A query on a graph that is stored "
        f"already takes at least {alone:,.0f} times as long as the native core takes to build the graph and "
        "to decide all five levels. The ratios of each query: the least of all histories, and the median.\n"
    )


def _correlations(points: Sequence[Point]) -> Iterator[str]:
    yield "## Correlations with what an experiment varies (Table 5.3 of the thesis)\n"
    yield f"| experiment | {' | '.join(_FACTORS)} |\n|---{'|---' * len(_FACTORS)}|"
    for experiment in (name for name in _experiments(points) if ":" in name):
        mine = [point for point in points if point.case.experiment == experiment]
        values = [float(point.case.value) for point in mine]
        found = (correlated(values, [point.factors[factor] for point in mine]) for factor in _FACTORS)
        cells = ("does not vary" if one is None else f"{one:.4f}" for one in found)
        yield f"| {experiment} | {' | '.join(cells)} |"


def _together(points: Sequence[Point]) -> Iterator[str]:
    yield "## Milliseconds of `cycle` by length L, density D and contributing traversals N (Table 5.5)\n"
    yield f"Histories of {', '.join(_TOGETHER)} together. In each cell: the coefficient, and its p-value.\n"
    yield from _fits({"all four": _of(points, *_TOGETHER)}, ASKED)


def _halves(points: Sequence[Point]) -> Iterator[str]:
    yield "## The same for low and high rates (Table 5.6)\n"
    mine = _of(points, "List3")
    middle = median(point.case.value for point in mine)
    low = [point for point in mine if point.case.value < middle]
    high = [point for point in mine if point.case.value >= middle]
    groups = {f"List3, rate below {middle:g}": low, f"List3, rate {middle:g} and above": high}
    yield from _fits(groups, (Level.SNAPSHOT_ISOLATION,))


def _single(points: Sequence[Point]) -> Iterator[str]:
    yield "## The same for each experiment alone, with and without the nemesis\n"
    named = [name for name in _experiments(points) if name.startswith(("List", "Reg1", "Reg2"))]
    yield from _fits({name: _of(points, name) for name in named}, ASKED)


def _fits(groups: dict[str, list[Point]], levels: Sequence[Level]) -> Iterator[str]:
    yield "| histories | store | level | R² | intercept | L | D | N |\n|---|---|---|---|---|---|---|---|"
    for group, mine in groups.items():
        for store in mine[0].loading:
            for level in levels:
                fit = _fit(mine, Asked(store, QueryMethod.CYCLE, DEPTH, level))
                shown = _fit_cells(fit) if fit else "too few points to tell the factors apart | | | |"
                yield f"| {group} ({len(mine)}) | {store} | {level} | {shown} |"


def _fit(points: Sequence[Point], asked: Asked) -> Fit | None:
    factors = {
        "L": [point.factors["vertices"] for point in points],
        "D": [point.factors["density"] for point in points],
        "N": [point.factors["traversals"] for point in points],
    }
    return fitted(factors, [point.queries[asked] * 1e3 for point in points])


def _fit_cells(fit: Fit) -> str:
    cells = (f"{value:.3g} ({fit.p_values[name]:.2g})" for name, value in fit.coefficients.items())
    return f"{fit.r_squared:.2f} | {' | '.join(cells)}"


def _by_depth(points: Sequence[Point]) -> Iterator[str]:
    yield "## p-values of `cycle` by collection time t and depth d (Table 5.7)\n"
    yield "| store | level | R² | t | d | e^d | t e^d |\n|---|---|---|---|---|---|---|"
    rows = [(point, depth) for point in _of(points, "depth") for depth in DEPTHS]
    factors = {
        "t": [float(point.case.value) for point, _ in rows],
        "d": [float(depth) for _, depth in rows],
        "e^d": [exp(depth) for _, depth in rows],
        "t e^d": [point.case.value * exp(depth) for point, depth in rows],
    }
    for store in points[0].loading:
        for level in LEVELS:
            asked = [(point, Asked(store, QueryMethod.CYCLE, depth, level)) for point, depth in rows]
            fit = fitted(factors, [point.queries[key] * 1e3 for point, key in asked])
            cells = (
                [f"{fit.p_values[name]:.2g}" for name in factors] if fit else ["too few points", "", "", ""]
            )
            yield f"| {store} | {level} | {fit.r_squared if fit else 0:.2f} | {' | '.join(cells)} |"
