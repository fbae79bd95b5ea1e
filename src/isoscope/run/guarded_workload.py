"""A workload of another package, whose faults become one line instead of a traceback of Isoscope."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from isoscope import plugins
from isoscope.databases.database import Aborted, ConnectionLost
from isoscope.workloads.clients import RolledBack

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from isoscope.workloads.clients import ClientWorkload, Insert, Operations, Program

__all__ = ["GuardedWorkload"]


class GuardedWorkload:
    """Passes every call on to the workload."""

    def __init__(self, name: str, workload: ClientWorkload) -> None:
        self._what, self._workload = f"the workload {name} failed", workload

    @property
    def content(self) -> Literal["register", "list"]:
        """What keys hold."""
        return self._workload.content

    @property
    def sessions(self) -> int:
        """How many sessions there are."""
        return self._workload.sessions

    def rows(self) -> Iterable[tuple[int, int]]:
        """Keys that are there at the start."""
        with plugins.guarded(self._what):
            return list(self._workload.rows())

    def clients(self, insert: Insert) -> list[Iterator[Program]]:
        """A stream of programs for each session."""
        with plugins.guarded(self._what):
            return [self._client(iter(client)) for client in self._workload.clients(insert)]

    def _client(self, client: Iterator[Any]) -> Iterator[Program]:
        while True:
            with plugins.guarded(self._what):
                program = next(client, None)
            if program is None:
                return
            yield partial(self._perform, program)

    def _perform(self, program: Program, operations: Operations) -> None:
        """Runs the program; what the database says of a statement goes through."""
        with plugins.guarded(self._what, Aborted, ConnectionLost, RolledBack):
            program(operations)
