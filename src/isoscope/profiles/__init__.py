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
from isoscope.profiles.registry import DATABASES, PROFILES, load, of, parse, parse_level

__all__ = [
    "DATABASES",
    "PROFILES",
    "Certifier",
    "Conduct",
    "Granularity",
    "Lock",
    "Profile",
    "Read",
    "Snapshot",
    "Statement",
    "load",
    "of",
    "parse",
    "parse_level",
]
