"""The origin of a history: its input, the statements of a recorded program, nodes and faults.

Nodes and faults are not judged: verdicts follow from what clients saw. They say where it happened, and when.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Deployment", "Fault", "ProgramStatement", "SessionId", "Source"]

#: A session id that can have a node.
SessionId: TypeAlias = int | str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A fault from `start` to `stop`, nanoseconds of the clock of the intervals; None if it never ended.

    `kind` is a name such as `kill` or `partition`. `remark` says what else happened, or is empty.
    """

    kind: str
    node: str
    start: int
    stop: int | None = None
    remark: str = ""

    def document(self) -> dict[str, Any]:
        """The fault as JSON."""
        return {
            "kind": self.kind,
            "node": self.node,
            "start": self.start,
            "stop": self.stop,
            "remark": self.remark,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """The node of each session by its id, and the faults by their start; both may be empty."""

    nodes: Mapping[SessionId, str] = field(default_factory=dict)
    faults: tuple[Fault, ...] = ()

    def __bool__(self) -> bool:
        """Whether there is anything to say."""
        return bool(self.nodes or self.faults)

    def node(self, session: object) -> str:
        """The node of a session; empty if it is not known."""
        return self.nodes.get(session, "") if isinstance(session, int | str) else ""

    def document(self) -> dict[str, Any]:
        """The deployment as JSON."""
        return {
            "nodes": [[session, node] for session, node in self.nodes.items()],
            "faults": [fault.document() for fault in self.faults],
        }

    @classmethod
    def of(cls, document: Any) -> Deployment:
        """The deployment of a JSON document. Raises KeyError, TypeError or ValueError if it is none."""
        return cls(
            nodes={_session_id(session): str(node) for session, node in document["nodes"]},
            faults=tuple(
                Fault(
                    kind=str(fault["kind"]),
                    node=str(fault["node"]),
                    start=int(fault["start"]),
                    stop=None if fault["stop"] is None else int(fault["stop"]),
                    remark=str(fault["remark"]),
                )
                for fault in document["faults"]
            ),
        )


def _session_id(session: object) -> SessionId:
    if isinstance(session, int | str):
        return session
    raise TypeError(f"a session id is an integer or a text, not {session!r}")


class ProgramStatement(NamedTuple):
    """A statement of a recorded program: its text, its parameters, and `path:line` of the program."""

    sql: str
    parameters: str
    place: str

    def __str__(self) -> str:
        return f"{self.sql}  {self.parameters}" if self.parameters else self.sql


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The input of a history.

    `files` are (first line, path) where the input was several files; `log` is the write-ahead log that
    was found beside it; `notes` count the files that were not read. In an input that is no text, a line
    is a byte. `deployment` has the nodes of sessions and the faults, where they are known; `statements` are
    those of a recorded program, by the line of the operation.
    """

    path: str = "<memory>"
    format: str = "recorded"
    files: tuple[tuple[int, str], ...] = ()
    log: str = ""
    notes: tuple[tuple[str, int], ...] = ()
    is_text: bool = True
    deployment: Deployment = field(default_factory=Deployment)
    statements: Mapping[int, ProgramStatement] = field(default_factory=dict, compare=False)

    def place(self, line: int | None) -> str:
        """`path:line` of a line of the whole input; `path: byte N` if it is no text."""
        if not line:
            return self.path
        if line in self.statements:
            return self.statements[line].place
        path, number = self.locate(line)
        return f"{path}:{number}" if self.is_text else f"{path}: byte {number - 1}"

    def sql(self, line: int | None) -> str:
        """The statement that the operation at a line is a part of; empty if the history has none."""
        found = self.statements.get(line) if line else None
        return "" if found is None else str(found)

    def locate(self, line: int) -> tuple[str, int]:
        """The file in which a line of the whole input stands, and its number there."""
        if not self.files:
            return self.path, line
        first, path = self.files[bisect_right(self.files, line, key=lambda file: file[0]) - 1]
        return path, line - first + 1
