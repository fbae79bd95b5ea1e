"""Stress the program: `isoscope stress examples/register_psycopg/stress_registration.py`."""

from __future__ import annotations

from registration import create_tables, register

setup = create_tables


def register_ada() -> None:
    """A user wants the name ada."""
    register("ada")


TRANSACTIONS = [register_ada]
