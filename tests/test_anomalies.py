"""The catalogue of anomalies: complete, findable by every paper's label, true to the lattice."""

import dataclasses
import itertools
import json
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

from isoscope.anomalies import CATALOGUE, CatalogueEntry, Example, broken, family, find
from isoscope.checkers import reads, timestamps, version_order
from isoscope.checkers.values import NAMES
from isoscope.levels import DEFINITIONS, Family, Level, implied, implying, normalise, weakest

# Section 4 of the design, in its order; a circle that needs sessions or real time has a name of its own.
SECTION_4 = """
thin-air-read aborted-read future-read not-my-own-write not-my-last-write intermediate-read
cyclic-causal-order non-monotonic-read-co non-monotonic-read-cm non-repeatable-read
fractured-read-co fractured-read-cm causal-conflict commit-order-conflict
write-cycle write-cycle-session write-cycle-real-time
circular-information-flow circular-information-flow-session circular-information-flow-real-time lost-update
read-skew read-skew-session read-skew-real-time long-fork long-fork-session long-fork-real-time
write-skew write-skew-session write-skew-real-time phantom predicate-read-miss
dirty-update incompatible-order duplicate-elements cyclic-versions no-commit-order
stale-read session-order write-conflict timestamp-inversion
inconsistent-read lock-violation first-updater-violation certifier-violation
contradictory-dependencies contradictory-evidence
"""
DESIGN = SECTION_4.split()
PATTERNS = DESIGN[:14]  # TAP-a to TAP-n
CIRCLES = ("write-cycle", "circular-information-flow", "read-skew", "long-fork", "write-skew")
REPORTED = [*PATTERNS, *CIRCLES[:2], "incompatible-order", "duplicate-elements", "predicate-read-miss"]
#: Everything but what contradicts a clock, a mechanism or another source.
WITH_NEIGHBOUR = DESIGN[: DESIGN.index("stale-read")]
MECHANISMS = DESIGN[-6:-1]
OF_LISTS = ("write-cycle", "circular-information-flow", "incompatible-order", "duplicate-elements")
LABELS = {
    "G1a": "aborted-read",
    "G1b": "intermediate-read",
    "G0": "write-cycle",
    "G1c": "circular-information-flow",
    "G-single": "read-skew",
    "G-nonadjacent": "long-fork",
    "G2-item": "write-skew",
    "G2": "write-skew",
    "G0-process": "write-cycle-session",
    "G0-realtime": "write-cycle-real-time",
    "G1c-process": "circular-information-flow-session",
    "G1c-realtime": "circular-information-flow-real-time",
    "G-single-item-process": "read-skew-session",
    "G-single-realtime": "read-skew-real-time",
    "G-nonadjacent-item-process": "long-fork-session",
    "G-nonadjacent-realtime": "long-fork-real-time",
    "G2-item-process": "write-skew-session",
    "G2-realtime": "write-skew-real-time",
    "NOCONFLICT": "write-conflict",
    "EXT": "stale-read",
    "SESSION": "session-order",
    "CR": "inconsistent-read",
    "ME": "lock-violation",
    "FUW": "first-updater-violation",
    "SC": "certifier-violation",
}
HISTORIES = Path(__file__).with_name("histories")
every_entry = pytest.mark.parametrize("entry", CATALOGUE.values(), ids=lambda entry: entry.name)


def examples(entry: CatalogueEntry) -> list[Example]:
    return [example for example in (entry.example, entry.allowed) if example is not None]


def test_the_catalogue_has_every_name_of_the_design_in_its_order() -> None:
    assert list(CATALOGUE) == DESIGN


def test_the_catalogue_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        CATALOGUE["write-skew"] = CATALOGUE["read-skew"]  # type: ignore[index]
    with pytest.raises(dataclasses.FrozenInstanceError):
        CATALOGUE["write-skew"].breaks = ()  # type: ignore[misc]


