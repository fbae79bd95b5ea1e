"""Writes the pages, and the parts of pages, that follow from the code and from recorded results.

`python -m docs.generate` writes them; `--check` fails if one of them is not what the code says. A part
stands between `<!-- generated: NAME -->` and `<!-- end -->`.
"""

from __future__ import annotations

import re
import sys
from functools import partial
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING

import click

from docs import benchmarks_page, markdown
from docs.compared_figures import figures
from docs.database_facts import facts
from docs.profiles_page import profiles
from docs.rooms import rooms_picture, rooms_table
from isoscope import cli
from isoscope.anomalies import CATALOGUE, CatalogueEntry, Example, broken
from isoscope.checkers import CHECKERS, timestamps, version_order
from isoscope.cli.explain import example_text, reported
from isoscope.cli.program import group
from isoscope.databases import DATABASES, driver
from isoscope.formats import FEATURES, FORMATS, Format
from isoscope.levels import DEFINITIONS, FORMAL, Definition, Family, Level, implied, implying
from isoscope.live.metrics import described
from isoscope.reports.lattice import render_lattice
from isoscope.reports.schema import render_schema
from isoscope.workloads import CLIENTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from isoscope.workloads.registry import Clients

__all__ = ["PAGES", "stale"]

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "docs" / "reference"
_LEVELS_PAGE = ROOT / "docs" / "explanation" / "levels.md"
_HTTP = REFERENCE / "http.md"
_COMPARISON = ROOT / "docs" / "explanation" / "comparison.md"
_ARCHITECTURE = ROOT / "docs" / "explanation" / "architecture.md"
_PART = re.compile(r"(<!-- generated: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
#: Levels that a checker of this version can show to hold; the others of its `LEVELS` it can only refute.
_WEAK = frozenset({Level.CUT_ISOLATION, Level.READ_COMMITTED, Level.READ_ATOMIC, Level.CAUSAL})
_DECIDED = _WEAK.union(version_order.LEVELS, timestamps.LEVELS)
_FAMILIES = {
    Family.CLOCK: ("Against the database's own clock", "They speak of histories with timestamps."),
    Family.REAL_TIME: ("With real time", "They speak of histories with intervals or an order of events."),
    Family.SESSION: ("With session order", "A session's transactions stay in their order."),
    Family.SESSIONLESS: ("Without sessions", "Nothing orders transactions but the data that they share."),
}


def commands() -> str:
    """Every command with its help text."""
    root = group
    sections = [_help(root, "isoscope")]
    context = click.Context(root, info_name="isoscope")
    for name in cli.COMMANDS:
        command = root.get_command(context, name)
        if command is None:
            raise AssertionError(f"{name} is listed and missing")
        sections.append(f"## isoscope {name}\n\n{_help(command, name, context)}")
        if isinstance(command, click.Group):
            parent = click.Context(command, info_name=name, parent=context)
            for part, below in command.commands.items():
                sections.append(f"### isoscope {name} {part}\n\n{_help(below, part, parent)}")
    intro = "What each command prints with `--help`. [Exit status](exit-status.md) has a page of its own."
    return markdown.page("The command line", intro, *sections)


def _help(command: click.Command, name: str, parent: click.Context | None = None) -> str:
    context = click.Context(command, info_name=name, parent=parent, terminal_width=100, max_content_width=100)
    context.help_option_names = ["-h", "--help"]
    return f"```text\n{command.get_help(context)}\n```"


def levels() -> str:
    """Every level: its meaning, what it implies, its other names, its source."""
    intro = (
        "One spelling everywhere: on the command line, in JSON, in Python. Aliases are understood where a "
        "level is named. [Levels, explained](../explanation/levels.md) says how the families differ and "
        "what this version decides."
    )
    return markdown.page("Levels", intro, *map(_family, _FAMILIES))


def _family(family: Family) -> str:
    title, meaning = _FAMILIES[family]
    entries = [_level(definition) for definition in DEFINITIONS.values() if definition.family is family]
    return "\n\n".join([f"## {title}", f"{meaning} Stronger levels come first.", *entries])


def _level(definition: Definition) -> str:
    facts = {
        "Definition": FORMAL[definition.level],
        "Note": f"{definition.note}; many databases use the name for another level"
        if definition.note
        else "",
        "Implies": markdown.links(definition.implies),
        "Also called": markdown.codes(definition.aliases),
        "Source": definition.source,
        "Decided": "" if definition.decided else _undecided(definition.level),
    }
    return f"### {definition.level}\n\n{definition.meaning}\n\n{markdown.facts(facts)}"


def _undecided(level: Level) -> str:
    alone = implied(level) == implying(level) == {level}
    return "by no method, always unknown" if alone else "by no method; other levels may settle it"


def anomalies() -> str:
    """The catalogue of anomalies."""
    found = [entry for entry in CATALOGUE.values() if entry.name in reported()]
    others = [entry for entry in CATALOGUE.values() if entry.name not in reported()]
    intro = (
        "The catalogue, with the labels of the papers. `isoscope explain NAME` prints the same, with every "
        "level that an anomaly breaks; here are the weakest, and the levels that imply them are broken too."
    )
    names = (
        "## Named, not yet reported\n\nNo method of this version looks for these: a history that shows one "
        "of them is not called violated for it. The examples are what the names mean."
    )
    reports = "## Reported by this version"
    return markdown.page("Anomalies", intro, reports, *map(_anomaly, found), names, *map(_anomaly, others))


def _anomaly(entry: CatalogueEntry) -> str:
    facts = {
        "Also called": markdown.codes(entry.aliases),
        "Breaks": _breaks(entry),
        "Counted": entry.counted,
        "Source": entry.source,
    }
    parts = [f"### {entry.name}", entry.meaning, markdown.facts(facts), _example("Example", entry.example)]
    if said := example_text(entry):
        parts.append(f"```text\n{dedent(said)}\n```")
    return "\n\n".join(filter(None, [*parts, _example("Allowed", entry.allowed)]))


def _breaks(entry: CatalogueEntry) -> str:
    if not entry.breaks:
        return "no level by itself"
    stronger = len(broken(entry)) - len(entry.breaks)
    return markdown.links(entry.breaks) + (
        f", and so {stronger} stronger level{'s' * (stronger > 1)}" if stronger else ""
    )


def _example(head: str, example: Example | None) -> str:
    if example is None:
        return ""
    return f"{head} ({example.format}): {example.note}\n\n```text\n{example.text}```"


def formats() -> str:
    """What each format is and what it can hold."""
    intro = (
        "The format of an input is recognised by its content, that of an output by its name; `--format` and "
        "`--to` overrule both. Any of them may be compressed (`.gz`, `.zst`)."
    )
    about = markdown.table(
        ["format", "what it is", "names of files", "initial value", "written"],
        [
            [
                f"[`{f.name}`](formats/{f.name}.md)",
                f.title,
                markdown.codes(f.suffixes),
                _initial(f.name),
                "yes" if f.write else "only read",
            ]
            for f in FORMATS
        ],
    )
    can = (
        "## What each can hold\n\nEvery format holds committed transactions of reads and writes of integers. "
        "Beyond that, *yes* means that writing and reading again gives it back, *in part* that the page of "
        "the format says how much. `isoscope convert` refuses "
        "to write what the target cannot hold, unless `--lossy`. The table is about writing: the reader of "
        "`jepsen` also takes a version order from a log beside the file, which its writer does not write."
    )
    written = [f for f in FORMATS if f.write]
    holds = markdown.table(
        ["a history with", *(f"`{f.name}`" for f in written)],
        [[feature, *(_held(feature, f) for f in written)] for feature in FEATURES],
    )
    return markdown.page("Formats", intro, about, can, holds)


def _held(feature: str, format_: Format) -> str:
    if feature in format_.partly:
        return "in part"
    return "yes" if feature in format_.holds else ""


def _initial(name: str) -> str:
    [initial] = [f.initial for f in FORMATS if f.name == name]
    if initial is None:
        return "in the file"
    return {"None": "nil", "0": "0"}.get(repr(initial.value), "unknown")


def databases() -> str:
    """What can be driven: isolations, promises, settings, and what clients do there."""
    intro = (
        "What `isoscope run` knows. [Run a database](../how-to/run-a-database.md) says how to use it, "
        "[what a run is](../explanation/running.md) what a promise means. The first isolation is the one "
        "that is taken unless told otherwise."
    )
    return markdown.page("Databases and workloads", intro, *map(_database, DATABASES), _workloads())


def _database(name: str) -> str:
    found = driver(name)
    isolations = [
        [f"`{name}`", isolation.meaning, markdown.links(isolation.promises) or "nothing"]
        for name, isolation in found.ISOLATIONS.items()
    ]
    settings = [[f"`{name}`", meaning.replace("|", "\\|")] for name, meaning in found.SETTINGS.items()]
    parts = [f"## {name}", facts(name)]
    parts.append(markdown.table(["`--isolation`", "what it does", "promises"], isolations))
    return "\n\n".join(
        [*parts, markdown.table(["`--set`", "what it means"], settings)] if settings else parts
    )


def _workloads() -> str:
    rows = [
        [f"`{name}`", clients.meaning, markdown.codes(_defaults(clients))]
        for name, clients in CLIENTS.items()
    ]
    intro = (
        "Each has the parameters that are listed, with the defaults of its authors. Those of `key-value`, "
        "which a run takes unless told otherwise, let most transactions commit: it has as many sessions as "
        "the machine has cores, but at least 4 and at most 8, and 3 on SQLite, which has one writer."
    )
    table = markdown.table(["`--workload`", "what sessions do", "parameters"], rows)
    return f"## Workloads\n\n{intro}\n\n{table}"


def _defaults(clients: Clients) -> Iterator[str]:
    for name in clients.parameters:
        yield f"--{name.replace('_', '-')} {getattr(clients.defaults, name)}"


def lattice() -> str:
    """A table of all levels, what follows directly from each, and what can be answered."""
    rows = [
        [
            f"[`{level}`](../reference/levels.md#{level})",
            definition.family,
            markdown.codes(definition.implies),
            _answers(level),
        ]
        for level, definition in DEFINITIONS.items()
    ]
    return markdown.table(["level", "family", "implies directly", "this version answers"], rows)


def lattice_picture() -> str:
    """The levels that a method decides, each above those that it implies; light or dark as the reader is."""
    picture = render_lattice(dict.fromkeys(level for level in Level if DEFINITIONS[level].decided))
    head, _, body = picture.partition(">")
    return f'{head} xmlns="http://www.w3.org/2000/svg"><style>{_LATTICE_STYLE}</style>{body}\n'


def _answers(level: Level) -> str:
    """The outcomes that the checkers of this version can give to `level`."""
    judged = {judged for checker in CHECKERS for judged in checker.LEVELS}
    outcomes = ["holds"] if any(level in implied(decided) for decided in _DECIDED) else []
    outcomes += ["violated"] if implied(level) & judged else []
    return " or ".join([*outcomes, "unknown"]) if len(outcomes) < 2 else ", ".join([*outcomes, "unknown"])


def metrics() -> str:
    """The metrics of the online service."""
    rows = (
        [f"`{name}`", kind, markdown.codes(labels), meaning] for name, kind, meaning, labels in described()
    )
    return markdown.table(["metric", "kind", "labels", "meaning"], rows)


def _parts(path: Path) -> str:
    """The page with its generated parts replaced."""

    def replaced(part: re.Match[str]) -> str:
        return f"{part[1]}\n{_PARTS[part[2]]()}\n\n{part[3]}"

    return _PART.sub(replaced, path.read_text(encoding="utf-8"))


_LATTICE_STYLE = (
    ".lattice{color-scheme:light dark;font:11px system-ui,sans-serif;text-anchor:middle;"
    "--ink:#1d2530;--rim:#71809a;--paper:#f4f6fa}"
    "@media(prefers-color-scheme:dark){.lattice{--ink:#e3e8f0;--rim:#8593ab;--paper:#232b38}}"
    "text{fill:var(--ink);dominant-baseline:central}.family{font-size:13px;font-weight:600}.level{font-weight:600}"
    ".box{fill:var(--paper);stroke:var(--rim);stroke-width:1.2}"
    ".implies{fill:none;stroke:var(--rim);stroke-width:1.2}.across{stroke-dasharray:3 3;opacity:.7}"
)

_PARTS: Mapping[str, Callable[[], str]] = {
    "figures": figures,
    "levels": lattice,
    "metrics": metrics,
    "rooms": rooms_table,
}

PAGES: Mapping[Path, Callable[[], str]] = {
    _LEVELS_PAGE: partial(_parts, _LEVELS_PAGE),
    _LEVELS_PAGE.with_suffix(".svg"): lattice_picture,
    _HTTP: partial(_parts, _HTTP),
    _COMPARISON: partial(_parts, _COMPARISON),
    _ARCHITECTURE: partial(_parts, _ARCHITECTURE),
    _ARCHITECTURE.with_name("rooms.svg"): rooms_picture,
    benchmarks_page.PAGE: benchmarks_page.benchmarks,
    **benchmarks_page.pictures(),
    REFERENCE / "cli.md": commands,
    REFERENCE / "levels.md": levels,
    REFERENCE / "anomalies.md": anomalies,
    REFERENCE / "formats.md": formats,
    REFERENCE / "databases.md": databases,
    REFERENCE / "profiles.md": profiles,
    REFERENCE / "isoscope.schema.json": render_schema,
}


def stale() -> Iterator[Path]:
    """The pages that do not say what the code says."""
    for path, write in PAGES.items():
        if not path.is_file() or path.read_text(encoding="utf-8") != write():
            yield path


def main(arguments: list[str]) -> int:
    """Writes the pages, or with `--check` names those that are stale."""
    if arguments not in ([], ["--check"]):
        click.echo("usage: python -m docs.generate [--check]", err=True)
        return 2
    paths = list(stale())
    for path in paths:
        click.echo(f"{'stale' if arguments else 'written'}: {path.relative_to(ROOT)}")
        if not arguments:
            path.parent.mkdir(exist_ok=True)
            path.write_text(PAGES[path](), encoding="utf-8")
    return 1 if paths and arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
