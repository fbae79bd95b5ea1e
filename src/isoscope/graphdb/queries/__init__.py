"""The queries, as files that a reader can open: `DIALECT/METHOD/LEVEL`, `DIALECT/questions/NAME`.

Statements of a file are separated by a semicolon at the end of a line; the first that finds something is the
answer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from isoscope.levels import Level

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "COMPONENT_RELATIONS",
    "DEPTH",
    "LEVELS",
    "QueryMethod",
    "Question",
    "Search",
    "level_file",
    "level_statements",
    "named",
    "parameters_of",
    "questions",
    "statements",
]

#: The levels of the thesis, the weakest first.
LEVELS = (
    Level.PL_1,
    Level.PL_2,
    Level.PARALLEL_SNAPSHOT_ISOLATION,
    Level.SNAPSHOT_ISOLATION,
    Level.SERIALIZABLE,
)
#: Levels that forbid every cycle of these relations: strongly connected components decide them.
COMPONENT_RELATIONS = {
    Level.PL_1: ("ww",),
    Level.PL_2: ("ww", "wr"),
    Level.SERIALIZABLE: ("ww", "wr", "rw"),
}
#: Cycles of so many transactions are found by bounded searches if nothing else is asked for.
DEPTH = 4
_FOLDER = Path(__file__).parent
_EXTENSIONS = {"ladybug": "cypher", "neo4j": "cypher", "arangodb": "aql"}
_DEPTH = re.compile(r"\b2\.\.4\b")


class QueryMethod(StrEnum):
    """How a query looks for a cycle."""

    SHORTEST_PATH = "shortest-path"
    COMPONENTS = "components"
    CYCLE = "cycle"
    FILTER = "filter"
    RANDOM = "random"

    @property
    def is_complete(self) -> bool:
        """Whether it finds a cycle of any length."""
        return self in (QueryMethod.SHORTEST_PATH, QueryMethod.COMPONENTS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """A method; `depth` bounds those that are not complete, `seed` shuffles the starts of `random`."""

    method: QueryMethod = QueryMethod.SHORTEST_PATH
    depth: int = DEPTH
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Question:
    """A question that is worth asking about a graph: the first comment line of its file says which."""

    name: str
    about: str
    path: Path


def level_file(dialect: str, method: QueryMethod, level: Level) -> Path:
    """The file of a level's query."""
    return _FOLDER / dialect / method / f"{level}.{_EXTENSIONS[dialect]}"


def level_statements(dialect: str, search: Search, level: Level) -> tuple[str, ...]:
    """The statements of a level's query."""
    text = level_file(dialect, search.method, level).read_text(encoding="utf-8")
    return statements(text if search.method.is_complete else _DEPTH.sub(f"2..{search.depth}", text))


def named(dialect: str, name: str) -> tuple[str, ...]:
    """The statements of a file that no level owns."""
    return statements((_FOLDER / dialect / f"{name}.{_EXTENSIONS[dialect]}").read_text(encoding="utf-8"))


def questions(dialect: str) -> Iterator[Question]:
    """The questions that come with Isoscope, by name."""
    for path in sorted((_FOLDER / dialect / "questions").glob(f"*.{_EXTENSIONS[dialect]}")):
        first = path.read_text(encoding="utf-8").partition("\n")[0]
        yield Question(path.stem, first.removeprefix("//").strip(), path)


def statements(text: str) -> tuple[str, ...]:
    """The statements of a file, without those that are only comments."""
    parts = (part.strip() for part in re.split(r";[ \t]*(?:\n|$)", text))
    return tuple(part for part in parts if _without_comments(part))


def parameters_of(statement: str) -> list[str]:
    """The names of parameters (`$name`, in AQL `@name`), in order, without those in comments and texts."""
    bare = re.sub(r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"|`[^`]*`|//[^\n]*", " ", statement)
    return [*dict.fromkeys(re.findall(r"(?<![\w@$])[$@]([A-Za-z_]\w*)", bare))]


def _without_comments(statement: str) -> str:
    return "".join(line for line in statement.splitlines() if not line.lstrip().startswith("//")).strip()
