"""The tables and plots of `benchmarks/graph.py`, numbered as in Qiu 2023."""

from __future__ import annotations

from math import exp
from statistics import median
from typing import TYPE_CHECKING

from benchmarks.graph import ASKED, DEPTHS, METHODS, Asked, Point, line, measure, measure_all
from benchmarks.graph_cases import EXPERIMENTS
from benchmarks.plot import Panel
from benchmarks.regression import Fit, correlated, fitted
from benchmarks.suite import Measurement, Plot, Suite
from isoscope.graphdb import DEPTH, LEVELS, QueryMethod, open_store
from isoscope.levels import Level

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmarks.suite import Measured

__all__ = ["SUITE", "plots", "tables"]

HOW = (
    "Seconds of one query, the better of two. `native` is one call that builds the dependency graph and "
    "decides all five levels, with one counterexample of each anomaly, the best of 30. Loading is the export "
    "of the graph and its storing. The yardstick is the time in which Python iterates over the lines of the "
    "same history as a file."
)
_RATIOS = "Queries beside the native core"
_CORRELATIONS = "Correlations with what an experiment varies (Table 5.3 of the thesis)"
_TOGETHER = "Milliseconds of `cycle` by length L, density D and contributing traversals N (Table 5.5)"
_HALVES = "The same for low and high rates (Table 5.6)"
_SINGLE = "The same for each experiment alone, with and without the nemesis"
_BY_DEPTH = "p-values of `cycle` by collection time t and depth d (Table 5.7)"
_FACTORS = ("vertices", "edges", "traversals", "density", "aborted")
#: Table 5.5 is fitted over the histories of these experiments together.
_FITTED = ("List1", "List3", "Reg1", "Reg2")
_GROUPS = {
    _RATIOS: "Ratios by the native core, from the history to the verdict: the least of all histories, and "
    "the median. A query alone runs on a graph that is stored already; the native core also builds it.",
    _CORRELATIONS: "Pearson's coefficients.",
    _TOGETHER: f"Histories of {', '.join(_FITTED)} together. In each cell: the coefficient, and its p-value.",
}


def plots(points: Sequence[Point]) -> Iterator[Plot]:
    """Milliseconds over what each experiment varies, for two levels, and over the depth for all."""
    named = (name for name in _experiments(points) if ":" in name)
    panels = [_panel(points, experiment, level) for experiment in named for level in ASKED]
    title = "Milliseconds of a level: queries and the native core"
    yield Plot(name="graph-time", title=title, panels=panels)
    depths = [_depth_panel(points, level) for level in LEVELS]
    yield Plot(name="graph-depth", title="Milliseconds of bounded queries by their depth", panels=depths)


def tables(points: Sequence[Point]) -> Iterator[Measurement]:
    """Ratios, correlations of factors, regressions."""
    for table in (_ratios, _correlations, _together, _halves, _single, _by_depth):
        yield from table(points)


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


def _ratios(points: Sequence[Point]) -> Iterator[Measurement]:
    """Every query by the native core: alone, and with the loading that it needs."""
    asked = sorted({key for point in points for key in point.queries if key.depth == DEPTH})
    alone, whole = ({key: _by_native(points, key, loads=loads) for key in asked} for loads in (False, True))
    least = {
        "query alone": f"{min(map(min, alone.values())):,.0f}",
        "with loading": f"{min(map(min, whole.values())):,.0f}",
    }
    yield Measurement(f"least of all {len(asked)} queries", least, _RATIOS)
    for key in asked:
        seconds = median(point.queries[key] for point in points if key in point.queries)
        figures = {
            "seconds (median)": f"{seconds:.4f} s",
            "query alone": _least(alone[key]),
            "with loading": _least(whole[key]),
        }
        yield Measurement(f"{key.store} {key.method} {key.level}", figures, _RATIOS)
    for store in points[0].loading:
        loads = median(point.loading[store] for point in points)
        ratios = [point.loading[store] / point.native for point in points]
        figures = {"seconds (median)": f"{loads:.3f} s", "with loading": _least(ratios)}
        yield Measurement(f"loading into {store}", figures, _RATIOS)
    native, yard = median(p.native for p in points), median(p.native / p.yardstick for p in points)
    figures = {"seconds (median)": f"{native:.5f} s", "ratio": f"{yard:,.1f}"}
    yield Measurement("native core, all levels", figures, _RATIOS)


