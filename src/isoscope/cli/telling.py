"""The online service that a run tells about its transactions."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from isoscope.collect import Collector
from isoscope.errors import ServiceError

if TYPE_CHECKING:
    from isoscope.run import Run

__all__ = ["PATIENCE", "Telling"]

#: Seconds for which the service may be out of reach.
PATIENCE = 30.0


class Telling:
    """A collector for the length of a run; says on standard error what it sent, and what that cost."""

    def __init__(self, url: str) -> None:
        self._url = url
        self.collector = Collector(url, token=os.environ.get("ISOSCOPE_TOKEN"), patience=PATIENCE)

    def ended(self, ran: Run) -> Run:
        """Sends the rest; a service that did not take it is a problem of the run."""
        try:
            self.collector.close()
        except ServiceError as error:
            return replace(ran, problem=ran.problem or str(error))
        done = self.collector.collected
        share = 100 * done.seconds / (ran.progress.seconds or 1)
        left = f", {done.left_out:,} left out" if done.left_out else ""
        click.echo(
            f"live: {done.transactions:,} transactions told to {self._url}{left}; "
            f"sessions were held up for {done.seconds:.2f} s in all ({share:.1f} % of the run)",
            err=True,
        )
        return ran
