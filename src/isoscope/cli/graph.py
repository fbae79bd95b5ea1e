"""`isoscope graph`: dependency graphs in a graph database, levels as queries, questions of your own."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from isoscope import __version__, formats, graphdb
from isoscope.cli.exit_status import UNDECIDED, VIOLATED
from isoscope.cli.graph_text import answer_document, answers_text, facts_text, table_document, table_text
from isoscope.cli.options import format_option, initial_option, parse_levels
from isoscope.errors import IsoscopeError, UsageError
from isoscope.formats.source import output
from isoscope.graphdb.check import facts_of
from isoscope.graphdb.cycle import cycle_of
from isoscope.graphdb.queries import parameters_of, statements
from isoscope.graphdb.stored_history import StoredHistory
from isoscope.levels import Level
from isoscope.reports import dumps, render_svg
from isoscope.verdict import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from isoscope.graphdb import Answer, GraphStore, Table
    from isoscope.history import Initial
    from isoscope.verdict import Anomaly

__all__ = ["command"]

#: Extensions that the name of a graph is without.
_EXTENSIONS = {".gz", ".zst", ".edn", ".json", ".jsonl", ".txt", ".parquet", ".log", ".yaml", ".bincode"}
_END = (".exit", ".quit")


def _name_option(function: Callable[..., Any]) -> Callable[..., Any]:
    return click.option("--name", metavar="GRAPH", help="Name of the graph, if there are several.")(function)


@click.group("graph")
def command() -> None:
    """Store a dependency graph in a graph database and query it.

    DATABASE is a file of the embedded LadybugDB, or a server: bolt://HOST:PORT (Neo4j, ArcadeDB),
    http://HOST:PORT (ArangoDB). `isoscope check` decides the same levels, and more, with less work: a graph
    is for looking, and for further questions.

    \b
    Examples:
        isoscope graph load history.edn graphs.lbug
        isoscope graph check graphs.lbug --level serializable
        isoscope graph query graphs.lbug busiest-keys
    """


@command.command("load")
@click.argument("path", metavar="HISTORY")
@click.argument("database")
@click.option("--name", metavar="GRAPH", help="Name of the graph; by default that of the file.")
@format_option("HISTORY")
@initial_option()
def load(path: str, database: str, *, name: str | None, format_: str | None, initial: Initial | None) -> None:
    """Store the dependency graph of a history, in the place of one with the same name."""
    history = formats.load(path, format=format_, initial=initial)
    graph = graphdb.export(history, name or _graph_name(path))
    with graphdb.open_store(database) as store:
        store.load(graph)
    click.echo(facts_text(graph.facts))


@command.command("list")
@click.argument("database")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_(database: str, *, as_json: bool) -> None:
    """List the graphs of a database."""
    with _existing(database, read_only=True) as store:
        found = store.graphs()
    click.echo(dumps(found) if as_json else "\n".join(map(facts_text, found)) or "no graphs")


@command.command("remove")
@click.argument("database")
@click.argument("name")
def remove(database: str, name: str) -> None:
    """Delete a graph."""
    with _existing(database) as store:
        if not store.remove(name):
            known = ", ".join(graph["name"] for graph in store.graphs()) or "none"
            raise UsageError(f"there is no graph {name} (stored: {known})")
    click.echo(f"graph {name} removed")


@command.command("check")
@click.argument("database")
@_name_option
@click.option("--level", "names", multiple=True, metavar="LEVEL",
              help=f"One of {', '.join(graphdb.LEVELS)}; may be repeated.")  # fmt: skip
@click.option("--method", type=click.Choice([*map(str, graphdb.QueryMethod)]), default="shortest-path",
              show_default=True, help="How a query finds a cycle; the first two are complete.")  # fmt: skip
@click.option("--depth", type=click.IntRange(2, 1000), default=graphdb.DEPTH, show_default=True,
              help="Longest cycle that an incomplete method finds.")  # fmt: skip
@click.option("--seed", type=int, default=0, show_default=True, help="Order of the starts of `random`.")
@click.option("--svg", metavar="OUT.svg", help="Draw the first counterexample.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_context
def check(
    ctx: click.Context,
    database: str,
    *,
    name: str | None,
    names: tuple[str, ...],
    method: str,
    depth: int,
    seed: int,
    svg: str | None,
    as_json: bool,
) -> None:
    """Decide levels by queries on a stored graph.

    Exits 1 if a level that is named by --level is violated, 3 if one is unknown; without --level, pl-2
    decides.

    \b
    Examples:
        isoscope graph check graphs.lbug
        isoscope graph check graphs.lbug --level si --method cycle --depth 3
    """
    search = graphdb.Search(method=graphdb.QueryMethod(method), depth=depth, seed=seed)
    asked = parse_levels(names) or graphdb.LEVELS
    with _existing(database, read_only=True) as store:
        facts = facts_of(store, name)
        answers = [graphdb.check(store, level, name=facts["name"], search=search) for level in asked]
    if as_json:
        found = {"isoscope": __version__, "graph": facts, "answers": [*map(answer_document, answers)]}
        click.echo(dumps(found))
    else:
        click.echo(answers_text(facts, answers))
    if svg is not None:
        _draw(svg, [answer.cycle.anomaly for answer in answers if answer.cycle is not None])
    ctx.exit(_status([a for a in answers if names or a.level is Level.PL_2]))


@command.command("query")
@click.argument("database")
@click.argument("query", required=False)
@_name_option
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE",
              help="Parameter of the query, `$NAME` there; may be repeated.")  # fmt: skip
@click.option("--svg", metavar="OUT.svg", help="Draw a result that is a cycle.")
@click.option("--json", "as_json", is_flag=True, help="Print the rows as JSON.")
def query(
    database: str,
    query: str | None,
    *,
    name: str | None,
    settings: tuple[str, ...],
    svg: str | None,
    as_json: bool,
) -> None:
    """Ask a question: one that comes with Isoscope, a file of yours, or a query in quotes.

    Without QUERY, list the questions that come with Isoscope. `$graph` is the name of the graph in each. A
    query that would change the database is rejected (ArangoDB: is not).

    \b
    Examples:
        isoscope graph query graphs.lbug
        isoscope graph query graphs.lbug why-before --set from=T3 --set to=T7
        isoscope graph query graphs.lbug 'MATCH (t:Transaction) RETURN t.name, t.reads ORDER BY t.reads'
    """
    parameters = _settings(settings)
    with _existing(database, read_only=True) as store:
        if query is None:
            click.echo(_questions_text(store.dialect))
            return
        facts = facts_of(store, name)
        table = _asked(store, query, {"graph": facts["name"], **parameters})
        click.echo(dumps(table_document(table)) if as_json else table_text(table))
        if svg is not None:
            _draw(svg, _cycles(StoredHistory(store, facts), table))


@command.command("open")
@click.argument("database")
@_name_option
def open_(database: str, *, name: str | None) -> None:
    """Ask questions one after another, on a prompt.

    A query ends with a semicolon. `.questions` lists those that come with Isoscope, which are asked by name;
    `.exit` or the end of the input ends.

    \b
    Example:
        isoscope graph open graphs.lbug
    """
    with _existing(database, read_only=True) as store:
        facts = facts_of(store, name)
        click.echo(f"{facts_text(facts)}\na query ends with `;`  .questions lists some  .exit ends")
        for text in _entered():
            try:
                click.echo(_reply(store, text, facts["name"]))
            except IsoscopeError as error:
                click.echo(f"error: {error}", err=True)


def _entered() -> Iterable[str]:
    """What is typed, query by query; a line that begins with a point, or is one word, is complete."""
    lines: list[str] = []
    while True:
        if sys.stdin.isatty():
            click.echo("> " if not lines else ". ", nl=False)
        line = sys.stdin.readline()
        text = "\n".join([*lines, line.strip()]).strip()
        if not line or text in _END:
            return
        is_word = text.startswith(".") or len(text.split()) == 1
        if text and (text.endswith(";") or is_word):
            lines = []
            yield text.removesuffix(";").strip()
        elif text:
            lines.append(line.rstrip())


def _reply(store: GraphStore, text: str, name: str) -> str:
    if text == ".questions":
        return _questions_text(store.dialect)
    return table_text(_asked(store, text, {"graph": name}))


def _asked(store: GraphStore, text: str, parameters: Mapping[str, Any]) -> Table:
    """The result of a question by its name, of a file, or of a query."""
    known = {question.name: question.path for question in graphdb.questions(store.dialect)}
    path = known.get(text, Path(text) if text.endswith((".cypher", ".aql")) else None)
    if path is None and len(text.split()) == 1:
        raise UsageError(
            f"there is no question `{text}`\n\nhint: without a query, `isoscope graph query` lists them"
        )
    try:
        found = statements(text if path is None else path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None
    if not found:
        raise UsageError(f"{path or text}: there is no query in it")
    _require(found, parameters)
    return [store.run(one, parameters) for one in found][-1]


def _require(queries: Sequence[str], given: Mapping[str, Any]) -> None:
    """Not every database rejects a query with a parameter that has no value."""
    needed = [name for query in queries for name in parameters_of(query)]
    if missing := [name for name in dict.fromkeys(needed) if name not in given]:
        named = ", ".join(f"${name}" for name in missing)
        hint = " ".join(f"--set {name}=VALUE" for name in missing)
        raise UsageError(f"the query needs {named}\n\nhint: {hint}")


def _questions_text(dialect: str) -> str:
    known = list(graphdb.questions(dialect))
    width = max((len(question.name) for question in known), default=0)
    return "\n".join(f"{question.name:<{width}}  {question.about}" for question in known)


def _settings(settings: Sequence[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or not name.isidentifier():
            raise UsageError(f"--set {setting}: expected NAME=VALUE\n\nhint: as in --set from=T3")
        found[name] = int(value) if value.removeprefix("-").isdecimal() else value
    return found


def _existing(database: str, *, read_only: bool = False) -> GraphStore:
    """The database; a file that is missing is an error and is not made."""
    path = Path(database.removeprefix("ladybug:"))
    if "://" not in database and not path.exists():
        raise UsageError(f"there is no {path}\n\nhint: `isoscope graph load HISTORY {path}` makes it")
    return graphdb.open_store(database, read_only=read_only)


def _cycles(history: StoredHistory, table: Table) -> list[Anomaly]:
    """The results that are cycles of dependencies."""
    rows = ([edge for value in row for edge in _edges(value)] for row in table.rows)
    return [cycle_of(history, edges).anomaly for edges in rows if _is_cycle(edges)]


def _edges(value: Any) -> list[dict[str, Any]]:
    if isinstance(value, list):
        return [edge for item in value for edge in _edges(item)]
    if not isinstance(value, dict):
        return []
    if "edges" in value and "vertices" in value:
        return _edges(value["edges"])
    return [value] if "first_operation" in value else []


def _is_cycle(edges: Sequence[Mapping[str, Any]]) -> bool:
    pairs = zip(edges, [*edges[1:], *edges[:1]], strict=True)
    return len(edges) > 1 and all(one["after"] == other["before"] for one, other in pairs)


def _draw(path: str, anomalies: Sequence[Anomaly]) -> None:
    if not path.lower().endswith(".svg"):
        raise UsageError(f"--svg {path}: the picture is SVG\n\nhint: let the name end in .svg")
    if not anomalies:
        click.echo(f"no cycle: {path} was not written", err=True)
        return
    with output(Path(path)) as sink:
        sink.write(render_svg(anomalies[0]).encode())


def _status(answers: Sequence[Answer]) -> int:
    outcomes = {answer.outcome for answer in answers}
    if Outcome.VIOLATED in outcomes:
        return VIOLATED
    return UNDECIDED if Outcome.UNKNOWN in outcomes else 0


def _graph_name(path: str) -> str:
    """The name of a file without its folder and extensions."""
    name = "stdin" if path == "-" else Path(path).name
    while Path(name).suffix.lower() in _EXTENSIONS:
        name = Path(name).stem
    return name
