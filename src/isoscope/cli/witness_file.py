"""The file of `check --witness`: one JSON document a history, with the orders that show why levels hold."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from isoscope.errors import UsageError
from isoscope.formats.source import output
from isoscope.reports import dumps
from isoscope.reports.findings import Unreadable
from isoscope.reports.witness import witness_document

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from isoscope.reports.findings import Result

__all__ = ["WitnessFile"]


class WitnessFile:
    """Takes one report after the other; `target` is None if no witness is asked for."""

    def __init__(self, target: str | None, histories: Sequence[str]) -> None:
        self._target = target
        self._lines: list[str] = []
        if target is not None:
            _refuse(target, histories)

    def add(self, result: Result) -> None:
        """Keeps the witnesses of a history that could be read."""
        if self._target is not None and not isinstance(result, Unreadable):
            self._lines.append(f"{dumps(witness_document(result))}\n")

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Opens the file before the work begins; it appears as a whole after it."""
        if self._target is None:
            yield
            return
        with output(self._target) as sink:
            yield
            sink.write("".join(self._lines).encode())


def _refuse(target: str, histories: Sequence[str]) -> None:
    if target in ("", "-"):
        raise UsageError("--witness needs the name of a file: the results are on standard output")
    if not Path(target).parent.is_dir():
        raise UsageError(f"--witness: cannot write {target}: there is no folder {Path(target).parent}")
    if os.path.realpath(target) in map(os.path.realpath, histories):
        raise UsageError(f"--witness: {target} would replace a history")
