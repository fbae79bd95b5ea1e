"""PostgreSQL through psycopg 3 or psycopg2, whichever Django takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db.backends.postgresql import base

from isoscope.record.django import recording_for
from isoscope.record.install import driver_module

if TYPE_CHECKING:
    from isoscope.record.recording import Recording

__all__ = ["DatabaseWrapper"]


class _RecordedDriver:
    """The module of the driver, with a `connect` that records."""

    def __init__(self, driver: Any, recording: Recording) -> None:
        self._driver = driver
        self._recording = recording

    def __getattr__(self, name: str) -> Any:
        return getattr(self._driver, name)

    def connect(self, *given: Any, **named: Any) -> Any:
        """A connection that is recorded."""
        return driver_module(self._driver.__name__).connect(self._recording, *given, **named)


class DatabaseWrapper(base.DatabaseWrapper):  # type: ignore[misc]
    """The backend of Django, whose connections are recorded; those of a pool are not."""

    def get_new_connection(self, conn_params: Any) -> Any:
        """A connection, recorded if the settings say so."""
        driver = base.DatabaseWrapper.Database
        recording = recording_for(self.settings_dict)
        self.Database: Any = driver if recording is None else _RecordedDriver(driver, recording)
        return super().get_new_connection(conn_params)