@every_entry
def test_every_field_that_a_reader_sees_is_filled(entry: CatalogueEntry) -> None:
    assert entry.title[0].isupper()
    assert entry.meaning.endswith(".")
    assert entry.counted
    assert entry.source


@every_entry
def test_every_name_of_an_anomaly_finds_it(entry: CatalogueEntry) -> None:
    for name in (entry.name, *entry.aliases):
        assert find(name) is entry
        assert find(name.upper()) is entry
        assert find(name.lower().replace("-", "_")) is entry


def test_no_name_means_two_anomalies() -> None:
    names = [normalise(name) for entry in CATALOGUE.values() for name in (entry.name, *entry.aliases)]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(("letter", "name"), [*zip("abcdefghijklmn", PATTERNS, strict=True)])
def test_plumes_letters_are_known(letter: str, name: str) -> None:
    assert find(f"TAP-{letter}").name == name


@pytest.mark.parametrize(("label", "name"), LABELS.items())
def test_the_labels_of_the_papers_are_known(label: str, name: str) -> None:
    assert find(label).name == name


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "lost-updates",
            "unknown anomaly `lost-updates`; did you mean `lost-update` or `dirty-update`?",
        ),
        ("G1-a", "unknown anomaly `G1-a`; did you mean `aborted-read`?"),
        ("xyzzy", "unknown anomaly `xyzzy`"),
    ],
)
def test_an_unknown_anomaly_is_refused_with_the_closest_names(name: str, message: str) -> None:
    with pytest.raises(ValueError, match="unknown anomaly") as caught:
        find(name)
    assert type(caught.value) is ValueError
    assert str(caught.value) == message


@every_entry
def test_only_the_weakest_broken_levels_are_listed(entry: CatalogueEntry) -> None:
    assert set(entry.breaks) == set(weakest(broken(entry)))
    assert len(entry.breaks) == len(set(entry.breaks))


@every_entry
def test_what_implies_a_broken_level_is_broken(entry: CatalogueEntry) -> None:
    found = broken(entry)
    assert found == {level for level in Level if implied(level) & found}
    assert found >= set(entry.breaks)


@pytest.mark.parametrize("name", PATTERNS[:6])
def test_a_wrong_single_read_breaks_everything_from_pl_2_up(name: str) -> None:
    assert broken(find(name)) == implying(Level.PL_2)
    spared = {
        Level.PL_1,
        Level.STRONG_SESSION_PL_1,
        Level.STRONG_PL_1,
        Level.CUT_ISOLATION,
        Level.READ_YOUR_WRITES,
        Level.MONOTONIC_READS,
        Level.MONOTONIC_WRITES,
        Level.WRITES_FOLLOW_READS,
    }
    decided = {level for level in Level if DEFINITIONS[level].decided}
    assert decided - broken(find(name)) == spared


def test_a_non_repeatable_read_spares_read_committed() -> None:
    found = broken(find("non-repeatable-read"))
    assert {Level.CUT_ISOLATION, Level.READ_ATOMIC, Level.SERIALIZABLE} <= found
    assert not {Level.READ_COMMITTED, Level.PL_2, Level.PL_1} & found


@pytest.mark.parametrize(
    ("letters", "weakest_broken", "strongest_spared"),
    [
        ("ghi", Level.READ_COMMITTED, Level.PL_2),
        ("kl", Level.READ_ATOMIC, Level.READ_COMMITTED),
        ("mn", Level.CAUSAL, Level.READ_ATOMIC),
    ],
)
def test_plumes_patterns_separate_neighbouring_levels(
    letters: str, weakest_broken: Level, strongest_spared: Level
) -> None:
    for letter in letters:
        found = broken(find(f"TAP-{letter}"))
        assert weakest_broken in found
        assert strongest_spared not in found


