"""The relations between two transactions, as pictures show them: colour, arrowhead and legend.

The colours are those of Okabe and Ito, darker or lighter where contrast asks for it. Arrowheads differ as
well, so that no relation is told from another by colour alone.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["KEYLESS", "RELATIONS", "Relation"]


class Relation(NamedTuple):
    """`legend` says of the first transaction how it is related to the second.

    `light` and `dark` are the colours on light and dark paper. `svg_head` is a path that points to the right,
    with its tip at the origin.
    """

    legend: str
    light: str
    dark: str
    dot_head: str
    svg_head: str


_HEAD, _OPEN_HEAD = "M0 0L-10 -4.5V4.5Z", "M0 0L-9 -4.5L-6 0L-9 4.5Z"
RELATIONS = {
    "wr": Relation("wr: wrote what the other read", "#0072b2", "#56b4e9", "normal", _HEAD),
    "ww": Relation(
        "ww: wrote the earlier version",
        "#007a59",
        "#2fc79c",
        "normalnormal",
        "M0 0L-8 -4.5V4.5ZM-7 0L-15 -4.5V4.5Z",
    ),
    "rw": Relation("rw: did not see what the other wrote", "#b84f00", "#ff9a57", "empty", _HEAD),
    "session": Relation("session: came earlier in the session", "#4d4d4d", "#c3c8d0", "vee", _OPEN_HEAD),
    "real-time": Relation(
        "real time: was over when the other began",
        "#7d5a00",
        "#e69f00",
        "veetee",
        f"{_OPEN_HEAD}M-12 -4.5V4.5",
    ),
    "cm": Relation("cm: must come earlier", "#a3447c", "#e2a3c8", "odiamond", "M0 0L-6 -4.5L-12 0L-6 4.5Z"),
    "clock": Relation(
        "clock: came earlier by the database's clock",
        "#6b4fbb",
        "#b9a5ff",
        "teenormal",
        "M0 -4.5V4.5M-3 0L-12 -4.5V4.5Z",
    ),
}
#: Relations that are about no key, and their labels.
KEYLESS = {"session": "session", "real-time": "real time", "clock": "clock"}
