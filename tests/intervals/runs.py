"""Runs of the simulated database that works as a profile says: what a seed makes of loads and delays."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

from isoscope.databases.profiled import Delays, Load, Profiled, Run, run

if TYPE_CHECKING:
    from collections.abc import Mapping

    from isoscope.profiles import Profile

__all__ = ["QUIET", "database", "drawn_load", "ran"]

#: Clients think long and hear soon, so that intervals hide little.
QUIET = Delays(network=1_000, service=1_000, thinking=1_500_000)


def drawn_load(random: Random, transactions: int = 150) -> Load:
    """Any load: what it is made of differs from seed to seed."""
    shares: dict[str, Any] = {
        "ranges": random.choice([0, 0.3]),
        "for_update": random.choice([0, 0.2]),
        "for_share": random.choice([0, 0.2]),
        "updates_after_reads": random.choice([0, 0.5]),
        "inserts": random.choice([0, 0.2]),
        "deletes": random.choice([0, 0.2]),
        "rollbacks": random.choice([0, 0.1]),
        "lost_answers": random.choice([0, 0.05]),
    }
    return Load(
        clients=random.randint(1, 12),
        transactions=transactions,
        operations=(1, random.randint(1, 8)),
        keys=random.choice([2, 5, 10, 50]),
        tables=random.choice([1, 1, 2]),
        theta=random.choice([0, 0.9]),
        reads=random.choice([0.2, 0.5, 0.8]),
        longest_range=5,
        repeated_values=random.choice([0, 0, 3]),
        **shares,
    )


def database(
    profile: Profile, random: Random, *, faults: Mapping[str, float] | None = None, clock_error: int = 0
) -> Profiled:
    """Any delays."""
    delays = Delays(
        network=random.choice([1_000, 50_000, 200_000]),
        service=random.choice([0, 20_000]),
        thinking=random.choice([0, 20_000, 500_000]),
        clock_error=clock_error,
    )
    return Profiled(profile=profile, seed=random.getrandbits(32), delays=delays, faults=faults or {})


def ran(profile: Profile, seed: int, *, clock_error: int = 0, transactions: int = 150) -> Run:
    """A run without faults."""
    random = Random(seed)
    simulated = database(profile, random, clock_error=clock_error)
    return run(simulated, drawn_load(random, transactions))
