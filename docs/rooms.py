"""The rooms of the package: what is in each, and which other rooms it may import.

`tests/repo/test_imports.py` compares this table with the imports of the code, and `docs/generate.py` writes
it and its picture into the page on the architecture.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["ABOVE", "LATER", "NATIVE", "ROOMS", "Room", "layers", "rooms_picture", "rooms_table"]


@dataclass(frozen=True, slots=True)
class Room:
    """A package or a module of `isoscope`."""

    content: str
    imports: frozenset[str] = frozenset()


def _room(content: str, imports: str = "") -> Room:
    return Room(content, frozenset(imports.split()))


#: `_native` is the extension that `rust/` is built into.
NATIVE = "_native"
ROOMS = {
    "evidence": _room("the kinds of evidence, and how complete each is", NATIVE),
    "provenance": _room("the input of a history: files, statements of a program, nodes of sessions, faults"),
    "history": _room("history, transaction, operation: what happened", f"evidence provenance {NATIVE}"),
    "levels": _room("the levels, the lattice as data, aliases, sources"),
    "errors": _room("the exceptions"),
    "arango_http": _room("requests to ArangoDB", "errors"),
    "anomalies": _room("the catalogue: name, meaning, source, the levels that each breaks", "levels"),
    "verdict": _room("step, anomaly and its facts, verdict, report", "levels anomalies"),
    "plugins": _room("drivers, formats and workloads of other packages", "errors"),
    "scalars": _room("values of drivers as scalars of a history, and back", NATIVE),
    "recorder": _room("records a history, or builds one from transactions", f"history scalars {NATIVE}"),
    "activity": _room("throughput, latency and contention over time", f"history {NATIVE}"),
    "profiles": _room(
        "the mechanisms of each level of each database, one file for each; profiles of users",
        f"levels errors {NATIVE}",
    ),
    "formats": _room(
        "one file for each format: sniff, read, write; tables in memory",
        f"history plugins scalars errors {NATIVE}",
    ),
    "reference": _room(
        "the definitions as short Python: the specification", "history levels profiles recorder verdict"
    ),
    "checkers": _room(
        "one file for each method: evidence in, verdicts out", f"history levels profiles verdict {NATIVE}"
    ),
    "explain": _room("says an anomaly in words; shrinks a history", f"history verdict {NATIVE}"),
    "reports": _room(
        "text, JSON, pages, pictures and reports for build servers, listed in `registry.py`",
        "activity verdict explain anomalies levels __version__",
    ),
    "workloads": _room(
        "seeded generators, and the programs of clients of a real database",
        f"history levels plugins errors {NATIVE}",
    ),
    "databases": _room(
        "one file or folder for each database: sessions, isolations",
        f"history levels plugins profiles arango_http errors {NATIVE}",
    ),
    "collect": _room("sends transactions to the online service", f"history formats errors {NATIVE}"),
    "run": _room(
        "a workload on a database: plan, sessions, recorded history, live verification, was the promise kept",
        "workloads databases history recorder levels verdict checkers explain collect plugins profiles "
        f"formats errors {NATIVE}",
    ),
    "verify": _room("checks certificates with parsers and definitions of its own; plain Python"),
    "prove": _room("searches proofs of verdicts on small histories, which the verifier accepts", "verify"),
    "record": _room(
        "records programs that use a database: SQL, drivers, interpretation, interleavings",
        "databases errors",
    ),
    "conformance": _room("what every driver must do, as checks", "checkers databases run verdict workloads"),
    "graphdb": _room(
        "dependency graphs in a graph database: export, stores, levels and questions as query files",
        f"history levels verdict checkers arango_http errors {NATIVE}",
    ),
    "cluster": _room(
        "the same checks on Apache Spark: parts of a history by key and by session, merged",
        f"history levels formats scalars profiles checkers verdict errors {NATIVE}",
    ),
    "live": _room(
        "the online service: journal, checkpoints, engines, HTTP, dashboard",
        f"history levels formats profiles checkers verdict reports errors {NATIVE} __version__",
    ),
}
#: Methods for users that a higher room implements, which they import when they are called: `print(report)`.
LATER = {"history": frozenset({"formats"}), "verdict": frozenset({"reports"})}
#: Nothing imports these, and they may import every room.
ABOVE = {
    "api": "what `import isoscope` offers: check, shrink, stress and watch, of files, tables and histories",
    "cli": "one file for each command: parses arguments and prints",
    "pytest_plugin": "fixtures and a marker for pytest",
}


def layers() -> list[list[str]]:
    """The rooms from the bottom: each stands above all rooms that it imports."""
    height: dict[str, int] = {}

    def place(room: str) -> int:
        if room not in height:
            below = [place(other) for other in ROOMS[room].imports if other in ROOMS]
            height[room] = 1 + max(below, default=-1)
        return height[room]

    for room in ROOMS:
        place(room)
    return [[room for room in ROOMS if height[room] == level] for level in range(max(height.values()) + 1)]


def rooms_table() -> str:
    """The table of the page on the architecture."""
    lines = ["| room | content | imports |", "| --- | --- | --- |"]
    for name, room in ROOMS.items():
        imports = ", ".join(f"`{other}`" for other in sorted(room.imports) if not other.startswith("__"))
        lines.append(f"| `{name}` | {room.content} | {imports} |")
    lines += [f"| `{name}` | {content} | every room |" for name, content in ABOVE.items()]
    return "\n".join(lines)


_WIDTH, _HEIGHT, _GAP, _MARGIN, _PAGE = 104, 30, 12, 10, 840
_STYLE = (
    "svg{color-scheme:light dark;font:12px system-ui,sans-serif;text-anchor:middle;"
    "--ink:#1d2530;--rim:#71809a;--paper:#f4f6fa}"
    "@media(prefers-color-scheme:dark){svg{--ink:#e3e8f0;--rim:#8593ab;--paper:#232b38}}"
    "text{fill:var(--ink);dominant-baseline:central}rect{fill:var(--paper);stroke:var(--rim);stroke-width:1.2}"
)


def rooms_picture() -> str:
    """The rooms in layers: every import leads down."""
    rows = [["rust/kernel"], ["rust/binding"], *layers(), [*ABOVE]][::-1]
    height = _MARGIN * 2 + len(rows) * (_HEIGHT + _GAP) - _GAP
    boxes = "".join(box for level, row in enumerate(rows) for box in _boxes(row, level))
    label = "Rooms of the package in layers; every import leads to a lower layer"
    return (
        f'<svg viewBox="0 0 {_PAGE} {height}" role="img" aria-label="{label}" '
        f'xmlns="http://www.w3.org/2000/svg"><style>{_STYLE}</style>{boxes}</svg>\n'
    )


def _boxes(row: list[str], level: int) -> Iterator[str]:
    width = len(row) * (_WIDTH + _GAP) - _GAP
    left, top = (_PAGE - width) / 2, _MARGIN + level * (_HEIGHT + _GAP)
    for place, room in enumerate(row):
        x = left + place * (_WIDTH + _GAP)
        yield f'<rect x="{x:g}" y="{top}" width="{_WIDTH}" height="{_HEIGHT}" rx="5"/>'
        yield f'<text x="{x + _WIDTH / 2:g}" y="{top + _HEIGHT / 2:g}">{escape(room)}</text>'
