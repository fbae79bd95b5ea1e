"""The lattice of isolation levels and the names that it answers to."""

import dataclasses
import itertools

import pytest

from isoscope.levels import (
    DEFINITIONS,
    LADDER,
    PLAIN_LADDER,
    Family,
    Level,
    implied,
    implying,
    normalise,
    parse,
    strongest,
    weakest,
)

# Section 4 of the design, line by line: a level and those that it implies directly; then the session
# guarantees and the levels that are only known by name.
DESIGN = """
strict-serializable: strong-session-serializable strong-snapshot-isolation
strong-session-serializable: strong-session-snapshot-isolation serializable
strong-snapshot-isolation: strong-session-snapshot-isolation strong-pl-2
strong-session-snapshot-isolation: prefix strong-session-parallel-snapshot-isolation snapshot-isolation
prefix: causal strong-session-pl-2
strong-session-parallel-snapshot-isolation: causal update-atomic parallel-snapshot-isolation \
    read-your-writes monotonic-reads strong-session-pl-2
update-atomic: read-atomic cursor-stability
causal: read-atomic
read-atomic: read-committed cut-isolation
read-committed: monotonic-atomic-view
serializable: snapshot-isolation repeatable-read update-serializable
snapshot-isolation: parallel-snapshot-isolation forward-consistent-view monotonic-snapshot-read
parallel-snapshot-isolation: consistent-view
repeatable-read: consistent-view
update-serializable: forward-consistent-view
forward-consistent-view: consistent-view
consistent-view: cursor-stability monotonic-view cut-isolation
cursor-stability: pl-2
monotonic-view: monotonic-atomic-view
monotonic-snapshot-read: pl-2
monotonic-atomic-view: pl-2
pl-2: pl-1
pl-1:
cut-isolation:
strong-pl-2: strong-session-pl-2 strong-pl-1
strong-pl-1: strong-session-pl-1
strong-session-pl-2: pl-2 strong-session-pl-1 writes-follow-reads
strong-session-pl-1: pl-1 monotonic-writes
read-your-writes:
monotonic-reads:
monotonic-writes:
writes-follow-reads:
clock-snapshot-isolation: strong-session-snapshot-isolation
clock-serializable: serializable
linearizable:
session-serializable:
sequential:
causal-memory:
pram:
view-serializable:
one-copy-serializable:
"""
EDGES = {
    name: set(weaker.split())
    for name, _, weaker in (line.partition(":") for line in DESIGN.strip().splitlines())
}
SHORT_NAMES = {
    "sser": Level.STRICT_SERIALIZABLE,
    "pc": Level.PREFIX,
    "tcc": Level.CAUSAL,
    "cc": Level.CAUSAL,
    "ra": Level.READ_ATOMIC,
    "rc": Level.READ_COMMITTED,
    "ci": Level.CUT_ISOLATION,
    "ser": Level.SERIALIZABLE,
    "pl-3": Level.SERIALIZABLE,
    "si": Level.SNAPSHOT_ISOLATION,
    "PL-2.99": Level.REPEATABLE_READ,
    "psi": Level.PARALLEL_SNAPSHOT_ISOLATION,
    "PL-2+": Level.CONSISTENT_VIEW,
}
GUARANTEES = ("read-your-writes", "monotonic-reads", "monotonic-writes", "writes-follow-reads")
#: Nothing is said of these: no method decides them, and no other level settles them.
SILENT = {
    Level.LINEARIZABLE,
    Level.SESSION_SERIALIZABLE,
    Level.SEQUENTIAL,
    Level.CAUSAL_MEMORY,
    Level.PRAM,
    Level.VIEW_SERIALIZABLE,
    Level.ONE_COPY_SERIALIZABLE,
}
BOUNDED = {
    Level.FORWARD_CONSISTENT_VIEW,
    Level.MONOTONIC_SNAPSHOT_READ,
    Level.MONOTONIC_ATOMIC_VIEW,
    Level.UPDATE_ATOMIC,
}
#: Every model that Elle accepts, by our level: several names of one model on a line.
ELLE = {
    name: Level(level)
    for level, _, names in (
        line.partition(":")
        for line in """
strict-serializable: strict-serializable strong-serializable PL-SS
strong-snapshot-isolation: strong-snapshot-isolation
strong-pl-2: strong-read-committed strong-PL-2
strong-pl-1: strong-read-uncommitted strong-PL-1
strong-session-serializable: strong-session-serializable
strong-session-snapshot-isolation: strong-session-snapshot-isolation
strong-session-pl-2: strong-session-read-committed strong-session-PL-2
strong-session-pl-1: strong-session-read-uncommitted strong-session-PL-1
prefix: prefix
causal: causal-cerone
read-atomic: read-atomic
update-atomic: update-atomic
serializable: serializable conflict-serializable PL-3
snapshot-isolation: snapshot-isolation PL-SI
repeatable-read: repeatable-read PL-2.99
update-serializable: update-serializable PL-3U
parallel-snapshot-isolation: parallel-snapshot-isolation
forward-consistent-view: forward-consistent-view PL-FCV
consistent-view: consistent-view PL-2+
cursor-stability: cursor-stability PL-CS
monotonic-view: monotonic-view PL-2L
monotonic-snapshot-read: monotonic-snapshot-read PL-MSR
monotonic-atomic-view: monotonic-atomic-view
pl-2: read-committed PL-2
pl-1: read-uncommitted PL-1
read-your-writes: read-your-writes
monotonic-reads: monotonic-reads
monotonic-writes: monotonic-writes
writes-follow-reads: writes-follow-reads
linearizable: linearizable
session-serializable: session-serializable
sequential: sequential
causal-memory: causal
pram: PRAM
view-serializable: view-serializable
one-copy-serializable: 1SR
""".strip().splitlines()
    )
    for name in names.split()
}
every_level = pytest.mark.parametrize("level", Level)


