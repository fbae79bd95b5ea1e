"""CockroachDB through the protocol of PostgreSQL, by its documentation; never run here."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar

from isoscope.databases.database import Isolation
from isoscope.databases.postgresql.compatible import Compatible

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["DATABASE", "CockroachDB"]


class CockroachDB(Compatible):
    """CockroachDB at a URL. A transaction that must be tried again fails with SQLSTATE 40001."""

    NAME: ClassVar[str] = "cockroachdb"
    ISOLATIONS: ClassVar[Mapping[str, Isolation]] = MappingProxyType(
        {
            "serializable": Isolation(
                meaning="transactions are ordered by their timestamps; CockroachDB's default",
                profile="cockroachdb/serializable",
            ),
            "read-committed": Isolation(
                meaning="every statement reads at a timestamp of its own, and rows are locked by writes",
                profile="cockroachdb/read-committed",
            ),
        }
    )


DATABASE = CockroachDB
