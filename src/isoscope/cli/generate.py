"""`isoscope generate`: valid histories of any size."""

from __future__ import annotations

from typing import Any

import click

from isoscope import formats
from isoscope.errors import UsageError
from isoscope.history import Initial
from isoscope.workloads import SerialWorkload, generate

__all__ = ["command"]


@click.command("generate")
@click.argument("target", metavar="OUT")
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
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0, 2**64 - 1))
@click.option("--lossy", is_flag=True, help="Drop what OUT cannot hold, and say so.")
@click.option(
    "--format",
    "format_",
    type=click.Choice([f.name for f in formats.FORMATS]),
    help="Format of OUT.",
)
def command(
    target: str,
    *,
    operations: int,
    min_operations: int | None,
    format_: str | None,
    lossy: bool,
    **parameters: Any,
) -> None:
    """Generate a valid history of any size.

    Transactions run one after the other on a serial store, so the history satisfies every level. The
    same seed gives the same history everywhere. The format follows from the name of OUT.

    \b
    Examples:
        isoscope generate history.txt --transactions 500000 --sessions 100 --keys 10000
        isoscope generate lists.edn --lists --max-writes-per-key 16 --seed 7
    """
    least = operations if min_operations is None else min_operations
    if least > operations:
        raise UsageError(f"--min-operations {least} is more than --operations {operations}")
    chosen = formats.find(format_) if format_ else formats.for_path(target)
    workload = SerialWorkload(
        min_operations=least,
        max_operations=operations,
        initial=chosen.initial or Initial(value=0, replaceable=True),
        **parameters,
    )
    for loss in formats.save(generate(workload), target, format=chosen.name, lossy=lossy):
        click.echo(f"dropped: {loss}", err=True)
