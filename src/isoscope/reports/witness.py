"""Why levels hold: the witnesses as data, and in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isoscope import __version__
from isoscope.explain import transaction_name, whole
from isoscope.verdict import Report, WitnessForm

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from isoscope.verdict import OperationPlace, Search, WitnessOrder

__all__ = ["witness_document", "witness_documents", "witness_rows"]

#: Of a longer order the first ones are shown.
_SHOWN = 12
_SAYS = {
    WitnessForm.ORDER: "",
    WitnessForm.EVENTS: "begins and commits: ",
    WitnessForm.VERSIONS: "versions by their writers: ",
}


def witness_document(report: Report | Search) -> dict[str, Any]:
    """The witnesses of one history as a document."""
    found = witness_documents(report) if isinstance(report, Report) else []
    return {"isoscope": __version__, "history": dict(report.history), "witnesses": found}


def witness_documents(report: Report) -> list[dict[str, Any]]:
    """The witnesses as data."""
    return [_witness(witness) for witness in report.witnesses]


def _witness(witness: WitnessOrder) -> dict[str, Any]:
    return {
        "level": str(witness.level),
        "form": str(witness.form),
        "order": [*map(_id, witness.order)],
        "versions": [
            {"key": whole(key), "writes": [_operation(write) for write in writes]}
            for key, writes in witness.versions
        ],
        "took_effect": [*map(_id, witness.took_effect)],
        "reads": [
            {
                "read": _operation(shown.read),
                "writes": [None if write is None else _operation(write) for write in shown.writes],
                "is_list": shown.is_list,
            }
            for shown in witness.reads
        ],
        "source": witness.source,
    }


def _id(transaction: Any) -> int | str | dict[str, str]:
    """The id of a transaction: a number or a text as it is, anything else as text."""
    is_plain = isinstance(transaction, int | str) and not isinstance(transaction, bool)
    return transaction if is_plain else {"edn": whole(transaction)}


def _operation(place: OperationPlace) -> list[Any]:
    return [_id(place.transaction), place.place]


def witness_rows(report: Report) -> Iterator[tuple[str, str]]:
    """For each distinct witness the levels that it shows, and its beginning in words."""
    levels: dict[str, list[str]] = {}
    for witness in report.witnesses:
        levels.setdefault(_said(witness), []).append(str(witness.level))
    for text, names in levels.items():
        yield ", ".join(names), text


def _said(witness: WitnessOrder) -> str:
    if witness.form is WitnessForm.VERSIONS:
        keys = [
            f"{whole(key)} {', '.join(transaction_name(write.transaction) for write in writes)}"
            for key, writes in witness.versions
            if len(writes) > 1
        ]
        listed = _listed(keys, "; ", "keys") or "each key has one"
    elif witness.form is WitnessForm.EVENTS:
        listed = _listed([*_events(witness.order)], ", ", "events")
    else:
        listed = _listed([*map(transaction_name, witness.order)], ", ", "transactions")
    effects = [*map(transaction_name, witness.took_effect)]
    took = f"; {', '.join(effects[:_SHOWN])} took effect" if effects else ""
    by = f" (by {witness.source})" if witness.source else ""
    return f"{_SAYS[witness.form]}{listed}{took}{by}"


def _events(order: Sequence[object]) -> Iterator[str]:
    begun = set()
    for transaction in order:
        is_end = transaction in begun
        begun.add(transaction)
        yield f"{transaction_name(transaction)} {'commits' if is_end else 'begins'}"


def _listed(names: Sequence[str], separator: str, what: str) -> str:
    if len(names) <= _SHOWN:
        return separator.join(names)
    return f"{separator.join(names[:_SHOWN])}{separator}... ({len(names):,} {what})"
