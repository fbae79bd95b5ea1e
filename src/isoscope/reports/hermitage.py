"""The table of the Hermitage suite: for each isolation, the results beside the known ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from isoscope.explain.value_text import enumeration
from isoscope.reports.terminal import paragraph, table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["HermitageRow", "render_hermitage"]

#: The words for a result, from the weakest to the strongest.
_WORDS = {"no": "allowed", "R/O": "prevented (R/O)", "yes": "prevented"}
_READ_ONLY = "R/O: only for transactions that do nothing but read"
#: How a sentence names the source of the known results.
_PHRASES = {"published": "published", "theory": "theory"}
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


def render_hermitage(
    database: str, rows: Sequence[HermitageRow], *, names: Mapping[str, str] | None = None, width: int = 100
) -> str:
    """The answer, the table, its legend and the differences; `names` are those of the literature."""
    shown = {anomaly for row in rows for anomaly in row.found}
    named = "; ".join(f"{anomaly}: {name}" for anomaly, name in (names or {}).items() if anomaly in shown)
    blocks = [
        paragraph(_answer(database, rows), width=width),
        _table(rows),
        "\n".join(paragraph(line, width=width) for line in [*([named] if named else []), *_legend(rows)]),
        "\n".join(paragraph(line, width=width) for line in _details(rows)),
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _answer(database: str, rows: Sequence[HermitageRow]) -> str:
    """Whether the database prevents what is expected of it, in one sentence."""
    known = [row for row in rows if row.expected is not None]
    if not known:
        return f"Not decided: nothing is known that {database} could be compared with."
    weaker = [row.isolation for row in known if any(_is_weaker(row, name) for name in row.differences)]
    if weaker:
        return f"No. {database} is weaker than expected at {enumeration(weaker)}."
    kinds = dict.fromkeys(_PHRASES[row.kind] for row in known)
    return f"Yes. {database} prevents what is expected ({' and '.join(kinds)})."


def _table(rows: Sequence[HermitageRow]) -> str:
    """A line for each anomaly, a column for each isolation."""
    anomalies = list(dict.fromkeys(name for row in rows for name in row.found))
    head = ["", *(row.isolation for row in rows)]
    return table([head, *([name, *(_cell(row, name) for row in rows)] for name in anomalies)])


def _cell(row: HermitageRow, anomaly: str) -> str:
    """The result, and what was expected where that is something else."""
    if anomaly not in row.found:
        return _ABSENT
    found = _WORDS[row.found[anomaly]]
    if anomaly not in row.differences:
        return found
    return f"{found}, expected {_WORDS[(row.expected or {})[anomaly]]}"


def _legend(rows: Sequence[HermitageRow]) -> Iterator[str]:
    shown = {cell for row in rows for cells in (row.found, row.expected or {}) for cell in cells.values()}
    if "R/O" in shown:
        yield _READ_ONLY
    for row in rows:
        if row.expected is not None:
            yield f"expected of {row.isolation}: {row.kind}, {row.source}"


def _details(rows: Sequence[HermitageRow]) -> Iterator[str]:
    for row in rows:
        if row.expected is None:
            yield f"{row.isolation}: nothing is known that it could be compared with."
        for name in row.differences:
            yield _difference(row, name, row.expected or {})


def _is_weaker(row: HermitageRow, anomaly: str) -> bool:
    strength = list(_WORDS)
    return strength.index(row.found[anomaly]) < strength.index((row.expected or {})[anomaly])


def _difference(row: HermitageRow, anomaly: str, known: Mapping[str, str]) -> str:
    found, expected = _WORDS[row.found[anomaly]], _WORDS[known[anomaly]]
    return (
        f"{row.isolation}: {'weaker' if _is_weaker(row, anomaly) else 'stronger'} than expected "
        f"({_PHRASES[row.kind]}) for {anomaly}: {found}, not {expected}."
    )
