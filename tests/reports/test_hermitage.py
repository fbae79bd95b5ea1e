from __future__ import annotations

from isoscope.reports import HermitageRow, render_hermitage

ALIKE = HermitageRow(
    isolation="read-committed",
    found={"G0": "yes", "PMP": "no", "G2": "no"},
    expected={"G0": "yes", "PMP": "no", "G2": "no"},
    kind="published",
    source="Hermitage, with MySQL 5.6.21",
)
OTHER = HermitageRow(
    isolation="repeatable-read",
    found={"G0": "no", "PMP": "R/O", "G2": "yes"},
    expected={"G0": "yes", "PMP": "R/O", "G2": "no"},
    kind="theory",
    source="snapshot isolation",
)
NEW = HermitageRow(isolation="chaos", found={"G0": "no"})


def test_results_stand_above_known_results_and_differences_are_marked() -> None:
    assert render_hermitage("MariaDB 10.11", [ALIKE, OTHER]) == (
        "MariaDB 10.11: which anomalies does each isolation prevent?\n"
        "\n"
        "                            G0   PMP  G2\n"
        "read-committed   found      yes  no   no\n"
        "                 published  yes  no   no\n"
        "repeatable-read  found      no!  R/O  yes!\n"
        "                 theory     yes  R/O  no\n"
        "\n"
        "yes: it is prevented\n"
        "R/O: it is prevented for transactions that only read\n"
        "no: the anomaly can occur\n"
        "!: not what is known\n"
        "published: Hermitage, with MySQL 5.6.21\n"
        "theory: snapshot isolation\n"
        "\n"
        "repeatable-read: weaker than theory says for G0: no, not yes.\n"
        "repeatable-read: stronger than theory says for G2: yes, not no.\n"
    )


def test_a_database_with_the_known_results_is_said_to_have_them() -> None:
    text = render_hermitage("MariaDB 10.11", [ALIKE])
    assert text.endswith("\n\nAll is as published.\n")
    assert "!" not in text
    assert "R/O" not in text


def test_an_isolation_without_known_results_is_named() -> None:
    text = render_hermitage("Toy 1.0", [NEW])
    assert text.endswith("\n\nchaos: nothing is known that it could be compared with.\n")
    assert "chaos  found  no\n" in text
    assert "All is" not in text


def test_an_anomaly_that_was_not_asked_for_is_a_dash() -> None:
    text = render_hermitage("Toy 1.0", [NEW, ALIKE])
    assert "chaos           found      no   -    -\n" in text
    assert text.endswith("\nAll else is as published.\n")