def test_the_levels_are_those_of_the_design() -> None:
    assert {level.value for level in Level} == EDGES.keys()


@every_level
def test_a_level_implies_directly_what_the_design_says(level: Level) -> None:
    assert set(DEFINITIONS[level].implies) == EDGES[level]


@every_level
def test_a_member_is_spelt_like_its_value(level: Level) -> None:
    assert level.name == level.value.upper().replace("-", "_")


def test_definitions_stand_in_the_order_of_the_levels() -> None:
    assert list(DEFINITIONS) == list(Level)


def test_the_definitions_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        DEFINITIONS[Level.PL_1] = DEFINITIONS[Level.PL_2]  # type: ignore[index]
    with pytest.raises(dataclasses.FrozenInstanceError):
        DEFINITIONS[Level.PL_1].source = ""  # type: ignore[misc]


@every_level
def test_a_meaning_is_one_sentence_and_a_source_has_a_year(level: Level) -> None:
    definition = DEFINITIONS[level]
    assert definition.meaning.endswith(".")
    assert definition.meaning.count(". ") == 0
    assert any(word.strip(";,").isdigit() for word in definition.source.split())


@every_level
def test_no_level_comes_back_to_itself(level: Level) -> None:
    assert all(level not in implied(weaker) for weaker in DEFINITIONS[level].implies)


@every_level
def test_no_direct_edge_follows_from_the_others(level: Level) -> None:
    direct = DEFINITIONS[level].implies
    for weaker in direct:
        assert all(weaker not in implied(other) for other in direct if other is not weaker)


@every_level
def test_implied_and_implying_are_inverse(level: Level) -> None:
    assert implying(level) == {other for other in Level if level in implied(other)}
    assert level in implied(level)
    assert level in implying(level)


@every_level
def test_implication_is_transitive(level: Level) -> None:
    assert implied(level) == frozenset().union(*(implied(weaker) for weaker in implied(level)))


def test_what_the_ends_of_the_lattice_imply() -> None:
    clocks = {level for level in Level if DEFINITIONS[level].family is Family.CLOCK}
    assert implied(Level.STRICT_SERIALIZABLE) == set(Level) - clocks - SILENT
    assert implied(Level.PL_1) == {Level.PL_1}
    assert implying(Level.CLOCK_SERIALIZABLE) == {Level.CLOCK_SERIALIZABLE}


@pytest.mark.parametrize(("ladder", "family"), [(LADDER, Family.SESSION), (PLAIN_LADDER, Family.SESSIONLESS)])
def test_each_step_of_a_ladder_implies_those_before_it(ladder: tuple[Level, ...], family: Family) -> None:
    assert {DEFINITIONS[level].family for level in ladder} == {family}
    assert all(weaker in implied(level) for weaker, level in itertools.pairwise(ladder))


def test_nothing_without_sessions_implies_anything_with_them() -> None:
    without = {level for level in Level if DEFINITIONS[level].family is Family.SESSIONLESS}
    assert Level.SERIALIZABLE in without
    assert all(implied(level) <= without for level in without)


def test_nothing_with_sessions_implies_real_time_or_a_clock() -> None:
    weaker = {Family.SESSION, Family.SESSIONLESS}
    for level in Level:
        if DEFINITIONS[level].family is Family.SESSION:
            assert {DEFINITIONS[other].family for other in implied(level)} <= weaker


@pytest.mark.parametrize("level", [level for level in Level if level.value.startswith("strong-session-")])
def test_a_strong_session_level_implies_the_plain_one(level: Level) -> None:
    plain = Level(level.removeprefix("strong-session-"))
    assert plain in DEFINITIONS[level].implies


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Level.PREFIX, Level.STRONG_SESSION_PARALLEL_SNAPSHOT_ISOLATION),
        (Level.READ_COMMITTED, Level.CUT_ISOLATION),
        (Level.REPEATABLE_READ, Level.SNAPSHOT_ISOLATION),
        (Level.CURSOR_STABILITY, Level.MONOTONIC_VIEW),
        (Level.CLOCK_SNAPSHOT_ISOLATION, Level.CLOCK_SERIALIZABLE),
        (Level.SERIALIZABLE, Level.READ_COMMITTED),
    ],
)
def test_neither_of_two_incomparable_levels_implies_the_other(one: Level, other: Level) -> None:
    assert other not in implied(one)
    assert one not in implied(other)


