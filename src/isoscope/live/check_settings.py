"""The settings that verdicts depend on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from isoscope import levels as lattice
from isoscope.checkers.timestamps import ASKED_AS, LEVELS
from isoscope.errors import UsageError
from isoscope.history import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from isoscope.history import Scalar, Unknown
    from isoscope.levels import Level
    from isoscope.profiles import Profile

__all__ = ["CheckSettings", "clock_levels"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckSettings:
    """Levels by the database's clock, or the mechanisms of a `profile` by the clients' clocks.

    A read waits for `timeout` nanoseconds of the service's clock for the write that it shows, and a final
    transaction stays in memory for `keep` more; then it moves to the folder `spill`, or is dropped. With a
    profile, the engine stops waiting for a session after `timeout` of silence, and intervals are wider by
    `clock_error` nanoseconds at both ends.
    """

    levels: tuple[Level, ...] = LEVELS
    profile: Profile | None = None
    clock_error: int = 0
    timeout: int = 5_000_000_000
    keep: int = 0
    max_anomalies: int = 10
    initial: Scalar | Unknown = UNKNOWN
    spill: Path | None = None

    def document(self) -> dict[str, Any]:
        """The settings as JSON: a journal is replayed only with the settings that it was written with."""
        shared = {
            "timeout": self.timeout,
            "max-anomalies": self.max_anomalies,
            "initial": "unknown" if self.initial is UNKNOWN else [self.initial],
        }
        if self.profile is not None:
            # The name is not enough: the content of a user's own file may have changed.
            mechanisms = {"profile": self.profile.name, "mechanisms": repr(self.profile.native)}
            return {**mechanisms, "clock-error": self.clock_error, **shared}
        levels = [str(level) for level in self.levels]
        return {"levels": levels, "keep": self.keep, "spill": self.spill is not None, **shared}


def clock_levels(names: str | Iterable[str] | None) -> tuple[Level, ...]:
    """The levels of the database's clock that these names mean; a plain name means the one of that name."""
    named = [names] if isinstance(names, str) else names or ()
    asked = tuple(dict.fromkeys(ASKED_AS.get(level, level) for level in map(lattice.parse, map(str, named))))
    if other := [level for level in asked if level not in LEVELS]:
        raise UsageError(
            f"{other[0]} cannot be checked online\n\n"
            f"hint: the levels of the database's own clock can: {', '.join(LEVELS)}"
        )
    return asked or tuple(LEVELS)
