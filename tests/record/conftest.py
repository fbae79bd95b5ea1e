"""A PostgreSQL server for the tests that need one."""

from __future__ import annotations

from tests.databases.postgresql_servers import running

__all__ = ["running"]
