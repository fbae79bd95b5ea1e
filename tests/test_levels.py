"""The lattice of isolation levels and the names that it answers to."""

import dataclasses

import pytest

from isoscope.levels import (
    DEFINITIONS,
    Family,
    Level,
    implied,
    implying,
    normalise,
    parse,
    strongest,
    weakest,
)

# Section 4 of the design, line by line: a level and those that it implies directly.
DESIGN = """
strict-serializable: strong-session-serializable strong-snapshot-isolation
strong-session-serializable: strong-session-snapshot-isolation serializable
strong-snapshot-isolation: strong-session-snapshot-isolation strong-pl-2
strong-session-snapshot-isolation: prefix strong-session-parallel-snapshot-isolation \
    snapshot-isolation strong-session-pl-2
prefix: causal
strong-session-parallel-snapshot-isolation: causal parallel-snapshot-isolation
causal: read-atomic
read-atomic: read-committed cut-isolation
read-committed: pl-2
serializable: snapshot-isolation repeatable-read update-serializable
snapshot-isolation: parallel-snapshot-isolation
parallel-snapshot-isolation: consistent-view
repeatable-read: consistent-view
update-serializable: consistent-view
consistent-view: cursor-stability monotonic-view cut-isolation
cursor-stability: pl-2
monotonic-view: pl-2
pl-2: pl-1
pl-1:
cut-isolation:
strong-pl-2: strong-session-pl-2 strong-pl-1
strong-pl-1: strong-session-pl-1
strong-session-pl-2: pl-2 strong-session-pl-1
strong-session-pl-1: pl-1
clock-snapshot-isolation: strong-session-snapshot-isolation
clock-serializable: serializable
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
    assert implied(Level.STRICT_SERIALIZABLE) == set(Level) - clocks
    assert implied(Level.PL_1) == {Level.PL_1}
    assert implying(Level.CLOCK_SERIALIZABLE) == {Level.CLOCK_SERIALIZABLE}


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
    )
    assert weakest(Level) == (Level.PL_1, Level.CUT_ISOLATION)


def test_the_order_in_which_levels_are_given_does_not_matter() -> None:
    assert strongest(reversed(Level)) == strongest(Level)
    assert weakest(reversed(Level)) == weakest(Level)
