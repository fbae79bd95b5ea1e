"""The file of `check --certificate`: the proofs of all verdicts on one history."""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import click

from isoscope.errors import UsageError
from isoscope.evidence import EvidenceKind
from isoscope.formats.source import output
from isoscope.history import label
from isoscope.prove.limits import MOST_TRANSACTIONS
from isoscope.reports.certificate import certificate
from isoscope.reports.certificate_levels import CERTIFIED
from isoscope.reports.certificate_names import Names
from isoscope.verdict import Report

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from isoscope.history import History, Scalar
    from isoscope.prove.certificates import Prover
    from isoscope.reports.certificate import Certificate
    from isoscope.verdict import Search

__all__ = ["CertificateFile", "is_large", "proofs", "prover_of"]

#: The formats that the verifier reads.
_READ_BY_THE_VERIFIER = ("plume", "jepsen", "parquet")
#: The label of a transaction whose id is an integer.
_NUMBERED = re.compile(r"T(0|-?[1-9][0-9]*)")


class CertificateFile:
    """Takes the report on one history."""

    def __init__(self, target: str, histories: Sequence[str]) -> None:
        self._target = target
        self._path = histories[0] if histories else None
        self._lines: tuple[str, ...] = ()
        _refuse(target, histories)

    def add(self, history: History, report: Report | Search, *, is_initial_given: bool) -> None:
        """Keeps the proofs, and tells which decided levels have none."""
        if not isinstance(report, Report):
            return
        _refuse_format(history, report)
        initial = _initial(history) if is_initial_given else None
        made = proofs(history, report, initial, prover_of(history, initial, self._path))
        self._lines = made.lines
        if made.left_out:
            reasons = "; ".join(f"{count}: {reason}" for reason, count in sorted(made.left_out.items()))
            left, decided = sum(made.left_out.values()), made.certified + sum(made.left_out.values())
            message = f"note: {self._target} leaves out {left} of {decided} decided levels ({reasons})"
            click.echo(message, err=True)

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Opens the file before the work begins; it appears as a whole after it."""
        # Orders are long, and a better compression would take longer than the check.
        with output(self._target, gzip_level=1) as sink:
            yield
            for line in self._lines:
                sink.write(f"{line}\n".encode())


def is_large(history: History) -> bool:
    """Whether the proofs are only those of the report, because a search would take too long."""
    return len(history) > MOST_TRANSACTIONS


def proofs(
    history: History,
    report: Report,
    initial: Mapping[str, object] | None = None,
    prover: Prover | None = None,
) -> Certificate:
    """The certificate of a report; `initial` if the history does not tell its initial values.

    A prover looks for what the report does not prove.
    """
    return certificate(report, _names(history, report), initial, prover)


def prover_of(
    history: History, initial: Mapping[str, object] | None, path: str | Path | None
) -> Prover | None:
    """A prover for the file of a small history, if the verifier can read it."""
    if path is None or is_large(history):
        return None
    from isoscope.prove.certificates import Prover  # noqa: PLC0415 - see `limits`
    from isoscope.verify.files import read_history  # noqa: PLC0415 - see `limits`
    from isoscope.verify.history import BadInputError  # noqa: PLC0415 - see `limits`
    from isoscope.verify.parquet import initial_values  # noqa: PLC0415 - see `limits`

    try:
        read = read_history(Path(path))
        if initial is not None:
            read.initial = initial_values(dict(initial))
    except BadInputError:
        return None
    return Prover(read)


def _refuse(target: str, histories: Sequence[str]) -> None:
    if len(histories) != 1:
        raise UsageError("--certificate is about one history")
    if Path(histories[0]).is_dir() or histories[0].endswith(".zst"):
        raise UsageError(
            f"--certificate: the verifier reads one file, as it is or with .gz, not {histories[0]}\n\n"
            "hint: `isoscope convert` makes Parquet, which it reads"
        )
    if target in ("", "-"):
        raise UsageError("--certificate needs the name of a file: the results are on standard output")
    if target.endswith(".zst"):
        raise UsageError("--certificate: the verifier unpacks .gz alone")
    if not Path(target).parent.is_dir():
        raise UsageError(f"--certificate: cannot write {target}: there is no folder {Path(target).parent}")
    if os.path.realpath(target) in map(os.path.realpath, histories):
        raise UsageError(f"--certificate: {target} would replace a history")


def _refuse_format(history: History, report: Report) -> None:
    found = report.history["format"]
    if found not in _READ_BY_THE_VERIFIER:
        raise UsageError(
            f"--certificate: the verifier does not read the format {found}\n\n"
            "hint: `isoscope convert` makes Parquet, which it reads, from any format"
        )
    if found == "jepsen" and history.version_orders:
        raise UsageError(
            "--certificate: the verifier does not read a log beside the history\n\n"
            "hint: `isoscope convert` makes Parquet, which keeps both in one file"
        )


def _names(history: History, report: Report) -> Names:
    sources = frozenset(_sources(history))
    return Names(
        id_of=_Labels(history).id_of,
        sources=sources,
        is_contradictory=_is_contradictory(report, sources),
        repeats=history.columns.repeats(),
        has_open_ends=bool(report.history["indeterminate"]),
    )


class _Labels:
    """The ids of transactions by their labels."""

    def __init__(self, history: History) -> None:
        self._history = history

    def id_of(self, name: str) -> Scalar:
        """The id of the one transaction with this label; None if there are several."""
        if not self._are_plain or name.startswith(("'", '"')):  # a text that is not printable is quoted
            return self._all.get(name)
        ids: list[Scalar] = [name]
        if _NUMBERED.fullmatch(name):
            ids.append(int(name[1:]))
        found = [each for each in ids if self._history.columns.find(each) is not None]
        return found[0] if len(found) == 1 else None

    @cached_property
    def _are_plain(self) -> bool:
        """Whether all ids are integers or texts: then few can have a label, and none needs all of them."""
        return {*map(type, self._ids)} <= {int, str}

    @cached_property
    def _ids(self) -> list[Scalar]:
        return self._history.columns.ids(range(len(self._history)))

    @cached_property
    def _all(self) -> Mapping[str, Scalar]:
        found: dict[str, Scalar] = {}
        for transaction_id in self._ids:
            name = label(transaction_id)
            found[name] = None if name in found else transaction_id
        return found


def _sources(history: History) -> Iterator[str]:
    """What says something of the order of versions."""
    if history.columns.kind_counts().get("append"):
        yield "lists"
    if EvidenceKind.TIMESTAMPS in history.evidence.present:
        yield "timestamps"
    yield from (str(order.source) for order in history.version_orders)


def _is_contradictory(report: Report, sources: frozenset[str]) -> bool:
    """Whether sources of the version order contradict each other, or may, as far as the report shows."""
    if any(witness.source for witness in report.witnesses):
        return True
    # An order of versions that agrees with all sources; those of the weak levels follow from values alone.
    weak = {level for level, rules in CERTIFIED.items() if rules.axiom}
    agree = any(str(witness.level) not in weak for witness in report.witnesses)
    return len(sources) > 1 and not agree


def _initial(history: History) -> Mapping[str, object]:
    value, replaceable, of_key = history.columns.initial_edn()
    return {"value": value, "replaceable": replaceable, "of_key": of_key}
