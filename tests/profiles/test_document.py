"""Profiles of one's own: what a file says, what it leaves out, and what is wrong with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from isoscope import profiles
from isoscope.errors import FormatError, UsageError
from isoscope.levels import Level
from isoscope.profiles import PROFILES, Certifier, Conduct, Lock, Profile, Read, Snapshot, Statement

if TYPE_CHECKING:
    from pathlib import Path

MINIMAL = 'snapshot = "statement"\ncertifier = "none"\nfirst-updater-wins = false\n'


def one(text: str) -> Profile:
    [profile] = profiles.parse(text, name="my.toml", path="my.toml").values()
    return profile


def mistake(text: str) -> FormatError:
    with pytest.raises(FormatError) as caught:
        profiles.parse(text, name="my.toml", path="my.toml")
    return caught.value


def test_what_a_file_leaves_out_is_usual() -> None:
    profile = one(MINIMAL)
    assert (profile.name, profile.database, profile.level) == ("my.toml",) * 3
    assert profile.statements[Statement.SELECT] == Conduct()
    assert profile.statements[Statement.SELECT_FOR_SHARE] == Conduct(Lock.SHARE, Read.LOCKING)
    assert profile.statements[Statement.UPDATE] == Conduct(Lock.EXCLUSIVE, Read.LOCKING)
    assert profile.promises == ()


def test_a_profile_extends_another_but_for_what_it_says() -> None:
    base = PROFILES["postgresql/serializable"]
    profile = one(
        'extends = "postgres/ser"\nfirst-updater-wins = false\n[statements]\nselect = { lock = "share" }\n'
    )
    assert not profile.first_updater_wins
    assert profile.statements[Statement.SELECT] == Conduct(Lock.SHARE, Read.CONSISTENT)
    assert profile.statements[Statement.UPDATE] == base.statements[Statement.UPDATE]
    assert (profile.certifier, profile.snapshot) == (Certifier.SSI, Snapshot.FIRST_STATEMENT)
    assert (profile.promises, profile.sources, profile.notes) == (base.promises, base.sources, base.notes)
    assert profile.database == "PostgreSQL"
    assert profile.aliases == ()


def test_promises_can_be_taken_back() -> None:
    assert one('extends = "postgres/ser"\npromises = []\n').promises == ()
    assert one('extends = "postgres/ser"\npromises = ["si"]\n').promises == (Level.SNAPSHOT_ISOLATION,)


def test_levels_of_a_file_share_its_head_and_extend_each_other_in_any_order() -> None:
    found = profiles.parse(
        'database = "Mine"\nsources = ["a book"]\n'
        '[levels.strong]\nextends = "weak"\ncertifier = "ssi"\nnotes = ["new"]\n'
        f'[levels.weak]\n{MINIMAL}notes = ["old"]\n',
        name="mine",
    )
    assert list(found) == ["strong", "weak"]
    assert found["strong"].name == "mine/strong"
    assert found["strong"].level == "strong"
    assert found["strong"].sources == found["weak"].sources == ("a book",)
    assert found["strong"].notes == ("new",)
    assert found["weak"].certifier is Certifier.NONE


@pytest.fixture
def two(tmp_path: Path) -> Path:
    path = tmp_path / "two.toml"
    path.write_text(f"[levels.a]\n{MINIMAL}[levels.b]\n{MINIMAL}", encoding="utf-8")
    return path


def test_a_level_of_a_file_is_asked_for_behind_its_name(two: Path) -> None:
    assert profiles.load(f"{two}/b").level == "b"


@pytest.mark.parametrize(
    ("level", "message"), [("", "two.toml has several levels"), ("/c", "two.toml has no level `c`")]
)
def test_a_file_of_several_levels_is_asked_for_one_of_them(two: Path, level: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        profiles.load(f"{two}{level}")
    assert message in str(caught.value)
    assert f"ask for `{two}/a` or `{two}/b`" in str(caught.value)


def test_a_file_of_one_level_is_asked_for_by_its_name_alone(tmp_path: Path) -> None:
    path = tmp_path / "my.toml"
    path.write_text(MINIMAL, encoding="utf-8")
    assert profiles.load(str(path)).snapshot is Snapshot.STATEMENT
    with pytest.raises(UsageError, match="it is one level: "):
        profiles.load(f"{path}/a")


def test_a_file_that_cannot_be_read_is_one_message(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        profiles.load(str(tmp_path / "nowhere.toml"))
    (tmp_path / "bytes.toml").write_bytes(b"a = \xff")
    with pytest.raises(FormatError, match=r"bytes\.toml: byte 4: expected TOML, which is UTF-8"):
        profiles.load(str(tmp_path / "bytes.toml"))


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("snapshot = \n", 1, 12, "expected TOML, found something else: invalid value"),
        ('a = "x', 1, 7, "expected TOML, found something else: "),
        ("", 1, 1, "expected `snapshot`, found nothing"),
        (MINIMAL + "snapshots = 1", 4, 1, "expected one of database, extends, "),
        (MINIMAL + "protocol = 1", 4, 12, "expected a text, found 1"),
        (MINIMAL + "statements = 1", 4, 14, "expected a table, found 1"),
        (MINIMAL + 'notes = "x"', 4, 9, 'expected a list of texts such as ["..."], found "x"'),
        (MINIMAL + 'promises = ["sli"]', 4, 12, "expected levels, found unknown level `sli`"),
        ('extends = "nix/nix"', 1, 11, "expected a profile that is there, found unknown profile `nix/nix`"),
        (MINIMAL.replace("statement", "now"), 1, 12, "expected one of statement, first-read,"),
        (MINIMAL.replace("false", '"no"'), 3, 22, 'expected true or false, found "no"'),
        (MINIMAL + '[statements]\nselect = { lock = "shared" }', 5, 19, "expected one of none, share,"),
        (MINIMAL + '[statements.select]\n"lock" = "shared"', 5, 10, "expected one of none, share,"),
        (MINIMAL + 'statements.select.lock = "shared"', 4, 26, "expected one of none, share,"),
        (MINIMAL + "[statements]\nselect = { locks = 1 }", 5, 12, "expected one of lock, read, predicate"),
        (MINIMAL + "[statements]\nupsert = {}", 5, 1, "expected one of select, select-for-share,"),
        (f'[levels.a]\n{MINIMAL}[levels.b]\nextends = "a"\ncertifier = 2', 7, 13, "expected one of none,"),
        ("levels = {}", 1, 10, "expected at least one level, found {}"),
        ('[levels."A B"]\n' + MINIMAL, 1, 2, "expected a name of small letters, digits and hyphens"),
        ("levels = 3", 1, 10, "expected a table, found 3"),
        ('[levels.a]\nextends = "b"\n[levels.b]\nextends = "a"', 1, 2, "expected a profile that does not"),
        (MINIMAL + "[levels.a]\nsnapshot = 1", 1, 1, "expected one of database, documented, aliases, "),
    ],
)  # fmt: skip
def test_a_mistake_is_shown_where_it_stands(text: str, line: int, column: int, message: str) -> None:
    error = mistake(text)
    assert str(error).startswith(f"my.toml:{line}:{column}: {message}")
    assert error.excerpt == (text.splitlines() or [""])[line - 1]


@pytest.mark.parametrize("certifier", [Certifier.OPTIMISTIC_WRITES, Certifier.TIMESTAMP_ORDER])
def test_a_certifier_that_compares_writers_leaves_nothing_to_first_updater_wins(certifier: Certifier) -> None:
    text = f'snapshot = "begin"\ncertifier = "{certifier}"\nfirst-updater-wins = '
    assert one(f"{text}false").certifier is certifier
    error = mistake(f"{text}true")
    assert (error.line, error.hint) == (3, f"`{certifier}` compares the writers of a row itself")
    inherited = mistake(f'extends = "postgresql/repeatable-read"\ncertifier = "{certifier}"')
    assert (inherited.line, inherited.hint) == (2, error.hint)


def test_a_word_that_is_nearly_right_is_guessed() -> None:
    assert "did you mean `statement`?" in str(mistake(MINIMAL.replace("statement", "statment")))
    assert "did you mean `certifier`?" in str(mistake('certifer = "none"'))


@pytest.mark.parametrize("text", ['notes = ["\\u001b[31m"]', "a = \x1b[31m"])
def test_nothing_in_a_file_drives_a_terminal(text: str) -> None:
    assert "\x1b" not in str(mistake(MINIMAL + text))


def test_what_is_missing_says_where_it_could_come_from() -> None:
    assert 'extends = "DATABASE/LEVEL"' in str(mistake('snapshot = "statement"'))
