"""Single wrong lines of the native core: what `kernel_mutations` switches on one by one."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["MUTANTS", "Mutant"]


@dataclass(frozen=True, slots=True)
class Mutant:
    """In `file`, the expression `right`, which stands there once inside `context`, becomes `wrong`."""

    file: str
    right: str
    wrong: str
    context: str = ""


MUTANTS = (
    Mutant(
        "reads.rs",
        "writers.good.is_some() || may_be_initial",
        "writers.good.is_some()",
    ),
    Mutant("by_key.rs", "write.operation > read", "write.operation < read"),
    Mutant("observations.rs", "(1..=canonical.length).contains(&seen.length)", "seen.length > 0"),
    Mutant("observations.rs", "writers[first..].contains(&after) || !writers.contains(&after)", "true"),
    Mutant("weak/direct.rs", "same_row && newer < source", "same_row && newer > source"),
    Mutant("weak/direct.rs", "writer_session == session && newer != source", "writer_session != session"),
    Mutant("weak/direct.rs", "sight.last > first", "sight.last >= first"),
    Mutant("weak/causal.rs", "place <= clock.0[lane]", "place < clock.0[lane]"),
    Mutant("weak/causal.rs", "place > *known", "place < *known"),
    Mutant("weak/reader.rs", "first < last", "first <= last"),
    Mutant("weak/reader.rs", "newer == source || newer == self.node", "newer == source"),
    Mutant("weak/recorded_order.rs", "is_told && first != INITIAL && first != second", "false"),
    Mutant("versions/dependencies.rs", "(place > 0)", "(place > 1)", "(place > 0).then(|| (up_to"),
    Mutant("versions/dependencies.rs", "(place + 1 < count)", "(place + 2 < count)"),
    Mutant("versions/dependencies.rs", "parts.order >= Order::Session", "parts.order > Order::Session"),
    Mutant("versions/transaction_times.rs", "end < start", "end <= start"),
    Mutant("versions/event_graph.rs", "reader != after", "true", "|&&(_, reader, _)| reader != after"),
    Mutant(
        "versions/lost_updates.rs",
        "(follows(own) || !lookup.precedes(key, own, read, Order::Plain))",
        "follows(own)",
    ),
    Mutant(
        "versions/session_guarantees.rs",
        "source < Source::ReadThenWrite || source > Source::RealTime",
        "true",
    ),
    Mutant(
        "versions/orders/key_order.rs",
        "!is_list && !initial.replaceable && initial.of(key) == value",
        "false",
    ),
    Mutant("versions/orders/inference.rs", "place(&pair[0]).0 == place(&pair[1]).0", "true"),
    Mutant(
        "versions/levels.rs",
        "order >= Order::Session",
        "order > Order::Session",
        "let rows = self.session_pairs(order >= Order::Session)",
    ),
    Mutant(
        "versions/levels.rs",
        "order >= Order::Session",
        "order > Order::Session",
        "pairs.extend(self.session_pairs(order >= Order::Session)",
    ),
    Mutant(
        "versions/adjacent_versions.rs",
        "first <= self.order.before_tail()",
        "first < self.order.before_tail()",
    ),
    Mutant(
        "versions/explained/tally.rs",
        "outcome == Outcome::Violated",
        "outcome != Outcome::Holds",
        "self.broken[level] &= outcome == Outcome::Violated",
    ),
    Mutant("versions/level_outcomes.rs", "orders.is_complete() && knows_reads", "knows_reads"),
    Mutant("clock/replay.rs", "demanded != value", "demanded != value && version.write != NOTHING"),
    Mutant(
        "clock/replay.rs",
        "start < commit",
        "start <= commit",
        "self.level == ClockLevel::Snapshot && start < commit",
    ),
    Mutant(
        "clock/concurrent_writers.rs",
        "|| self.ongoing[other] == commit",
        "",
        "self.ongoing[other] > start || self.ongoing[other] == commit",
    ),
)
