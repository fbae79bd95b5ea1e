"""Pictures of counterexamples: `--dot` and `--svg`."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from isoscope.errors import UsageError
from isoscope.formats.source import output
from isoscope.reports import examples, render_dot, render_svg
from isoscope.reports.results import Unreadable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from isoscope.reports.results import Result
    from isoscope.verdict import Anomaly

__all__ = ["Pictures", "picture_options"]


def picture_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--dot` and `--svg`."""
    options = [
        click.option("--dot", metavar="FILE", help="Also write the counterexamples as graphs for Graphviz."),
        click.option("--svg", metavar="OUT",
                     help="Also draw the counterexamples: into the folder OUT, or the first one as OUT if "
                     "that ends in .svg."),
    ]  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


@dataclass(slots=True)
class Pictures:
    """The asked pictures; `histories` are the paths that will be checked, in order."""

    dot: str | None
    svg: str | None
    histories: Sequence[str]
    graphs: list[str] = field(default_factory=list)
    checked: int = 0
    drawn: int = 0

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Opens the file of graphs before the work; it appears complete after it.

        Raises UsageError if a picture cannot be written or would replace a history.
        """
        self._refuse_bad_paths()
        if self.dot is None:
            yield
        else:
            with output(self.dot) as sink:
                yield
                sink.write("".join(self.graphs).encode())
        if self.svg is not None:
            self._print_missing(self.svg)

    def add(self, report: Result) -> None:
        """Draws the counterexamples of the report on the next history."""
        self.checked += 1
        if isinstance(report, Unreadable):
            return
        if self.dot is not None:
            self.graphs.append(render_dot(report))
        if self.svg is not None:
            for name, anomaly in _named(examples(report)):
                self._draw(self.svg, name, anomaly)

    def _refuse_bad_paths(self) -> None:
        taken = {os.path.realpath(history) for history in self.histories}
        for option, file in (("--dot", self.dot), ("--svg", self.svg)):
            if file is None:
                continue
            if file in ("", "-"):
                raise UsageError(f"{option} needs a name: the results are on standard output")
            is_file = option == "--dot" or _is_file(file)
            if is_file and Path(file).is_dir():
                raise UsageError(f"{option}: {file} is a directory")
            if not is_file and Path(file).is_file():
                raise UsageError(
                    f"{option}: {file} is no directory\n\nhint: a file has a name that ends in .svg"
                )
            if os.path.realpath(file) in taken:
                raise UsageError(f"{option}: {file} would replace a history")
            taken.add(os.path.realpath(file))

    def _draw(self, target: str, name: str, anomaly: Anomaly) -> None:
        self.drawn += 1
        if not _is_file(target):
            _write(self._folder(target) / f"{name}.svg", anomaly)
        elif self.drawn == 1:
            _write(Path(target), anomaly)

    def _folder(self, target: str) -> Path:
        """The folder itself for one history, else a subfolder for each, by number and name."""
        if len(self.histories) == 1:
            return Path(target)
        history = self.histories[self.checked - 1]
        name = "stdin" if history == "-" else Path(history).name
        return Path(target) / f"{self.checked}-{name}"

    def _print_missing(self, target: str) -> None:
        if not self.drawn:
            click.echo(f"no counterexample: {target} was not written", err=True)
        elif _is_file(target) and self.drawn > 1:
            drawn = f"{target} shows the first of {self.drawn:,} counterexamples"
            click.echo(f"{drawn}; a name without .svg is a folder for all", err=True)


def _is_file(target: str) -> bool:
    return target.lower().endswith(".svg")


def _named(anomalies: Iterator[Anomaly]) -> Iterator[tuple[str, Anomaly]]:
    """Each anomaly with its name and its number among those of that name."""
    counts: dict[str, int] = {}
    for anomaly in anomalies:
        counts[anomaly.name] = counts.get(anomaly.name, 0) + 1
        yield f"{anomaly.name}-{counts[anomaly.name]}", anomaly


def _write(path: Path, anomaly: Anomaly) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from None
    with output(path) as sink:
        sink.write(render_svg(anomaly).encode())
