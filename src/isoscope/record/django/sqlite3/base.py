"""SQLite through the module `sqlite3`."""

from __future__ import annotations

from sqlite3 import Connection
from typing import Any

from django.db.backends.sqlite3 import base

from isoscope.record.django import recording_for
from isoscope.record.sqlite import recorded_connection

__all__ = ["DatabaseWrapper"]


class DatabaseWrapper(base.DatabaseWrapper):  # type: ignore[misc]
    """The backend of Django, whose connections are recorded."""

    def get_new_connection(self, conn_params: Any) -> Any:
        """A connection, recorded if the settings say so."""
        recording = recording_for(self.settings_dict)
        if recording is not None:
            made = recorded_connection(conn_params.get("factory", Connection))
            # Django executes statements before it hands the connection out.
            conn_params = {**conn_params, "factory": type("Recorded", (made,), {"recording": recording})}
        return super().get_new_connection(conn_params)
