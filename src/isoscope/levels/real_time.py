"""Levels with real time, a stronger one first."""

from isoscope.levels.definition import Definition, Family, Level

__all__ = ["DEFINITIONS"]

DEFINITIONS = (
    Definition(
        level=Level.STRICT_SERIALIZABLE,
        family=Family.REAL_TIME,
        meaning="The transactions seem to run one at a time, in an order in which each comes after "
        "all those that had finished before it began.",
        implies=(
            Level.STRONG_SESSION_SERIALIZABLE,  # Daudjee-Salem 2004
            Level.STRONG_SNAPSHOT_ISOLATION,  # Daudjee-Salem 2006
        ),
        aliases=(
            "sser",
            "pl-ss",
            "strict-serializability",
            "strong-serializable",
            "elle:pl-ss",
            "elle:strict-serializable",
            "elle:strong-serializable",
        ),
        source="Papadimitriou 1979; Herlihy and Wing 1990",
        noun="strict serializability",
    ),
    Definition(
        level=Level.STRONG_SNAPSHOT_ISOLATION,
        family=Family.REAL_TIME,
        meaning="Snapshot isolation in which a snapshot shows everything that had been committed "
        "when the transaction began.",
        implies=(
            Level.STRONG_SESSION_SNAPSHOT_ISOLATION,  # Daudjee-Salem 2006
            Level.STRONG_PL_2,  # Kingsbury-Alvaro 2020
        ),
        aliases=("strong-si", "elle:strong-snapshot-isolation"),
        source="Daudjee and Salem 2006",
    ),
    Definition(
        level=Level.STRONG_PL_2,
        family=Family.REAL_TIME,
        meaning="Only committed final values are read, and neither writes nor information flow "
        "run in a circle or against real time.",
        implies=(
            Level.STRONG_SESSION_PL_2,  # Kingsbury-Alvaro 2020
            Level.STRONG_PL_1,  # Kingsbury-Alvaro 2020
        ),
        aliases=("elle:strong-pl-2", "elle:strong-read-committed"),
        source="Kingsbury and Alvaro 2020, after Adya 1999",
    ),
    Definition(
        level=Level.STRONG_PL_1,
        family=Family.REAL_TIME,
        meaning="Writes of different transactions take effect in one order that agrees with real time.",
        implies=(Level.STRONG_SESSION_PL_1,),  # Kingsbury-Alvaro 2020
        aliases=("elle:strong-pl-1", "elle:strong-read-uncommitted"),
        source="Kingsbury and Alvaro 2020, after Adya 1999",
    ),
    Definition(
        level=Level.LINEARIZABLE,
        family=Family.REAL_TIME,
        meaning="Single operations on one object seem to take effect one at a time, each at a moment "
        "between its invocation and its completion.",
        implies=(),
        aliases=("linearizability", "elle:linearizable"),
        source="Herlihy and Wing 1990",
        decided=False,
        noun="linearizability",
    ),
)
