"""The levels that have certificates, and what each demands: the table of `docs/reference/certificates.md`."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["BY_THE_CLOCK", "GUARANTEES", "LEVELS", "OF_ROWS", "Level"]


@dataclass(frozen=True, slots=True)
class Level:
    """`kind` names the condition; the flags say what it is joined with."""

    kind: str
    sessions: bool = False
    real_time: bool = False
    forbids_wrong_reads: bool = True
    forbids_non_repeatable: bool = False
    #: Whether a read depends on later versions of what a range read does not show.
    phantoms: bool = True


def _variants(kind: str, name: str, *, strong: str = "", cut: bool = True) -> dict[str, Level]:
    """The plain level, its variant with sessions, and the one with real time if it has a name."""
    levels = {
        name: Level(kind, forbids_non_repeatable=cut),
        f"strong-session-{name}": Level(kind, sessions=True, forbids_non_repeatable=cut),
    }
    if strong:
        levels[strong] = Level(kind, sessions=True, real_time=True, forbids_non_repeatable=cut)
    return levels


def _weak(kind: str, *, cut: bool) -> Level:
    return Level(kind, sessions=True, forbids_non_repeatable=cut)


def _guarantee(kind: str) -> Level:
    return Level(kind, sessions=True, forbids_wrong_reads=False)


#: Kinds whose condition looks at the versions that two operations of a session meet.
GUARANTEES = ("read-your-writes", "monotonic-reads", "monotonic-writes", "writes-follow-reads")

#: Kinds at which a transaction that sees a key depends on the first transaction that fills it.
OF_ROWS = ("serializable", "snapshot", "prefix", "single", "update", "monotonic")

LEVELS: dict[str, Level] = {
    **_variants("serializable", "serializable", strong="strict-serializable"),
    "repeatable-read": Level("serializable", forbids_non_repeatable=True, phantoms=False),
    **_variants("snapshot", "snapshot-isolation", strong="strong-snapshot-isolation"),
    "prefix": Level("prefix", sessions=True, forbids_non_repeatable=True),
    "causal": _weak("causal", cut=True),
    "read-atomic": _weak("read-atomic", cut=True),
    "read-committed": _weak("read-committed", cut=False),
    **_variants("single", "parallel-snapshot-isolation"),
    "consistent-view": Level("single", forbids_non_repeatable=True, phantoms=False),
    "update-serializable": Level("update", forbids_non_repeatable=True),
    "cursor-stability": Level("cursor", phantoms=False),
    "monotonic-view": Level("monotonic", phantoms=False),
    **_variants("pl-2", "pl-2", strong="strong-pl-2", cut=False),
    "pl-1": Level("pl-1", forbids_wrong_reads=False),
    "strong-session-pl-1": Level("pl-1", sessions=True, forbids_wrong_reads=False),
    "strong-pl-1": Level("pl-1", sessions=True, real_time=True, forbids_wrong_reads=False),
    **{kind: _guarantee(kind) for kind in GUARANTEES},
    "cut-isolation": Level("cut", forbids_wrong_reads=False, forbids_non_repeatable=True),
    "clock-snapshot-isolation": Level("clock-snapshot-isolation"),
    "clock-serializable": Level("clock-serializable"),
}

_OF_ANY_CLOCK = (
    "snapshot-isolation",
    "parallel-snapshot-isolation",
    "consistent-view",
    "cursor-stability",
    "monotonic-view",
    "pl-2",
    "pl-1",
    "cut-isolation",
)
#: The levels that each clock level contains: it asks for all that they do, and for its clock.
BY_THE_CLOCK: dict[str, tuple[str, ...]] = {
    "clock-snapshot-isolation": (
        "strong-session-snapshot-isolation",
        "prefix",
        "strong-session-parallel-snapshot-isolation",
        "causal",
        "read-atomic",
        "read-committed",
        "strong-session-pl-2",
        "strong-session-pl-1",
        "read-your-writes",
        "monotonic-reads",
        "monotonic-writes",
        "writes-follow-reads",
        *_OF_ANY_CLOCK,
    ),
    "clock-serializable": ("serializable", "repeatable-read", "update-serializable", *_OF_ANY_CLOCK),
}
