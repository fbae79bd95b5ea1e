"""YugabyteDB (YSQL) through the protocol of PostgreSQL, by its documentation; never run here."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar

from isoscope.databases.database import Isolation
from isoscope.databases.postgresql.compatible import Compatible

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["DATABASE", "YugabyteDB"]


class YugabyteDB(Compatible):
    """YugabyteDB at a URL."""

    NAME: ClassVar[str] = "yugabytedb"
    ISOLATIONS: ClassVar[Mapping[str, Isolation]] = MappingProxyType(
        {
            "repeatable-read": Isolation(
                meaning="snapshot isolation; of two transactions that conflict, one is aborted",
                profile="yugabytedb/repeatable-read",
            ),
            "serializable": Isolation(
                meaning="as repeatable-read, and reads conflict with writes, too",
                profile="yugabytedb/serializable",
            ),
            "read-committed": Isolation(
                meaning="every statement has its own snapshot, if yb_enable_read_committed_isolation is set",
                profile="yugabytedb/read-committed",
            ),
        }
    )


DATABASE = YugabyteDB
