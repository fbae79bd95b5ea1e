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


def test_results_are_words_and_differences_name_what_was_expected() -> None:
    assert render_hermitage("MariaDB 10.11", [ALIKE, OTHER]) == (
        "No. MariaDB 10.11 is weaker than expected at repeatable-read.\n"
        "\n"
        "     read-committed  repeatable-read\n"
        "G0   prevented       allowed, expected prevented\n"
        "PMP  allowed         prevented (R/O)\n"
        "G2   allowed         prevented, expected allowed\n"
        "\n"
        "R/O: only for transactions that do nothing but read\n"
        "expected of read-committed: published, Hermitage, with MySQL 5.6.21\n"
        "expected of repeatable-read: theory, snapshot isolation\n"
        "\n"
        "repeatable-read: weaker than expected (theory) for G0: allowed, not prevented.\n"
        "repeatable-read: stronger than expected (theory) for G2: prevented, not allowed.\n"
    )


def test_a_database_with_the_known_results_is_said_to_have_them() -> None:
    text = render_hermitage("MariaDB 10.11", [ALIKE])
    assert text.startswith("Yes. MariaDB 10.11 prevents what is expected (published).\n\n")
    assert ", expected" not in text
    assert "R/O" not in text


def test_an_isolation_without_known_results_is_named() -> None:
    text = render_hermitage("Toy 1.0", [NEW])
    assert text.startswith("Not decided: nothing is known that Toy 1.0 could be compared with.\n\n")
    assert text.endswith("\n\nchaos: nothing is known that it could be compared with.\n")
    assert "G0  allowed\n" in text


def test_an_anomaly_that_was_not_asked_for_is_a_dash() -> None:
    text = render_hermitage("Toy 1.0", [NEW, ALIKE])
    assert "PMP  -        allowed\n" in text
    assert text.startswith("Yes. Toy 1.0 prevents what is expected (published).\n")


def test_anomalies_are_named_as_in_the_literature() -> None:
    text = render_hermitage("Toy 1.0", [NEW], names={"G0": "write cycle", "G1a": "aborted read"})
    assert "\n\nG0: write cycle\n" in text
    assert "G1a" not in text


def test_an_isolation_that_is_only_stronger_is_no_broken_promise() -> None:
    row = HermitageRow(
        isolation="strong", found={"G2": "yes"}, expected={"G2": "no"}, kind="theory", source="snapshots"
    )
    text = render_hermitage("Toy 1.0", [row])
    assert text.startswith("Yes. Toy 1.0 prevents what is expected (theory).\n")
    assert "strong: stronger than expected (theory) for G2: prevented, not allowed." in text
