"""The isolation levels: their names, what they promise, and which of them imply which.

The lattice is data, one file for each family. Levels with session order and levels without are two families:
no level without sessions implies a level with them.
"""

from isoscope.levels.definition import Definition, Family, Level
from isoscope.levels.formal import FORMAL
from isoscope.levels.lattice import (
    DEFINITIONS,
    LADDER,
    MINIMUM,
    PLAIN_LADDER,
    implied,
    implying,
    parse,
    strongest,
    weakest,
)
from isoscope.levels.names import canonical, normalise

__all__ = [
    "DEFINITIONS",
    "FORMAL",
    "LADDER",
    "MINIMUM",
    "PLAIN_LADDER",
    "Definition",
    "Family",
    "Level",
    "canonical",
    "implied",
    "implying",
    "normalise",
    "parse",
    "strongest",
    "weakest",
]
