"""Profiles of databases: which mechanisms each level is made of, as data with sources."""

from __future__ import annotations

from isoscope.profiles.profile import (
    Certifier,
    Conduct,
    Granularity,
    Lock,
    Profile,
    Read,
    Snapshot,
    Statement,
)

__all__ = ["Certifier", "Conduct", "Granularity", "Lock", "Profile", "Read", "Snapshot", "Statement"]
