"""The same with the change that `isoscope stress` suggests."""

from __future__ import annotations

from bookings import confirm, create_tables
from django.db import connection

setup = create_tables


def confirm_first() -> None:
    """Confirm the first booking."""
    try:
        confirm(1, lock=True)
    finally:
        connection.close()


def confirm_second() -> None:
    """Confirm the second booking."""
    try:
        confirm(2, lock=True)
    finally:
        connection.close()


TRANSACTIONS = [confirm_first, confirm_second]