@every_level
def test_every_name_of_a_level_is_read_back(level: Level) -> None:
    for name in (level.value, *DEFINITIONS[level].aliases):
        assert parse(name) is level
        assert parse(name.upper().replace("-", "_")) is level
        assert parse(f" {name.title().replace('-', ' ')} ") is level


def test_no_name_means_two_levels() -> None:
    names = [normalise(name) for level in Level for name in (level.value, *DEFINITIONS[level].aliases)]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(("name", "level"), SHORT_NAMES.items())
def test_the_short_names_of_the_papers_are_known(name: str, level: Level) -> None:
    assert parse(name) is level


def test_elles_read_committed_is_not_ours() -> None:
    assert parse("elle:read-committed") is Level.PL_2
    assert parse("read-committed") is Level.READ_COMMITTED


def test_elles_causal_is_not_ours() -> None:
    assert parse("elle:causal") is Level.CAUSAL_MEMORY
    assert parse("elle:causal-cerone") is parse("causal") is Level.CAUSAL


def test_every_model_of_elle_is_known_by_its_name() -> None:
    assert len(ELLE) == 54
    assert {name: parse(f"elle:{name}") for name in ELLE} == ELLE


def test_no_other_name_is_said_to_be_elles() -> None:
    aliases = {alias for definition in DEFINITIONS.values() for alias in definition.aliases}
    assert {alias for alias in aliases if alias.startswith("elle:")} == {
        f"elle:{name.lower()}" for name in ELLE
    }


def test_the_levels_that_no_method_decides_are_those_that_elle_knows_and_we_do_not() -> None:
    assert {level for level in Level if not DEFINITIONS[level].decided} == SILENT | BOUNDED


@pytest.mark.parametrize("level", sorted(SILENT))
def test_a_level_known_by_name_only_stands_alone(level: Level) -> None:
    assert implied(level) == implying(level) == {level}


@pytest.mark.parametrize("level", sorted(BOUNDED))
def test_a_level_that_no_method_decides_can_be_settled_either_way(level: Level) -> None:
    decided = {other for other in Level if DEFINITIONS[other].decided}
    assert implied(level) & decided
    assert implying(level) & decided


@pytest.mark.parametrize("name", GUARANTEES)
def test_a_session_guarantee_follows_from_sessions_and_implies_nothing(name: str) -> None:
    guarantee = Level(name)
    assert DEFINITIONS[guarantee].family is Family.SESSION
    assert implied(guarantee) == {guarantee}
    assert Level.STRONG_SESSION_SNAPSHOT_ISOLATION in implying(guarantee)
    assert not {Level.SERIALIZABLE, Level.CAUSAL} & implying(guarantee)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("snapshot", "unknown level `snapshot`; did you mean `snapshot-isolation`?"),
        ("Casual", "unknown level `Casual`; did you mean `causal`?"),
        ("pl-4", "unknown level `pl-4`; did you mean `serializable` or `pl-2` or `pl-1`?"),
        ("xyzzy", "unknown level `xyzzy`"),
        ("", "unknown level ``"),
    ],
)
def test_an_unknown_level_is_refused_with_the_closest_names(name: str, message: str) -> None:
    with pytest.raises(ValueError, match="unknown level") as caught:
        parse(name)
    assert type(caught.value) is ValueError
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("levels", "strong", "weak"),
    [
        ("", "", ""),
        ("causal", "causal", "causal"),
        ("read-committed causal pl-1", "causal", "pl-1"),
        (
            "cut-isolation read-committed",
            "read-committed cut-isolation",
            "read-committed cut-isolation",
        ),
        ("pl-2 serializable causal", "causal serializable", "pl-2"),
        (
            "consistent-view snapshot-isolation cut-isolation repeatable-read",
            "snapshot-isolation repeatable-read",
            "cut-isolation",
        ),
        (
            "pl-1 strict-serializable clock-serializable",
            "clock-serializable strict-serializable",
            "pl-1",
        ),
    ],
)
def test_the_strongest_and_the_weakest_of_some_levels(levels: str, strong: str, weak: str) -> None:
    chosen = [Level(name) for name in levels.split()]
    assert strongest(chosen) == tuple(strong.split())
    assert weakest(chosen) == tuple(weak.split())


def test_the_strongest_and_the_weakest_of_all_levels() -> None:
    assert strongest(Level) == (
        Level.CLOCK_SNAPSHOT_ISOLATION,
        Level.CLOCK_SERIALIZABLE,
        Level.STRICT_SERIALIZABLE,
        *(level for level in Level if level in SILENT),
    )
    weak = {*SILENT, *GUARANTEES, Level.PL_1, Level.CUT_ISOLATION}
    assert weakest(Level) == tuple(level for level in Level if level in weak)


def test_the_order_in_which_levels_are_given_does_not_matter() -> None:
    assert strongest(reversed(Level)) == strongest(Level)
    assert weakest(reversed(Level)) == weakest(Level)
