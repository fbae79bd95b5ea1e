"""Verification by the online service, which gets every transaction of the run."""

from __future__ import annotations

import os

from isoscope.collect import Collector
from isoscope.collect.connection import ServiceConnection
from isoscope.errors import ServiceError, UsageError
from isoscope.run.verification import SentSummary

__all__ = ["ServiceVerification"]

#: Seconds for which the service may be out of reach during a run, and before it.
PATIENCE = 30.0
_PATIENCE_BEFORE = 2.0


class ServiceVerification(Collector):
    """A collector for one run.

    A service with a profile gets intervals. Raises UsageError if that profile is not the `profile` of the
    database: it would report violations of promises that the database never made. `unfit` says why no profile
    can be checked, if that is so.
    """

    def __init__(self, url: str, *, profile: str | None, sessions: int, unfit: str = "") -> None:
        token = os.environ.get("ISOSCOPE_TOKEN")
        checked = _profile_of(url, token)
        if checked is not None and unfit:
            raise UsageError(unfit)
        if checked is not None and profile not in (None, checked):
            raise UsageError(
                f"the service at {url} checks the profile {checked}, and the run is of {profile}\n\n"
                f"hint: `isoscope serve --profile {profile}`, or `--profile {checked}` if that is meant"
            )
        super().__init__(
            url, token=token, patience=PATIENCE, sessions=() if checked is None else range(sessions)
        )
        self._url = url
        self._summary: SentSummary | None = None

    def close(self) -> None:
        """Sends the rest. Raises ServiceError if the service did not take it."""
        super().close()
        done = self.collected
        self._summary = SentSummary(
            url=self._url,
            transactions=done.transactions,
            left_out=done.left_out,
            held_up=done.seconds,
        )

    def progress(self) -> None:
        """Only the service knows how far it is."""

    def summary(self) -> SentSummary | None:
        """The result, after the run; None if it ended with an error."""
        return self._summary

    def report(self) -> None:
        """Only the service has verdicts."""


def _profile_of(url: str, token: str | None) -> str | None:
    """The profile that the service checks; None if it judges by timestamps, or does not answer yet."""
    connection = ServiceConnection(url, token, patience=min(PATIENCE, _PATIENCE_BEFORE))
    try:
        mechanisms = connection.request("GET", "/v1/status").get("mechanisms")
    except ServiceError:
        # The collector tries for longer and then reports it: the run itself does not depend on the service.
        return None
    finally:
        connection.close()
    return None if mechanisms is None else str(mechanisms["profile"])
