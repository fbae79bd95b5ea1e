"""The table of the Hermitage suite: for each isolation, the results beside the known ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from isoscope.reports.terminal import paragraph, table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["HermitageRow", "render_hermitage"]

#: From the weakest to the strongest.
_MEANINGS = {
    "no": "the anomaly can occur",
    "R/O": "it is prevented for transactions that only read",
    "yes": "it is prevented",
}
#: How a sentence names the source of the known results.
_PHRASES = {"published": "published", "theory": "theory says"}
_DIFFERS = "!"
_ABSENT = "-"


@dataclass(frozen=True, slots=True, kw_only=True)
class HermitageRow:
    """The result of each anomaly at one isolation; `expected` are the known results.

    `kind` is their origin (`published`, `theory`), and `source` the publication or the level.
    """

    isolation: str
    found: Mapping[str, str]
    expected: Mapping[str, str] | None = None
    kind: str = ""
    source: str = ""

    @property
    def differences(self) -> tuple[str, ...]:
        """The anomalies whose result is not the known one."""
        known = self.expected or {}
        return tuple(name for name, cell in self.found.items() if name in known and known[name] != cell)


def render_hermitage(database: str, rows: Sequence[HermitageRow], *, width: int = 100) -> str:
    """The table, its legend, and the differences in words."""
    blocks = [
        paragraph(f"{database}: which anomalies does each isolation prevent?", width=width),
        _table(rows),
        "\n".join(paragraph(line, width=width) for line in _legend(rows)),
        "\n".join(paragraph(line, width=width) for line in _said(rows)),
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _table(rows: Sequence[HermitageRow]) -> str:
    anomalies = list(dict.fromkeys(name for row in rows for name in row.found))
    lines = [["", "", *anomalies]]
    for row in rows:
        found = [_found(row, name) for name in anomalies]
        lines.append([row.isolation, "found", *found])
        if row.expected is not None:
            lines.append(["", row.kind, *(row.expected.get(name, _ABSENT) for name in anomalies)])
    return table(lines)


def _found(row: HermitageRow, anomaly: str) -> str:
    return row.found.get(anomaly, _ABSENT) + (_DIFFERS if anomaly in row.differences else "")


def _legend(rows: Sequence[HermitageRow]) -> Iterator[str]:
    shown = {cell for row in rows for cells in (row.found, row.expected or {}) for cell in cells.values()}
    for cell, meaning in reversed(_MEANINGS.items()):
        if cell in shown:
            yield f"{cell}: {meaning}"
    if any(row.differences for row in rows):
        yield f"{_DIFFERS}: not what is known"
    yield from dict.fromkeys(f"{row.kind}: {row.source}" for row in rows if row.expected is not None)


def _said(rows: Sequence[HermitageRow]) -> Iterator[str]:
    for row in rows:
        if row.expected is None:
            yield f"{row.isolation}: nothing is known that it could be compared with."
        for name in row.differences:
            yield _difference(row, name, row.expected or {})
    known = [row for row in rows if row.expected is not None]
    if known and not any(row.differences for row in known):
        kinds = dict.fromkeys(_PHRASES[row.kind] for row in known)
        every = "All" if len(known) == len(rows) else "All else"
        yield f"{every} is as {' and '.join(kinds)}."


def _difference(row: HermitageRow, anomaly: str, known: Mapping[str, str]) -> str:
    strength = list(_MEANINGS)
    is_weaker = strength.index(row.found[anomaly]) < strength.index(known[anomaly])
    return (
        f"{row.isolation}: {'weaker' if is_weaker else 'stronger'} than {_PHRASES[row.kind]} for {anomaly}: "
        f"{row.found[anomaly]}, not {known[anomaly]}."
    )
