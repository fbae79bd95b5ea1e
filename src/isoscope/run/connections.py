"""The connections of a run: each session stays at its node, and connects again when it is cut off."""

from __future__ import annotations

from time import monotonic, sleep
from typing import TYPE_CHECKING

from isoscope.databases.database import ConnectionLost
from isoscope.errors import DatabaseError

if TYPE_CHECKING:
    from threading import Event

    from isoscope.databases.database import Database, Session

__all__ = ["Connections", "NoConnection"]

#: Seconds for which a session tries to connect to a database again, and between two tries.
_PATIENCE, _GLANCE = 5.0, 0.1


class NoConnection(Exception):  # noqa: N818 - an event
    """The run is over, and this session has no connection."""


class Connections:
    """Connects sessions; with faults, a node may be away until `stop` is set."""

    def __init__(self, database: Database, stop: Event, *, has_faults: bool) -> None:
        self._database, self._stop, self._has_faults = database, stop, has_faults

    def open(self, count: int) -> list[Session]:
        """Makes `count` connections, or none: closing the database may need one to drop its table."""
        sessions: list[Session] = []
        try:
            while len(sessions) < count:
                sessions.append(self._session(len(sessions)))
        except BaseException:
            for session in sessions:
                session.close()
            raise
        return sessions

    def nodes(self, count: int) -> dict[int, str]:
        """The nodes of so many sessions; empty if the database has none."""
        nodes = self._database.nodes
        return {number: nodes[number % len(nodes)] for number in range(count)} if nodes else {}

    def again(self, number: int) -> Session:
        """A new connection for this session, to the same node.

        Raises what the database raises after some seconds, or with faults `NoConnection` at the end.
        """
        end = monotonic() + _PATIENCE
        while True:
            try:
                return self._session(number)
            except (ConnectionLost, DatabaseError):
                if self._has_faults and self._stop.is_set():
                    raise NoConnection from None
                if not self._has_faults and (monotonic() >= end or self._stop.is_set()):
                    raise
                sleep(_GLANCE)

    def _session(self, number: int) -> Session:
        nodes = self._database.nodes
        return self._database.session_at(nodes[number % len(nodes)]) if nodes else self._database.session()