@pytest.mark.parametrize(
    ("name", "breaks"),
    [
        ("cyclic-causal-order", {Level.READ_COMMITTED, Level.STRONG_SESSION_PL_2}),
        ("write-cycle", {Level.PL_1}),
        ("circular-information-flow", {Level.PL_2}),
        ("lost-update", {Level.CURSOR_STABILITY}),
        ("read-skew", {Level.CONSISTENT_VIEW}),
        ("long-fork", {Level.SNAPSHOT_ISOLATION, Level.REPEATABLE_READ}),
        ("write-skew", {Level.REPEATABLE_READ}),
        ("write-cycle-session", {Level.STRONG_SESSION_PL_1}),
        ("circular-information-flow-session", {Level.STRONG_SESSION_PL_2}),
        ("read-skew-session", {Level.STRONG_SESSION_PARALLEL_SNAPSHOT_ISOLATION}),
        ("long-fork-session", {Level.STRONG_SESSION_SNAPSHOT_ISOLATION}),
        ("write-skew-session", {Level.STRONG_SESSION_SERIALIZABLE}),
        ("write-cycle-real-time", {Level.STRONG_PL_1}),
        ("circular-information-flow-real-time", {Level.STRONG_PL_2}),
        ("read-skew-real-time", {Level.STRONG_SNAPSHOT_ISOLATION}),
        ("long-fork-real-time", {Level.STRONG_SNAPSHOT_ISOLATION}),
        ("write-skew-real-time", {Level.STRICT_SERIALIZABLE}),
        ("predicate-read-miss", {Level.PL_2}),
        ("dirty-update", {Level.PL_2}),
        ("incompatible-order", {Level.PL_2}),
        ("duplicate-elements", {Level.PL_1}),
        ("cyclic-versions", {Level.PL_1}),
        ("stale-read", {Level.CLOCK_SNAPSHOT_ISOLATION, Level.CLOCK_SERIALIZABLE}),
        ("session-order", {Level.CLOCK_SNAPSHOT_ISOLATION}),
        ("write-conflict", {Level.CLOCK_SNAPSHOT_ISOLATION}),
        ("timestamp-inversion", {Level.CLOCK_SNAPSHOT_ISOLATION}),
    ],
)
def test_the_weakest_levels_that_an_anomaly_breaks(name: str, breaks: set[Level]) -> None:
    assert set(find(name).breaks) == breaks


def test_write_skew_spares_snapshot_isolation_and_long_fork_its_parallel_kind() -> None:
    assert Level.SERIALIZABLE in broken(find("write-skew"))
    assert Level.SNAPSHOT_ISOLATION not in broken(find("write-skew"))
    assert Level.PARALLEL_SNAPSHOT_ISOLATION not in broken(find("long-fork"))


@pytest.mark.parametrize("name", CIRCLES)
def test_a_stronger_order_closes_circles_that_break_fewer_levels(name: str) -> None:
    plain, session, real_time = (broken(find(f"{name}{order}")) for order in ("", "-session", "-real-time"))
    assert plain > session > real_time
    assert {DEFINITIONS[level].family for level in real_time} == {Family.REAL_TIME}
    assert not {level for level in session if DEFINITIONS[level].family is Family.SESSIONLESS}


def test_a_label_of_a_paper_that_means_several_anomalies_stands_for_all_of_them() -> None:
    assert family("G1c") == ("circular-information-flow", "cyclic-causal-order", "write-cycle")
    assert family("G1c-realtime") == ("circular-information-flow-real-time", "write-cycle-real-time")
    assert family("G0-process") == ("write-cycle-session",)


def test_an_anomaly_of_the_clock_convicts_no_plain_level() -> None:
    for name in ("stale-read", "session-order", "write-conflict", "timestamp-inversion"):
        assert {DEFINITIONS[level].family for level in broken(find(name))} == {Family.CLOCK}


def test_mechanisms_and_evidence_convict_no_level() -> None:
    silent = [entry.name for entry in CATALOGUE.values() if not entry.breaks]
    assert silent == ["no-commit-order", *DESIGN[-6:]]
    assert broken(find("no-commit-order")) == frozenset()


