"""The online service that a run tells about its transactions."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from isoscope.collect import Collector
from isoscope.collect.link import Link
from isoscope.errors import ServiceError, UsageError

if TYPE_CHECKING:
    from isoscope.run import Run
    from isoscope.verdict import Report

__all__ = ["PATIENCE", "Telling"]

#: Seconds for which the service may be out of reach, in the course of a run and before it.
PATIENCE = 30.0
_BEFORE = 2.0


class Telling:
    """A collector for the length of a run; says on standard error what it sent, and what that cost.

    A service with a profile is told intervals. Raises UsageError if that profile is not the `profile` of the
    database: it would accuse the database of what it never promised.
    """

    def __init__(self, url: str, *, profile: str | None, sessions: int) -> None:
        self._url = url
        token = os.environ.get("ISOSCOPE_TOKEN")
        judged = _profile_of(url, token)
        if judged is not None and profile not in (None, judged):
            raise UsageError(
                f"the service at {url} checks the profile {judged}, and the run is of {profile}\n\n"
                f"hint: `isoscope serve --profile {profile}`, or `--profile {judged}` if that is meant"
            )
        self.sink = Collector(
            url, token=token, patience=PATIENCE, sessions=() if judged is None else range(sessions)
        )

    def said(self) -> str:
        """The service itself says how far it is."""
        return ""

    def report(self) -> Report | None:
        """The service has it."""
        return None

    def ended(self, ran: Run) -> Run:
        """Sends the rest; a service that did not take it is a problem of the run."""
        try:
            self.sink.close()
        except ServiceError as error:
            return replace(ran, problem=ran.problem or str(error))
        done = self.sink.collected
        share = 100 * done.seconds / (ran.progress.seconds or 1)
        left = f", {done.left_out:,} left out" if done.left_out else ""
        click.echo(
            f"live: {done.transactions:,} transactions told to {self._url}{left}; "
            f"sessions were held up for {done.seconds:.2f} s in all ({share:.1f} % of the run)",
            err=True,
        )
        return ran


def _profile_of(url: str, token: str | None) -> str | None:
    """Which profile the service checks; None if it judges by timestamps, or does not answer yet."""
    link = Link(url, token, patience=min(PATIENCE, _BEFORE))
    try:
        mechanisms = link.insist("GET", "/v1/status").get("mechanisms")
    except ServiceError:
        # The collector will say so when it has tried for longer: the run itself does not depend on it.
        return None
    finally:
        link.close()
    return None if mechanisms is None else str(mechanisms["profile"])
