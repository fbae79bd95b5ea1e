"""Verification beside a run: a sink that judges transactions while the database is at work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from isoscope.run.recording import Sink

if TYPE_CHECKING:
    from isoscope.verdict import Report

__all__ = ["SentSummary", "Verification", "VerificationProgress", "VerifiedSummary"]


@dataclass(frozen=True, slots=True, kw_only=True)
class VerificationProgress:
    """How many of the ended transactions are verified, and by how many seconds the rest is late.

    `behind` is None while the verifier cannot tell.
    """

    verified: int
    ended: int
    behind: float | None
    violations: int


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedSummary:
    """A verification in this process: its progress when the run ended, and the seconds that the rest took.

    `held_up` is the number of seconds for which all sessions together waited for the verifier.
    """

    profile: str
    at_end: VerificationProgress
    seconds: float
    held_up: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SentSummary:
    """A verification by a service: what was sent there. `left_out` transactions are indeterminate."""

    url: str
    transactions: int
    left_out: int
    held_up: float


class Verification(Sink, Protocol):
    """Verifies a run, in this process or by a service."""

    def progress(self) -> VerificationProgress | None:
        """How far the verification is; None if only the service knows."""

    def summary(self) -> VerifiedSummary | SentSummary | None:
        """The result, after the run; None if it ended with an error."""

    def report(self) -> Report | None:
        """The verdicts on mechanisms; None if only the service has them."""
