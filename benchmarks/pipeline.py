"""The two-level pipeline against one heap: time and memory over the number of transactions.

As Figure 9 of Li et al. 2023 shows it for Leopard: traces of 24 clients are put in the order of their times
by the pipeline, by Algorithm 1 without its optimisations, and by one heap of everything. The times are made
up: as uneven between clients as those of TPC-C, as even as those of SmallBank, in bursts like those of
BlindW-RW+. Only a native core that is built with the feature `baselines` has the other two ways:
`maturin develop --release --features baselines`.
"""

from __future__ import annotations

import json
import subprocess
import sys
from array import array
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from time import perf_counter
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from benchmarks.measure import peak, resident, time_of_lines
from benchmarks.plot import Panel
from benchmarks.suite import DATA, Measurement, Plot, Suite, summarised
from isoscope._native import dispatch_times
from isoscope.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = [
    "SHAPES",
    "SUITE",
    "WAYS",
    "Run",
    "has_baselines",
    "measure",
    "measure_all",
    "measurement",
    "plots",
    "times",
]

HOW = (
    "The times are made up, not recorded: uneven between clients, even, or in bursts, under the name of the "
    "workload that they are like. Seconds are those of putting all items in order, their copy into the core "
    "included, the best of three; memory is what the process grew by meanwhile, and `most waiting` the most "
    "items that were held at once. 24 clients, 1,024 items at each fetch; one heap takes everything at once. "
    "The yardstick is the time in which Python iterates over the lines of a file with a line for each item, "
    "the ratio is time by yardstick of the same run."
)
Way: TypeAlias = Literal["pipeline", "plain", "naive"]
#: What each is called in pictures.
WAYS: dict[Way, str] = {"pipeline": "two levels", "plain": "without optimisations", "naive": "one heap"}
#: Operations of a transaction, begin and commit included.
SHAPES = {"TPC-C": 20, "SmallBank": 5, "BlindW-RW+": 10}
SIZES = (50_000, 100_000, 200_000)
CLIENTS, CAPACITY, REPEATS = 24, 1024, 3
#: Nanoseconds between two operations of the fastest client; items of a burst, and how many such
#: times the pause between two bursts takes: few clients are in one at once.
_GAP, _BURST, _PAUSE = 100_000, 64, 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One way for times of one shape."""

    shape: str
    transactions: int
    way: Way
    seconds: float
    megabytes: float
    items: int
    batches: int
    max_waiting: int
    yardstick: float


def has_baselines() -> bool:
    """Whether the native core was built with the ways that the pipeline is compared with."""
    try:
        dispatch_times([], way="naive", capacity=1)
    except ValueError:
        return False
    return True


def measure_all(sizes: Iterable[int] = SIZES) -> Iterator[Run]:
    """Every way for each shape and size, each in an interpreter of its own."""
    if not has_baselines():
        raise UsageError(
            "this build has no baselines\n\nhint: maturin develop --release --features baselines"
        )
    DATA.mkdir(exist_ok=True)
    file = DATA / "pipeline.txt"
    for shape in SHAPES:
        for size in sizes:
            _write(file, times(shape, size))
            for way in WAYS:
                line = [sys.executable, "-m", "benchmarks.pipeline", shape, str(size), way, str(file)]
                output = subprocess.run(line, check=True, stdout=subprocess.PIPE, text=True).stdout
                yield Run(**json.loads(output))
    file.unlink()


def times(shape: str, transactions: int) -> list[array[int]]:
    """When each client begins its operations; all are at it for about as long."""
    random = Random(9)
    slowness = [1 + client if shape == "TPC-C" else 1 for client in range(CLIENTS)]
    total = sum(1 / slow for slow in slowness)
    operations = transactions * SHAPES[shape]
    return [
        array(
            "q", _times(random, round(operations / slow / total), slow * _GAP, bursts=shape == "BlindW-RW+")
        )
        for slow in slowness
    ]


def _times(random: Random, count: int, gap: int, *, bursts: bool) -> Iterator[int]:
    now = 0
    for place in range(count):
        now += 1 + int(random.random() * 2 * gap * (_PAUSE if bursts and place % _BURST == 0 else 1))
        yield now


def _write(file: Path, clients: list[array[int]]) -> None:
    with file.open("w", encoding="ascii") as lines:
        for client, said in enumerate(clients):
            lines.writelines(f"{client} {before}\n" for before in said)


def measure(shape: str, transactions: int, way: Way, file: Path) -> Run:
    """Puts the items of a file in order, more than once."""
    clients = _read(file)
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # forgets the peak so far
    before = resident()
    seconds, found, most = [], dispatch_times([], way=way, capacity=CAPACITY), 0.0
    for repeat in range(REPEATS):
        started = perf_counter()
        found = dispatch_times(clients, way=way, capacity=CAPACITY)
        seconds.append(perf_counter() - started)
        most = most if repeat else peak()
    if not found.in_order or found.items != sum(map(len, clients)):
        raise AssertionError(f"{shape}, {way}: {found.items} items, in order: {found.in_order}")
    return Run(
        shape=shape,
        transactions=transactions,
        way=way,
        seconds=min(seconds),
        # The core has a copy of the times, whatever the way.
        megabytes=max(most - before - 8 * found.items, 0) / 1e6,
        items=found.items,
        batches=found.batches,
        max_waiting=found.max_waiting,
        yardstick=time_of_lines(file),
    )


def _read(file: Path) -> list[array[int]]:
    clients = [array("q") for _ in range(CLIENTS)]
    with file.open("rb") as lines:
        for line in lines:
            client, before = line.split()
            clients[int(client)].append(int(before))
    return clients


def measurement(run: Run) -> Measurement:
    """A run in words."""
    figures = {
        "time": f"{run.seconds:.3f} s",
        "items": f"{run.items:,}",
        "items/s": f"{run.items / run.seconds:,.0f}",
        "a batch": f"{run.items / run.batches:.1f}",
        "most waiting": f"{run.max_waiting:,}",
        "memory": f"{run.megabytes:.1f} MB",
        "yardstick": f"{run.yardstick:.3f} s",
        "ratio": f"{run.seconds / run.yardstick:.2f}",
    }
    return Measurement(f"{run.shape}, {run.transactions:,} transactions, {WAYS[run.way]}", figures)


def plots(runs: list[Run]) -> Iterator[Plot]:
    """Figure 9: memory, and time."""
    shapes = [*dict.fromkeys(run.shape for run in runs)]
    panels = [
        _panel(f"{shape}: MB", [run for run in runs if run.shape == shape], "megabytes") for shape in shapes
    ]
    panels += [
        _panel(f"{shape}: s", [run for run in runs if run.shape == shape], "seconds") for shape in shapes
    ]
    yield Plot(name="pipeline", title="Traces in order: memory and time", panels=panels)


def _panel(title: str, runs: list[Run], what: Literal["megabytes", "seconds"]) -> Panel:
    sizes = [*dict.fromkeys(run.transactions for run in runs)]
    series = {
        name: [run.megabytes if what == "megabytes" else run.seconds for run in runs if run.way == way]
        for way, name in WAYS.items()
    }
    labels = [f"{size // 1000}k" for size in sizes]
    return Panel(title=title, across="transactions", labels=labels, series=series, at=sizes)


SUITE = Suite(
    title="Traces in order",
    how=HOW,
    full=lambda: summarised(measure_all(), measurement, plots),
    quick=lambda: summarised(measure_all((2_000, 4_000)), measurement, plots),
)

if __name__ == "__main__":
    [asked] = [way for way in get_args(Way) if way == sys.argv[3]]
    print(json.dumps(asdict(measure(sys.argv[1], int(sys.argv[2]), asked, Path(sys.argv[4])))))
