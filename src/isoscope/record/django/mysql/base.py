"""MariaDB and MySQL through PyMySQL, after `pymysql.install_as_MySQLdb()`."""

from __future__ import annotations

from typing import Any

from django.db.backends.mysql import base

from isoscope.record.django import recording_for
from isoscope.record.install import driver_module

__all__ = ["DatabaseWrapper"]


class DatabaseWrapper(base.DatabaseWrapper):  # type: ignore[misc]
    """The backend of Django, whose connections are recorded."""

    def get_new_connection(self, conn_params: Any) -> Any:
        """A connection, recorded if the settings say so."""
        recording = recording_for(self.settings_dict)
        if recording is None:
            return super().get_new_connection(conn_params)
        return driver_module("pymysql").connect(recording, **conn_params)