def test_every_anomaly_has_an_example() -> None:
    assert all(entry.example for entry in CATALOGUE.values())


def test_only_the_examples_of_mechanisms_have_a_profile() -> None:
    profiled = [e.name for e in CATALOGUE.values() if all(example.profile for example in examples(e))]
    assert profiled == MECHANISMS


def test_the_anomalies_that_a_history_shows_by_itself_have_an_allowed_neighbour() -> None:
    assert {entry.name for entry in CATALOGUE.values() if entry.allowed} == {*WITH_NEIGHBOUR, *MECHANISMS}


@pytest.mark.parametrize("name", [*WITH_NEIGHBOUR, *MECHANISMS])
def test_an_allowed_neighbour_differs_in_at_most_one_line_or_in_their_order(name: str) -> None:
    shown, allowed = examples(find(name))
    assert shown.text != allowed.text
    lost = Counter(shown.text.splitlines()) - Counter(allowed.text.splitlines())
    assert lost.total() <= 1


def test_no_two_examples_are_the_same_history() -> None:
    texts = [entry.example.text for entry in CATALOGUE.values() if entry.example]
    assert all(one != other for one, other in itertools.combinations(texts, 2))


@every_entry
def test_an_example_is_a_text_file_with_a_note(entry: CatalogueEntry) -> None:
    for example in examples(entry):
        assert example.format in {"plume", "jepsen", "aion", "leopard"}
        assert example.text.endswith("\n")
        assert "\n\n" not in example.text
        assert example.note.endswith(".")


def test_examples_are_written_in_the_words_of_their_formats() -> None:
    write_skew, stale_read = find("write-skew").example, find("stale-read").example
    assert write_skew is not None
    assert write_skew.text == (
        "{:type :ok, :process 0, :value [[:r :y []] [:append :x 1]]}\n"
        "{:type :ok, :process 1, :value [[:r :x []] [:append :y 1]]}\n"
    )
    assert stale_read is not None
    assert [json.loads(line) for line in stale_read.text.splitlines()] == [
        {
            "tid": 1,
            "sid": 1,
            "sts": {"p": 1, "l": 0},
            "cts": {"p": 2, "l": 0},
            "ops": [{"t": "w", "k": 1, "v": 1}],
        },
        {
            "tid": 2,
            "sid": 2,
            "sts": {"p": 3, "l": 0},
            "cts": {"p": 4, "l": 0},
            "ops": [{"t": "r", "k": 1, "v": 0}],
        },
    ]


def test_the_case_folders_are_the_anomalies_that_are_reported() -> None:
    assert set(REPORTED) == set(NAMES)
    folders = {path.name for path in HISTORIES.iterdir() if path.is_dir()}
    assert folders == {*NAMES, *version_order.NAMES, *timestamps.NAMES}


@pytest.mark.parametrize("checker", [reads, version_order, timestamps], ids=["reads", "versions", "clock"])
def test_a_checker_and_the_catalogue_agree_on_the_weakest_level(checker: ModuleType) -> None:
    for name, level in checker.NAMES.items():
        assert level in find(name).breaks or not find(name).breaks


def test_the_level_whose_axiom_a_conflict_breaks_is_broken() -> None:
    assert all(level in broken(find(name)) for name, level in NAMES.items())


@pytest.mark.parametrize("name", REPORTED)
def test_a_case_folder_has_both_answers_for_registers_and_for_lists(name: str) -> None:
    cases = {(path.name.split("-")[0], path.suffix) for path in (HISTORIES / name).iterdir()}
    # Plume text has neither lists nor range reads.
    suffixes = (".edn",) if name in (*OF_LISTS, "predicate-read-miss") else (".txt", ".edn")
    assert cases == set(itertools.product(("violated", "allowed"), suffixes))
