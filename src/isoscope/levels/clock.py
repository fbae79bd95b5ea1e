"""Levels against the database's own clock, a stronger one first."""

from isoscope.levels.definition import Definition, Family, Level

__all__ = ["DEFINITIONS"]

DEFINITIONS = (
    Definition(
        level=Level.CLOCK_SNAPSHOT_ISOLATION,
        family=Family.CLOCK,
        meaning="Every transaction reads the snapshot of its start timestamp, none that overlap "
        "write the same key, and a session's transactions follow one another in time.",
        implies=(Level.STRONG_SESSION_SNAPSHOT_ISOLATION,),  # Li et al. 2025
        aliases=("clock-si",),
        source="Li et al. 2025 (CHRONOS and AION: SESSION, INT, EXT, NOCONFLICT)",
        noun="snapshot isolation by its clock",
    ),
    Definition(
        level=Level.CLOCK_SERIALIZABLE,
        family=Family.CLOCK,
        meaning="Running the transactions one by one in the order of their commit timestamps "
        "gives every read the value that it returned.",
        implies=(Level.SERIALIZABLE,),  # Li et al. 2025: the replay is the serial order
        aliases=("clock-ser",),
        source="Li et al. 2025 (CHRONOS-SER and AION-SER)",
        noun="serializability by its clock",
    ),
)
