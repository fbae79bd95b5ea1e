"""Options of runs on several nodes and with faults."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from isoscope.databases.nodes import MOST_NODES
from isoscope.errors import UsageError
from isoscope.run import FaultPlan
from isoscope.run.faults import DEFAULT_EVERY

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["CLUSTER_PARAMETERS", "Duration", "cluster_options", "deployment_features", "fault_plan"]

CLUSTER_PARAMETERS = ("nodes", "faults", "every")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


class Duration(click.ParamType[float]):
    """Seconds, or a number with a unit: 5, 5s, 500ms, 2m, 8h."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The seconds."""
        if isinstance(value, int | float):
            return float(value)
        number = str(value).rstrip("abcdefghijklmnopqrstuvwxyz")
        try:
            seconds = float(number) * _UNITS[str(value)[len(number) :] or "s"]
        except (KeyError, ValueError):
            self.fail(f"{value!r} is no duration such as 5s, 500ms, 2m or 8h", param, ctx)
        if not 0 < seconds < 10**7:
            self.fail(f"{value!r} must be more than 0 and less than ten million seconds", param, ctx)
        return seconds


def cluster_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--nodes`, `--faults` and `--every`."""
    options = (
        click.option("--nodes", type=click.IntRange(1, MOST_NODES),
                     help="Nodes to start; sessions are spread over them."),
        click.option("--faults", metavar="KINDS",
                     help="Faults to inject, separated by commas: kill, pause, partition, slow, cut, "
                     "old-data; simulated has clock. Or a schedule such as kill@5s:n2,pause@12s."),
        click.option("--every", type=Duration(), default=DEFAULT_EVERY, show_default="5s",
                     metavar="DURATION",
                     help="Time from one random fault to the next; each lasts for half of it."),
    )  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


def deployment_features(targets: Sequence[str], given: Mapping[str, Any]) -> tuple[str, ...]:
    """The features of the history of a run that these options ask for."""
    has_nodes = len(targets) > 1 or given["nodes"] is not None or given["faults"] is not None
    nodes = ("nodes of sessions",) if has_nodes else ()
    return (*nodes, "faults") if given["faults"] is not None else nodes


def fault_plan(given: Mapping[str, Any], context: click.Context) -> FaultPlan | None:
    """The plan of `--faults`, if it is given."""
    if given["faults"] is None:
        if context.get_parameter_source("every") is click.core.ParameterSource.COMMANDLINE:
            raise UsageError(
                "--every is the time between faults, and there are none\n\nhint: add --faults kill,pause"
            )
        return None
    return FaultPlan.parse(given["faults"], every=given["every"], seed=given["seed"])
