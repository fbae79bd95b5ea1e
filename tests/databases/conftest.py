"""Fixtures for databases: servers that the tests of a module share."""

from __future__ import annotations

from tests.databases.mariadb_servers import database, place
from tests.databases.postgresql_servers import running

__all__ = ["database", "place", "running"]
