"""`isoscope generate --profile`: a history of a database that works as a profile says."""

from __future__ import annotations

from typing import Any

import click

from isoscope import profiles
from isoscope.cli.options import refuse_given
from isoscope.databases.profiled import Delays, Load, Profiled, Run, run
from isoscope.errors import UsageError

__all__ = ["OPTIONS", "generate", "options", "print_faults"]

#: Default share of the occasions in which a fault strikes.
_RATE = 0.02
_SHARE = click.FloatRange(0, 1)
#: Options of a database with a profile only, by the names of `Load` and `Delays`.
_OWN = {
    "theta": click.option("--theta", default=1.0, show_default=True, type=click.FloatRange(0, 4),
                          help="Exponent of a zipfian distribution."),
    "ranges": click.option("--range-ratio", "ranges", default=0.0, show_default=True, type=_SHARE,
                           help="Share of reads that read a range of rows."),
    "for_update": click.option("--for-update-ratio", "for_update", default=0.0, show_default=True,
                               type=_SHARE, help="Share of reads that say `for update`."),
    "for_share": click.option("--for-share-ratio", "for_share", default=0.0, show_default=True,
                              type=_SHARE, help="Share of reads that say `for share`."),
    "updates_after_reads": click.option("--update-ratio", "updates_after_reads", default=0.0,
                                        show_default=True, type=_SHARE,
                                        help="Share of updates that read the row first."),
    "inserts": click.option("--insert-ratio", "inserts", default=0.0, show_default=True, type=_SHARE,
                            help="Share of writes that insert a row."),
    "deletes": click.option("--delete-ratio", "deletes", default=0.0, show_default=True, type=_SHARE,
                            help="Share of writes that delete a row."),
    "lost_answers": click.option("--lost-ratio", "lost_answers", default=0.0, show_default=True,
                                 type=_SHARE, help="Share of commits whose answer gets lost."),
    "network": click.option("--network", default=50_000, show_default=True, type=click.IntRange(0, 2**40),
                            help="Nanoseconds that a message takes on average."),
    "clock_error": click.option("--clock-error", default=0, show_default=True,
                                type=click.IntRange(0, 2**40),
                                help="Nanoseconds by which clocks of clients are off at most."),
}  # fmt: skip
OPTIONS = ("profile", *_OWN)
_OCCASION = (
    "`isoscope profiles NAME` shows which mechanisms can fail; with --bug-rate 1 it strikes when it can"
)
#: Options that a database with a profile does not have.
_FOREIGN = (
    "isolation", "level", "breaks", "lag", "mix", "lists", "max_writes_per_key", "timestamps", "clock",
    "nodes", "skew", "concurrency", "on_conflict",
)  # fmt: skip


def options(command: Any) -> Any:
    """Adds the options of a database with a profile to a command."""
    for option in reversed(_OWN.values()):
        command = option(command)
    named = "Run on a database that works as this profile says, such as postgresql/serializable."
    return click.option("--profile", metavar="NAME", help=named)(command)


def generate(name: str | None, operations: tuple[int, int], parameters: dict[str, Any]) -> Run | None:
    """Takes the options of a profile out of `parameters`; runs the database if a profile is named."""
    own = {option: parameters.pop(option) for option in _OWN}
    if name is None:
        refuse_given(tuple(_OWN), "{options} is for a database with a profile", "name its --profile")
        return None
    refuse_given(
        _FOREIGN, "a database with a profile knows nothing of {options}", "leave it or --profile out"
    )
    return run(_database(name, parameters, own), _load(operations, parameters, own), truth=False)


def _database(name: str, parameters: dict[str, Any], own: dict[str, Any]) -> Profiled:
    rate = parameters["bug_rate"]
    bug = parameters["bug"]
    return Profiled(
        profile=profiles.load(name),
        seed=parameters["seed"],
        delays=Delays(network=own.pop("network"), clock_error=own.pop("clock_error")),
        faults={bug: _RATE if rate is None else rate} if bug else {},
    )


def _load(operations: tuple[int, int], parameters: dict[str, Any], own: dict[str, Any]) -> Load:
    if parameters["distribution"] == "hotspot":
        raise UsageError("a database with a profile draws rows by a uniform or a zipfian distribution")
    if own["inserts"] + own["deletes"] > 1:
        raise UsageError("--insert-ratio and --delete-ratio are more than 1 together")
    theta = own.pop("theta")
    return Load(
        clients=parameters["sessions"],
        transactions=parameters["transactions"],
        operations=operations,
        keys=parameters["keys"],
        theta=theta if parameters["distribution"] == "zipfian" else 0.0,
        reads=parameters["read_ratio"],
        rollbacks=parameters["abort_ratio"],
        repeated_values=parameters["repeated_values"],
        **own,
    )


def print_faults(simulated: Run, bug: str | None) -> None:
    """Prints how many transactions ended how, and how many faults struck."""
    counts = simulated.history.counts
    click.echo(f"committed: {counts['committed']:,}, aborted: {counts['aborted']:,}", err=True)
    if bug is not None:
        struck, visible = simulated.struck().get(bug, (0, 0))
        click.echo(f"injected {bug}: {struck:,}, of which {visible:,} can be seen", err=True)
        if not struck:
            click.echo(f"hint: there was no occasion for it; {_OCCASION}", err=True)
