"""What verdicts depend on beside the transactions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from isoscope.checkers.timestamps import LEVELS
from isoscope.history import UNKNOWN

if TYPE_CHECKING:
    from pathlib import Path

    from isoscope.history import Scalar, Unknown
    from isoscope.levels import Level
    from isoscope.profiles import Profile

__all__ = ["Judging"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judging:
    """Levels by the database's clock, or the mechanisms of a `profile` by the clients' clocks.

    A read waits for `timeout` nanoseconds of the service's clock for the write that it shows, and what is
    final stays in memory for `keep` more; then it goes to the folder `spill`, or is forgotten. With a
    profile, a session that was silent for `timeout` is left behind, and intervals are wider by
    `clock_error` nanoseconds at both ends.
    """

    levels: tuple[Level, ...] = LEVELS
    profile: Profile | None = None
    clock_error: int = 0
    timeout: int = 5_000_000_000
    keep: int = 0
    most: int = 10
    initial: Scalar | Unknown = UNKNOWN
    spill: Path | None = None

    def document(self) -> dict[str, Any]:
        """The same for the journal, which must not be replayed with anything else."""
        shared = {
            "timeout": self.timeout,
            "max-anomalies": self.most,
            "initial": "unknown" if self.initial is UNKNOWN else [self.initial],
        }
        if self.profile is not None:
            # The name alone says little: a user's own file may have been changed.
            judged = {"profile": self.profile.name, "mechanisms": repr(self.profile.native)}
            return {**judged, "clock-error": self.clock_error, **shared}
        levels = [str(level) for level in self.levels]
        return {"levels": levels, "keep": self.keep, "spill": self.spill is not None, **shared}
