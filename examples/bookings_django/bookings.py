"""Bookings of rooms: Django. Two bookings of one slot can both be confirmed at READ COMMITTED."""

from __future__ import annotations

import os
from urllib.parse import urlsplit

import django
from django.conf import settings
from django.db import connection, models, transaction

_URL = urlsplit(os.environ["DATABASE_URL"])

settings.configure(
    DATABASES={
        "default": {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": _URL.path.lstrip("/"),
            "USER": _URL.username,
            "PASSWORD": _URL.password,
            "HOST": _URL.hostname,
            "PORT": _URL.port,
        }
    },
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
)
django.setup()


class Booking(models.Model):  # type: ignore[misc]
    """A request for a room in a slot of time."""

    slot = models.IntegerField()
    confirmed = models.BooleanField(default=False)

    class Meta:
        """Where the table is."""

        app_label = "bookings"
        db_table = "bookings"


def create_tables() -> None:
    """Two requests for the same slot."""
    if "bookings" not in connection.introspection.table_names():
        with connection.schema_editor() as editor:
            editor.create_model(Booking)
    with transaction.atomic():
        for number in (1, 2):
            Booking.objects.update_or_create(id=number, defaults={"slot": 1, "confirmed": False})


def confirm(number: int, *, lock: bool = False) -> bool:
    """Confirm a booking, unless another one of its slot is confirmed."""
    with transaction.atomic():
        bookings = Booking.objects.select_for_update() if lock else Booking.objects.all()
        same_slot = list(bookings.filter(slot=1).order_by("id"))
        if any(booking.confirmed for booking in same_slot):
            return False
        Booking.objects.filter(id=number).update(confirmed=True)
        return True
