"""The same with the change that `isoscope stress` suggests: SERIALIZABLE, with repeated attempts."""

from __future__ import annotations

import psycopg
from registration import create_tables, register

setup = create_tables
_ATTEMPTS = 5


def register_ada() -> None:
    """A user wants the name ada."""
    for _ in range(_ATTEMPTS):
        try:
            register("ada", level=psycopg.IsolationLevel.SERIALIZABLE)
        except psycopg.errors.SerializationFailure:
            continue
        return


TRANSACTIONS = [register_ada]
