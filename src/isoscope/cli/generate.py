"""`isoscope generate`: histories of any size that satisfy a level, and may break another."""

from __future__ import annotations

from typing import Any

import click

from isoscope import formats
from isoscope.cli.options import parse_level
from isoscope.errors import UsageError
from isoscope.history import Initial
from isoscope.workloads import MIXES, SCRIPTS, Workload, generate

__all__ = ["command"]

#: What a mix decides by itself.
_OF_THE_MIX = ("operations", "min_operations", "keys", "read_ratio", "distribution")


@click.command("generate")
@click.argument("target", metavar="OUT")
@click.option("--level", metavar="LEVEL", callback=parse_level,
              help="Satisfy this level, no more than it. By default all that --break leaves.")  # fmt: skip
@click.option("--break", "breaks", metavar="LEVEL", callback=parse_level,
              help=f"Break this level at least once: {', '.join(SCRIPTS)}.")  # fmt: skip
@click.option("--lag", default=8, show_default=True, type=click.IntRange(1, 2**16),
              help="A read shows one of this many last versions, as far as --level allows.")  # fmt: skip
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
    type=click.Choice([f.name for f in formats.FORMATS]),
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
    **parameters: Any,
) -> None:
    """Generate a history of any size, valid or broken as asked.

    Without --level and --break, transactions run one after the other, so the history satisfies every
    level. With them, it satisfies exactly what is asked for. The same seed gives the same history
    everywhere. The format follows from the name of OUT.

    \b
    Examples:
        isoscope generate history.txt --transactions 500000 --sessions 100 --keys 10000
        isoscope generate lists.edn --lists --max-writes-per-key 16 --seed 7
        isoscope generate weak.txt --level read-atomic --break causal
        isoscope generate skewed.parquet --lists --intervals --level snapshot-isolation
        isoscope generate orders.parquet --mix tpcc --transactions 16000 --sessions 25
    """
    least = operations if min_operations is None else min_operations
    if least > operations:
        raise UsageError(f"--min-operations {least} is more than --operations {operations}")
    if mix is not None:
        _refuse_what_the_mix_decides()
    chosen = formats.find(format_) if format_ else formats.for_path(target)
    workload = Workload(
        mix=None if mix is None else MIXES[mix],
        min_operations=least,
        max_operations=operations,
        initial=chosen.initial or Initial(value=0, replaceable=True),
        **parameters,
    )
    for loss in formats.save(generate(workload), target, format=chosen.name, lossy=lossy):
        click.echo(f"lost: {loss}", err=True)


def _refuse_what_the_mix_decides() -> None:
    context = click.get_current_context()
    default = click.core.ParameterSource.DEFAULT
    given = [name for name in _OF_THE_MIX if context.get_parameter_source(name) is not default]
    if given:
        options = ", ".join(f"--{name.replace('_', '-')}" for name in given)
        raise UsageError(f"--mix decides by itself what {options} would say\n\nhint: leave one of them out")