def _by_native(points: Sequence[Point], key: Asked, *, loads: bool) -> list[float]:
    having = [point for point in points if key in point.queries]
    return [(p.queries[key] + loads * p.loading[key.store]) / p.native for p in having]


def _least(ratios: Sequence[float]) -> str:
    return f"{min(ratios):,.0f}, {median(ratios):,.0f}"


def _correlations(points: Sequence[Point]) -> Iterator[Measurement]:
    for experiment in (name for name in _experiments(points) if ":" in name):
        mine = [point for point in points if point.case.experiment == experiment]
        values = [float(point.case.value) for point in mine]
        found = {factor: correlated(values, [point.factors[factor] for point in mine]) for factor in _FACTORS}
        figures = {factor: "does not vary" if one is None else f"{one:.4f}" for factor, one in found.items()}
        yield Measurement(experiment, figures, _CORRELATIONS)


def _together(points: Sequence[Point]) -> Iterator[Measurement]:
    yield from _fits(_TOGETHER, {"all four": _of(points, *_FITTED)}, ASKED)


def _halves(points: Sequence[Point]) -> Iterator[Measurement]:
    mine = _of(points, "List3")
    middle = median(point.case.value for point in mine)
    low = [point for point in mine if point.case.value < middle]
    high = [point for point in mine if point.case.value >= middle]
    groups = {f"List3, rate below {middle:g}": low, f"List3, rate {middle:g} and above": high}
    yield from _fits(_HALVES, groups, (Level.SNAPSHOT_ISOLATION,))


def _single(points: Sequence[Point]) -> Iterator[Measurement]:
    named = [name for name in _experiments(points) if name.startswith(("List", "Reg1", "Reg2"))]
    yield from _fits(_SINGLE, {name: _of(points, name) for name in named}, ASKED)


def _fits(table: str, groups: dict[str, list[Point]], levels: Sequence[Level]) -> Iterator[Measurement]:
    for group, mine in groups.items():
        for store in mine[0].loading:
            for level in levels:
                fit = _fit(mine, Asked(store, QueryMethod.CYCLE, DEPTH, level))
                name = f"{group} ({len(mine)}), {store}, {level}"
                yield Measurement(name, _fit_figures(fit) if fit else _TOO_FEW, table)


_TOO_FEW = {"R²": "too few points to tell the factors apart"}


def _fit(points: Sequence[Point], asked: Asked) -> Fit | None:
    factors = {
        "L": [point.factors["vertices"] for point in points],
        "D": [point.factors["density"] for point in points],
        "N": [point.factors["traversals"] for point in points],
    }
    return fitted(factors, [point.queries[asked] * 1e3 for point in points])


def _fit_figures(fit: Fit) -> dict[str, str]:
    cells = {name: f"{value:.3g} ({fit.p_values[name]:.2g})" for name, value in fit.coefficients.items()}
    return {"R²": f"{fit.r_squared:.2f}", **cells}


def _by_depth(points: Sequence[Point]) -> Iterator[Measurement]:
    pairs = [(point, depth) for point in _of(points, "depth") for depth in DEPTHS]
    factors = {
        "t": [float(point.case.value) for point, _ in pairs],
        "d": [float(depth) for _, depth in pairs],
        "e^d": [exp(depth) for _, depth in pairs],
        "t e^d": [point.case.value * exp(depth) for point, depth in pairs],
    }
    for store in points[0].loading:
        for level in LEVELS:
            asked = [(point, Asked(store, QueryMethod.CYCLE, depth, level)) for point, depth in pairs]
            fit = fitted(factors, [point.queries[key] * 1e3 for point, key in asked])
            p_values = {name: f"{fit.p_values[name]:.2g}" for name in factors} if fit else {}
            r_squared = {"R²": f"{fit.r_squared:.2f}"} if fit else _TOO_FEW
            yield Measurement(f"{store}, {level}", r_squared | p_values, _BY_DEPTH)


def _full() -> Iterator[Measured]:
    points: list[Point] = []
    for point in measure_all():
        points.append(point)
        print(line(point), flush=True)
    yield from tables(points)
    yield from plots(points)


def _quick() -> Iterator[Measured]:
    """A few histories on the embedded database; no regression can be fitted to them."""
    with open_store(":memory:") as store:
        yield from _ratios([measure(case, {"LadybugDB": store}) for case in EXPERIMENTS[-4:]])


SUITE = Suite(title="Levels as queries on graph databases", how=HOW, full=_full, quick=_quick, groups=_GROUPS)
