"""The rules of docs/explanation/semantics.md, each with a test that shows it."""

import pytest

pytest.register_assert_rewrite(
    "tests.semantics.histories",
    "tests.semantics.single_reads",
    "tests.semantics.weak_levels",
    "tests.semantics.version_orders",
    "tests.semantics.clocks",
    "tests.semantics.range_reads",
    "tests.semantics.rows",
)
