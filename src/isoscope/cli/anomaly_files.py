"""A report type that has one file for each counterexample: `--svg`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from isoscope.errors import UsageError
from isoscope.formats.source import output
from isoscope.reports.findings import Unreadable, examples

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from isoscope.reports.findings import Result
    from isoscope.reports.registry import ReportType
    from isoscope.verdict import Anomaly

__all__ = ["AnomalyFiles", "is_single_file"]


def is_single_file(target: str) -> bool:
    """Whether the name stands for one picture and not for a folder."""
    return target.lower().endswith(".svg")


class AnomalyFiles:
    """The files of all counterexamples; `histories` are the paths that will be checked, in order."""

    def __init__(self, kind: ReportType, target: str, histories: Sequence[str]) -> None:
        self._kind, self._target, self._histories = kind, target, histories
        self._checked = 0
        self._found = 0

    def add(self, result: Result) -> None:
        """Writes the counterexamples of the next history."""
        self._checked += 1
        if not isinstance(result, Unreadable):
            for name, anomaly in _numbered(examples(result)):
                self._add(name, anomaly)

    def finish(self) -> None:
        """Says on standard error which counterexamples are in no file."""
        if not self._found:
            click.echo(f"no counterexample: {self._target} was not written", err=True)
        elif is_single_file(self._target) and self._found > 1:
            written = f"{self._target} shows the first of {self._found:,} counterexamples"
            click.echo(f"{written}; a name without .svg is a folder for all", err=True)

    def _add(self, name: str, anomaly: Anomaly) -> None:
        self._found += 1
        if not is_single_file(self._target):
            self._write(self._folder() / f"{name}{self._kind.extension}", anomaly)
        elif self._found == 1:
            self._write(Path(self._target), anomaly)

    def _folder(self) -> Path:
        """The target for one history; for several, a folder in it for each, by its number and name."""
        if len(self._histories) == 1:
            return Path(self._target)
        history = self._histories[self._checked - 1]
        name = "stdin" if history == "-" else Path(history).name
        return Path(self._target) / f"{self._checked}-{name}"

    def _write(self, path: Path, anomaly: Anomaly) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"cannot write {path}: {error.strerror or error}") from None
        with output(path) as sink:
            sink.write(self._kind.render(anomaly).encode())


def _numbered(anomalies: Iterator[Anomaly]) -> Iterator[tuple[str, Anomaly]]:
    """Each anomaly with a name for its file: its own, and its number among those of the same name."""
    counts: dict[str, int] = {}
    for anomaly in anomalies:
        counts[anomaly.name] = counts.get(anomaly.name, 0) + 1
        yield f"{anomaly.name}-{counts[anomaly.name]}", anomaly
