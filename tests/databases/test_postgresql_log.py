"""Messages of `pgoutput` become versions in the order of commits."""

from __future__ import annotations

from struct import pack

from isoscope.databases.postgresql.log import versions

RELATION = b"R" + pack(">I", 7) + b"public\0isoscope\0d" + pack(">H", 0)


def begin(number: int) -> bytes:
    return b"B" + pack(">qqI", 1, 2, number)


COMMIT = b"C" + pack(">Bqqq", 0, 1, 2, 3)


def row(*columns: int | None) -> bytes:
    texts = [None if column is None else str(column).encode() for column in columns]
    return pack(">H", len(texts)) + b"".join(
        b"n" if text is None else b"t" + pack(">I", len(text)) + text for text in texts
    )


def insert(key: int, value: int) -> bytes:
    return b"I" + pack(">I", 7) + b"N" + row(key, value)


def update(key: int, value: int) -> bytes:
    return b"U" + pack(">I", 7) + b"N" + row(key, value)


def delete(key: int) -> bytes:
    return b"D" + pack(">I", 7) + b"K" + row(key, None)


def test_versions_come_in_the_order_of_commits() -> None:
    log = [begin(1), RELATION, insert(5, -1), COMMIT, begin(2), update(5, 2**62), update(6, 3), COMMIT]
    assert list(versions(log)) == [(5, -1), (5, 2**62), (6, 3)]


def test_only_the_last_version_of_a_key_in_a_transaction_counts() -> None:
    assert list(versions([begin(1), update(5, 1), update(6, 2), update(5, 3), COMMIT])) == [(6, 2), (5, 3)]


def test_a_transaction_without_a_commit_is_dropped() -> None:
    assert list(versions([begin(1), update(5, 1), begin(2), update(5, 2), COMMIT])) == [(5, 2)]


def test_transactions_can_be_left_out_by_their_numbers() -> None:
    log = [begin(1), insert(5, 1), COMMIT, begin(2), update(5, 2), COMMIT]
    assert list(versions(log, without={1})) == [(5, 2)]


def test_a_version_that_its_own_transaction_deletes_is_none() -> None:
    log = [begin(1), insert(5, 1), insert(6, 1), delete(5), COMMIT, begin(2), delete(6), COMMIT]
    assert list(versions(log)) == [(6, 1)]


def test_an_update_may_show_the_old_row_first() -> None:
    old = b"U" + pack(">I", 7) + b"O" + row(5, 1) + b"N" + row(5, 2)
    key = b"U" + pack(">I", 7) + b"K" + row(4, None) + b"N" + row(6, 3)
    assert list(versions([begin(1), old, key, COMMIT])) == [(5, 2), (6, 3)]
