"""Fixtures for commands."""

from __future__ import annotations

from tests.interrupts import ctrl_c

__all__ = ["ctrl_c"]
