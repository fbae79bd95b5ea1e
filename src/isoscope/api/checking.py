"""Check a history, whether it is a file, a table, a list of transactions or a `History`."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

from isoscope import checkers, formats, profiles
from isoscope.checkers.version_order import TIME_LIMIT
from isoscope.errors import UsageError
from isoscope.formats.table import from_table, is_table
from isoscope.history import History, Initial, Transaction
from isoscope.recorder import build, with_scalars

if TYPE_CHECKING:
    from isoscope.levels import Level
    from isoscope.profiles import Profile
    from isoscope.verdict import Claim, Method, Report, Search

__all__ = ["check", "history_of", "search"]

#: A path, a history, transactions, or a table of Arrow, pandas or polars.
Source: TypeAlias = str | os.PathLike[str] | History | Iterable[Transaction] | Any
_KINDS = "a path, a History, a list of Transactions, or a table of Arrow, pandas or polars"


def check(  # noqa: PLR0913 - the question, and the assumptions of the answer
    source: Source,
    levels: Level | str | Iterable[Level | str] | None = None,
    *,
    format: str | None = None,  # noqa: A002 - the word of the field
    initial: Initial | None = None,
    method: Method | str | None = None,
    max_anomalies: int = 10,
    assume: Claim | str | Iterable[Claim | str] = (),
    profile: Profile | str | None = None,
    clock_error: int = 0,
    time_limit: float = TIME_LIMIT,
    witness: bool = False,
) -> Report:
    """Decide which isolation levels a history satisfies.

    source         a path (file, directory, `-` for standard input; .gz and .zst too), a `History`, a list of
                   `Transaction`s, or a table of Arrow, pandas or polars: one row is one operation, with the
                   columns of the Parquet format
    levels         a level, or several, by any of their names; by default all that the evidence is about
    format         the format of the file; by default it is recognised by its content
    initial        an `Initial` that replaces the initial values of the file, or of the table
    method         use this method only: `values`, `version-order`, `timestamps` or `intervals`
    max_anomalies  counterexamples that are kept of each anomaly; all are counted
    assume         claims about the order of versions, on which every verdict then rests: `sequential-keys`,
                   `linearizable-keys`, `writes-follow-reads`
    profile        the mechanisms to look for, by the method of intervals: `postgresql/serializable`, ...
    clock_error    nanoseconds by which the clocks of clients may differ, with a profile
    time_limit     seconds for the search for an order of versions, for each level
    witness        also give `report.witnesses`: for each level that holds an order that shows it

    The report tells the verdicts: `report["snapshot-isolation"].outcome`, `report.holds("read-atomic")`,
    `print(report)`, `report.to_html("report.html")`. Raises ValueError for an unknown level, method or claim,
    and an `IsoscopeError` if the history cannot be read.

    >>> import isoscope
    >>> recorder = isoscope.Recorder(initial=0)
    >>> with recorder.transaction(session=1) as t:
    ...     t.read("x", 5)
    >>> isoscope.check(recorder.history(), "read-committed")
    <Report <memory>: violated read-committed>
    """
    return checkers.check(
        history_of(source, format=format, initial=initial),
        _several(levels),
        method=method,
        max_anomalies=max_anomalies,
        assume=_several(assume) or (),
        profile=profiles.load(profile) if isinstance(profile, str) else profile,
        clock_error=clock_error,
        time_limit=time_limit,
        witness=witness,
    )


def search(  # noqa: PLR0913 - the question, and the assumptions of the answer
    source: Source,
    anomalies: str | Iterable[str],
    *,
    levels: Level | str | Iterable[Level | str] | None = None,
    format: str | None = None,  # noqa: A002 - the word of the field
    initial: Initial | None = None,
    method: Method | str | None = None,
    max_anomalies: int = 10,
    assume: Claim | str | Iterable[Claim | str] = (),
) -> Search:
    """Look for anomalies in a history, whatever they say of levels.

    anomalies      an anomaly, or several, by any of their names: `write-skew`, `G2-item`, `TAP-j`
    levels         with them, each anomaly must count against one of these

    The other arguments are those of `check`. Raises ValueError for an unknown name.
    """
    return checkers.search(
        history_of(source, format=format, initial=initial),
        [anomalies] if isinstance(anomalies, str) else anomalies,
        levels=_several(levels),
        method=method,
        max_anomalies=max_anomalies,
        assume=_several(assume) or (),
    )


def _several(names: str | Iterable[str] | None) -> Iterable[str] | None:
    """A name alone is a list of one: a text must not be taken for its letters."""
    return [names] if isinstance(names, str) else names


def history_of(
    source: Source,
    *,
    format: str | None = None,  # noqa: A002 - the word of the field
    initial: Initial | None = None,
) -> History:
    """The history that `source` is, or holds. Raises TypeError if it is nothing of the kind."""
    if isinstance(source, str | os.PathLike):
        return formats.load(source, format=format, initial=initial)
    if format is not None:
        raise UsageError("`format` is for files: a history in memory has none")
    if isinstance(source, History):
        if initial is not None:
            raise UsageError("a History has its initial values already: give them to `load` or the Recorder")
        return source
    if is_table(source):
        return from_table(source, initial=initial)
    return _built(source, initial)


def _built(source: Source, initial: Initial | None) -> History:
    transactions: list[Any] = list(source) if isinstance(source, Iterable) else [source]
    for transaction in transactions:
        if not isinstance(transaction, Transaction):
            raise TypeError(f"expected {_KINDS}, found {type(source).__name__}")
    return build(map(with_scalars, transactions), initial=initial)
