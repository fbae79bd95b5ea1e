"""Where the history of a run goes: nobody should run it again because a disk was full."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import click

from isoscope import formats
from isoscope.errors import IsoscopeError, LossError, UsageError
from isoscope.formats.source import uncompressed
from isoscope.history import History, Source

__all__ = ["Kept", "Target", "called", "refuse_unwritable"]

#: What every history of a run has.
_ALWAYS = (
    "client intervals of operations",
    "client intervals of transactions",
    "markers of begin, commit and abort",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A history, where it is now (empty if nowhere), and whether that is where it was to be."""

    history: History
    path: str
    as_asked: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The file that a history will be written to."""

    path: str
    format: str
    lossy: bool

    @classmethod
    def of(cls, out: str | None, name: str, *, lossy: bool) -> Target:
        """`out`, or a file called `name` in this folder that is not there yet.

        Raises, before anything has run, if it cannot be written or cannot hold what runs record.
        """
        path = _free(Path(), name) if out is None else out
        if path in ("", "-"):
            raise UsageError("--out needs the name of a file: the results are on standard output")
        chosen = formats.for_path(path)
        missing = tuple(feature for feature in _ALWAYS if feature not in chosen.holds)
        if missing and not lossy:
            raise LossError(chosen.name, missing)
        refuse_unwritable("--out", path)
        return cls(path=path, format=chosen.name, lossy=lossy)

    def keep(self, history: History) -> Kept:
        """Writes the history, if need be to the folder for temporary files, and says where it is."""
        try:
            for loss in formats.save(history, self.path, format=self.format, lossy=self.lossy):
                click.echo(f"lost: {loss}", err=True)
        except IsoscopeError as error:
            click.echo(f"error: {error}", err=True)
            return self._rescued(history)
        click.echo(f"history: {self.path}", err=True)
        return Kept(history=called(history, self.path, self.format), path=self.path, as_asked=True)

    def _rescued(self, history: History) -> Kept:
        try:
            path = _free(Path(tempfile.gettempdir()), Path(uncompressed(self.path)).stem)
            formats.save(history, path, format="parquet")
        except (IsoscopeError, OSError) as error:
            click.echo(f"error: {error}", err=True)
            click.echo("hint: the history is lost; make room, or name another folder with --out", err=True)
            return Kept(history=history, path="", as_asked=False)
        click.echo(f"history: {path}\nhint: move it before the system clears that folder", err=True)
        return Kept(history=called(history, path, "parquet"), path=path, as_asked=False)


def refuse_unwritable(option: str, path: str) -> None:
    """Raises `UsageError` if a file cannot be written there, as far as that is known beforehand."""
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise UsageError(f"{option}: {path} is a directory")
    if not target.parent.is_dir():
        raise UsageError(f"{option}: cannot write {path}: there is no folder {Path(path).parent}")
    if not os.access(target if target.exists() and not target.is_file() else target.parent, os.W_OK):
        raise UsageError(f"{option}: cannot write {path}: no permission")


def _free(folder: Path, name: str) -> str:
    """The first of `name.parquet`, `name-2.parquet`, ... that is not there: no run replaces another."""
    names = (f"{name}.parquet" if number == 1 else f"{name}-{number}.parquet" for number in count(1))
    return str(next(path for path in map(folder.joinpath, names) if not path.exists()))


def called(history: History, path: str, format_: str) -> History:
    """The same history, as one that is in a file."""
    return History(history.columns, Source(path=path, format=format_))
