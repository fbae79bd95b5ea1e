"""`python -m benchmarks [SUITE...]`: measures at a small size and prints; with `--full` at that of the page.

`--record` measures at full size and writes `benchmarks/results/SUITE.json`, from which
`python -m docs.generate` makes the page. `--peer NAME=COMMAND` runs another checker on the same file instead.
"""

from __future__ import annotations

import argparse
from time import perf_counter
from typing import TYPE_CHECKING

from benchmarks import peers, record
from benchmarks.suite import Measurement
from benchmarks.suites import SUITES
from isoscope.errors import IsoscopeError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from benchmarks.suite import Measured

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = _parser()
    asked = parser.parse_args(arguments)
    if unknown := [name for name in asked.suites if name not in SUITES]:
        parser.error(f"no suite is called `{unknown[0]}`: {', '.join(SUITES)}")
    if asked.peer:
        if asked.suites or asked.record:
            parser.error("`--peer` takes no suite, and nothing is recorded")
        _print_all(peers.measurements(asked.peer, asked.history, asked.level, is_full=asked.full))
        return
    for name in asked.suites or SUITES:
        _run(name, is_full=asked.full or asked.record, is_recorded=asked.record)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=f"{', '.join(SUITES)} (default: all)")
    parser.add_argument("--full", action="store_true", help="the sizes of the page; hours for all suites")
    parser.add_argument("--record", action="store_true", help="write the results; implies --full")
    peers.add_options(parser)
    return parser


def _run(name: str, *, is_full: bool, is_recorded: bool) -> None:
    """Runs one suite; what it has measured so far stays recorded if it is ended."""
    suite = SUITES[name]
    chosen = suite.full if is_full else suite.quick
    if chosen is None:
        print(f"# {name}: only with --full", flush=True)
        return
    print(f"# {name}: {suite.title}", flush=True)
    commit, machine = record.commit(), record.machine()
    found: list[Measured] = []

    def keep(one: Measured) -> None:
        found.append(one)
        if is_recorded:
            record.save(name, record.Result.of(found, commit=commit, machine=machine))

    started = perf_counter()
    try:
        _print_all(chosen(), keep)
    except IsoscopeError as error:
        print(f"skipped: {error}", flush=True)
    print(f"# {name}: {perf_counter() - started:.1f} s", flush=True)


def _print_all(measured: Iterable[Measured], keep: Callable[[Measured], None] = lambda _: None) -> None:
    for one in measured:
        keep(one)
        if isinstance(one, Measurement):
            told = ", ".join(f"{name} {figure}" for name, figure in one.figures.items())
            print(f"{one.name:<40} {told}", flush=True)


if __name__ == "__main__":
    main()
