"""The file that the history of a run is written to; a full disk does not lose the history."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

from isoscope import formats
from isoscope.errors import IsoscopeError, LossError, UsageError
from isoscope.formats.source import uncompressed
from isoscope.history import History

__all__ = ["HistoryFile", "SavedHistory", "refuse_unwritable"]

#: Evidence that every history of a run has.
_RECORDED = (
    "client intervals of operations",
    "client intervals of transactions",
    "markers of begin, commit and abort",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedHistory:
    """A history and the path that it was written to (empty if it could not be written anywhere).

    `as_asked` is False if it is not the path that was asked for; `problems` says why. `losses` names what the
    format cannot hold.
    """

    history: History
    path: str
    as_asked: bool = True
    losses: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryFile:
    """The path and the format that a history will be written to."""

    path: str
    format: str
    lossy: bool

    @classmethod
    def of(
        cls, path: str | None, *, name: str, lossy: bool = False, also: tuple[str, ...] = ()
    ) -> HistoryFile:
        """`path`, or a new file called `name` in this folder; `also` are features that this run records.

        Raises, before anything has run, if it cannot be written or cannot hold what runs record.
        """
        chosen_path = _free(Path(), name) if path is None else path
        if chosen_path in ("", "-"):
            raise UsageError("--out needs the name of a file: the results are on standard output")
        chosen = formats.for_path(chosen_path)
        missing = tuple(feature for feature in (*_RECORDED, *also) if feature not in chosen.holds)
        if missing and not lossy:
            raise LossError(chosen.name, missing)
        refuse_unwritable("--out", chosen_path)
        return cls(path=chosen_path, format=chosen.name, lossy=lossy)

    def save(self, history: History) -> SavedHistory:
        """Writes the history, to the folder for temporary files if the path cannot be written."""
        try:
            losses = formats.save(history, self.path, format=self.format, lossy=self.lossy)
        except IsoscopeError as error:
            return self._save_elsewhere(history, str(error))
        return SavedHistory(history=_in_file(history, self.path, self.format), path=self.path, losses=losses)

    def _save_elsewhere(self, history: History, problem: str) -> SavedHistory:
        try:
            path = _free(Path(tempfile.gettempdir()), Path(uncompressed(self.path)).stem)
            formats.save(history, path, format="parquet")
        except (IsoscopeError, OSError) as error:
            return SavedHistory(history=history, path="", as_asked=False, problems=(problem, str(error)))
        return SavedHistory(
            history=_in_file(history, path, "parquet"), path=path, as_asked=False, problems=(problem,)
        )


def refuse_unwritable(option: str, path: str) -> None:
    """Raises `UsageError` if a file cannot be written there, as far as that is known beforehand."""
    if Path(path).exists() and not Path(path).is_file() and not Path(path).is_dir():
        return  # a pipe or a device
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise UsageError(f"{option}: {path} is a directory")
    if not target.parent.is_dir():
        raise UsageError(f"{option}: cannot write {path}: there is no folder {Path(path).parent}")
    if not os.access(target.parent, os.W_OK):
        raise UsageError(f"{option}: cannot write {path}: no permission")


def _free(folder: Path, name: str) -> str:
    """The first of `name.parquet`, `name-2.parquet`, ... that does not exist: no run replaces another.

    A run under way has only the log of its history, as a killed one.
    """
    names = (f"{name}.parquet" if number == 1 else f"{name}-{number}.parquet" for number in count(1))
    paths = map(folder.joinpath, names)
    return str(next(path for path in paths if not path.exists() and not Path(f"{path}.recording").exists()))


def _in_file(history: History, path: str, format_: str) -> History:
    """The same history, with the file as its source."""
    return History(history.columns, replace(history.source, path=path, format=format_))
