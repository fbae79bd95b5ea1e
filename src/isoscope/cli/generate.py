"""`isoscope generate`: histories of any size, of a store for a level or of a simulated database."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from isoscope import formats
from isoscope.cli import generate_profile
from isoscope.cli.options import FormatName, SectionedCommand, parse_level, refuse_given
from isoscope.databases.profiled import FAULTS
from isoscope.databases.simulated import BUGS, ISOLATIONS, Simulated, run
from isoscope.errors import UsageError
from isoscope.history import Initial
from isoscope.workloads import MIXES, SCRIPTS, Workload, generate

if TYPE_CHECKING:
    from isoscope.databases.simulated import Simulation
    from isoscope.history import History

__all__ = ["command"]

#: Options that a mix decides.
_OF_THE_MIX = ("operations", "min_operations", "keys", "read_ratio", "distribution")
#: Options of a store for a level, and of the simulated database.
_OF_THE_STORE = ("level", "breaks", "lag")
_OF_THE_DATABASE = (
    "bug", "bug_rate", "clock", "nodes", "skew", "concurrency", "on_conflict", "repeated_values",
)  # fmt: skip
#: Sections of the help; the other options are the workload.
_SECTIONS = {
    "A store for a level": _OF_THE_STORE,
    "A simulated database": ("isolation", *_OF_THE_DATABASE),
    "A database with a profile": generate_profile.OPTIONS,
    "Output": ("timestamps", "intervals", "lossy", "format_", "--help"),
}


@click.command("generate", cls=SectionedCommand, first="Workload", sections=_SECTIONS)
@click.argument("target", metavar="OUT")
@click.option("--level", metavar="LEVEL", callback=parse_level,
              help="Satisfy this level, no more than it. By default all that --break leaves.")  # fmt: skip
@click.option("--break", "breaks", metavar="LEVEL", callback=parse_level,
              help=f"Break this level at least once: {', '.join(SCRIPTS)}.")  # fmt: skip
@click.option("--lag", default=8, show_default=True, type=click.IntRange(1, 2**16),
              help="A read shows one of this many last versions, as far as --level allows.")  # fmt: skip
@click.option("--isolation", metavar="NAME",
              help=f"Run on a simulated database: {', '.join(ISOLATIONS)}.")  # fmt: skip
@click.option("--bug", metavar="NAME",
              help=f"Inject one fault: {', '.join(BUGS)}. With --profile: {', '.join(FAULTS)}.")  # fmt: skip
@click.option("--bug-rate", type=click.FloatRange(0, 1),
              help="Share of transactions where it may strike. By default few in 1000 show it.")  # fmt: skip
@click.option("--clock", default="central", show_default=True, type=click.Choice(["central", "hybrid"]),
              help="One oracle for timestamps, or a hybrid logical clock on each node.")  # fmt: skip
@click.option("--nodes", default=3, show_default=True, type=click.IntRange(1, 2**16))
@click.option("--skew", default=100_000, show_default=True, type=click.IntRange(0, 2**40),
              help="By how many nanoseconds clocks differ at most; an event takes 1000.")  # fmt: skip
@click.option("--concurrency", default=8, show_default=True, type=click.IntRange(1, 2**31),
              help="How many transactions are open at once.")  # fmt: skip
@click.option("--on-conflict", default="abort", show_default=True,
              type=click.Choice(["abort", "retry", "read"]),
              help="Abort; abort and do it again; or read what must not be written.")  # fmt: skip
@click.option("--repeated-values", default=0, show_default=True, type=click.IntRange(0, 2**31),
              help="Write only so many different values to a key (0: every value once).")  # fmt: skip
@generate_profile.options
@click.option("--mix", type=click.Choice(list(MIXES)), help="What transactions do, as in a benchmark.")
@click.option("--sessions", default=10, show_default=True, type=click.IntRange(1, 2**31))
@click.option("--transactions", default=1000, show_default=True, type=click.IntRange(0, 2**31))
@click.option("--operations", default=8, show_default=True, type=click.IntRange(0, 2**20),
              help="Operations of each transaction; the most, if --min-operations is given.")  # fmt: skip
@click.option("--min-operations", type=click.IntRange(0, 2**20))
@click.option("--keys", default=100, show_default=True, type=click.IntRange(1, 2**28))
@click.option("--read-ratio", default=0.5, show_default=True, type=click.FloatRange(0, 1))
@click.option("--abort-ratio", default=0.0, show_default=True, type=click.FloatRange(0, 1))
@click.option("--distribution", default="uniform", show_default=True,
              type=click.Choice(["uniform", "zipfian", "hotspot"]))  # fmt: skip
@click.option("--lists", is_flag=True, help="Keys hold lists that are appended to.")
@click.option("--max-writes-per-key", default=0, show_default=True, type=click.IntRange(0, 2**31),
              help="Retire a key after this many writes (0: never).")  # fmt: skip
@click.option("--timestamps", is_flag=True, help="Give every transaction a start and a commit timestamp.")
@click.option("--intervals", is_flag=True,
              help="Give every transaction an interval on the client's clock.")  # fmt: skip
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0, 2**64 - 1))
@click.option("--lossy", is_flag=True, help="Write what OUT can hold, and say what is lost.")
@click.option(
    "--format",
    "format_",
    type=FormatName(),
    help="Format of OUT.",
)
def command(
    target: str,
    *,
    mix: str | None,
    operations: int,
    min_operations: int | None,
    format_: str | None,
    lossy: bool,
    isolation: str | None,
    profile: str | None,
    **parameters: Any,
) -> None:
    """Generate a history of any size, valid or broken as asked.

    Without --level, --break and --isolation, transactions run one after the other, so the history
    satisfies every level. With --level and --break, it satisfies exactly what is asked for. With
    --isolation, sessions run at the same time on a simulated database, which keeps its promise unless a
    --bug is injected. With --profile, clients run on a database that works as that profile says, and every
    operation has the interval in which its client waited for it. The same seed gives the same history
    everywhere. The format follows from the name of OUT.

    \b
    Examples:
        isoscope generate history.txt --transactions 500000 --sessions 100 --keys 10000
        isoscope generate lists.edn --lists --max-writes-per-key 16 --seed 7
        isoscope generate weak.txt --level read-atomic --break causal
        isoscope generate skewed.parquet --lists --intervals --level snapshot-isolation
        isoscope generate orders.parquet --mix tpcc --transactions 16000 --sessions 25
        isoscope generate stale.json --isolation snapshot-isolation --bug stale-snapshot
        isoscope generate skew.parquet --profile postgresql/serializable --bug missed-certifier
    """
    least = operations if min_operations is None else min_operations
    if least > operations:
        raise UsageError(f"--min-operations {least} is more than --operations {operations}")
    if mix is not None:
        refuse_given(_OF_THE_MIX, "--mix decides by itself what {options} would say", "leave one of them out")
    chosen = formats.find(format_) if format_ else formats.for_path(target)
    simulated = generate_profile.generate(profile, (least, operations), parameters)
    if simulated is not None:
        _save(simulated.history, target, chosen.name, lossy=lossy)
        generate_profile.print_faults(simulated, parameters["bug"])
        return
    database = _database(isolation, {name: parameters.pop(name) for name in _OF_THE_DATABASE})
    # A simulated database writes its timestamps if the format can hold them.
    parameters["timestamps"] |= database is not None and "timestamps" in chosen.holds
    workload = Workload(
        mix=None if mix is None else MIXES[mix],
        min_operations=least,
        max_operations=operations,
        initial=chosen.initial or Initial(value=0, replaceable=True),
        **parameters,
    )
    simulation = None if database is None else run(database, workload)
    history = generate(workload) if simulation is None else simulation.history
    _save(history, target, chosen.name, lossy=lossy)
    if simulation is not None:
        _print_faults(simulation)


def _save(history: History, target: str, format_: str, *, lossy: bool) -> None:
    for loss in formats.save(history, target, format=format_, lossy=lossy):
        click.echo(f"lost: {loss}", err=True)


def _database(isolation: str | None, parameters: dict[str, Any]) -> Simulated | None:
    if isolation is None:
        refuse_given(_OF_THE_DATABASE, "{options} is for a simulated database", "name its --isolation")
        return None
    refuse_given(
        _OF_THE_STORE, "a simulated database knows nothing of {options}", "leave it or --isolation out"
    )
    return Simulated(isolation=isolation, conflicts=parameters.pop("on_conflict"), **parameters)


def _print_faults(simulation: Simulation) -> None:
    """Prints what happened on the simulated database."""
    counts = simulation.history.counts
    click.echo(f"committed: {counts['committed']:,}, aborted: {counts['aborted']:,}", err=True)
    if simulation.bug is None:
        return
    # An anomaly that breaks both levels of the clock is counted once.
    once = {replace(entry, levels=()) for entry in simulation.injected}
    injected = Counter(entry.anomaly for entry in once)
    shown = ", ".join(f"{name}: {count:,}" for name, count in sorted(injected.items()))
    click.echo(f"injected {simulation.bug}: {shown or 'nothing to be seen'}", err=True)
