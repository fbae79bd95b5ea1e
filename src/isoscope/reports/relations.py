"""The relations between two transactions, as pictures show them: colour, arrowhead and legend.

The colours are those of Okabe and Ito, darker or lighter where contrast asks for it. Arrowheads differ as
well, so that no relation is told from another by colour alone.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["KEYLESS", "RELATIONS", "Relation"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """`legend` says of the first transaction how it is related to the second.

    `svg_head` is a path that points to the right, with its tip at the origin.
    """

    legend: str
    light: str
    dark: str
    svg_head: str
    dot_head: str


RELATIONS = {
    "wr": Relation(
        legend="wr: wrote what the other read",
        light="#0072b2",
        dark="#56b4e9",
        svg_head="M0 0L-10 -4.5V4.5Z",
        dot_head="normal",
    ),
    "ww": Relation(
        legend="ww: wrote the earlier version",
        light="#007a59",
        dark="#2fc79c",
        svg_head="M0 0L-8 -4.5V4.5ZM-7 0L-15 -4.5V4.5Z",
        dot_head="normalnormal",
    ),
    "rw": Relation(
        legend="rw: did not see what the other wrote",
        light="#b84f00",
        dark="#ff9a57",
        svg_head="M0 0L-10 -4.5V4.5Z",
        dot_head="empty",
    ),
    "session": Relation(
        legend="session: came earlier in the session",
        light="#4d4d4d",
        dark="#c3c8d0",
        svg_head="M0 0L-9 -4.5L-6 0L-9 4.5Z",
        dot_head="vee",
    ),
    "real-time": Relation(
        legend="real time: was over when the other began",
        light="#7d5a00",
        dark="#e69f00",
        svg_head="M0 0L-9 -4.5L-6 0L-9 4.5ZM-12 -4.5V4.5",
        dot_head="veetee",
    ),
    "cm": Relation(
        legend="cm: must come earlier",
        light="#a3447c",
        dark="#e2a3c8",
        svg_head="M0 0L-6 -4.5L-12 0L-6 4.5Z",
        dot_head="odiamond",
    ),
    "clock": Relation(
        legend="clock: came earlier by the database's clock",
        light="#6b4fbb",
        dark="#b9a5ff",
        svg_head="M0 -4.5V4.5M-3 0L-12 -4.5V4.5Z",
        dot_head="teenormal",
    ),
}
#: Relations that are about no key, and their labels.
KEYLESS = {"session": "session", "real-time": "real time", "clock": "clock"}
