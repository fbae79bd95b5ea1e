"""The certificates of published findings are verified."""

from __future__ import annotations

from pathlib import Path

import pytest

from isoscope.verify import verify

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
CERTIFICATES = sorted(EXAMPLES.glob("*.certificate"))


def test_every_shrunk_finding_has_a_certificate() -> None:
    shrunk = {path.stem for path in EXAMPLES.glob("*-shrunk.txt")}
    assert shrunk
    assert shrunk == {path.stem for path in CERTIFICATES}


@pytest.mark.parametrize("certificate", CERTIFICATES, ids=lambda path: path.stem)
def test_the_certificate_of_a_finding_is_verified(certificate: Path) -> None:
    findings = verify(certificate.with_suffix(".parquet"), certificate)
    assert [(finding.outcome, finding.verified) for finding in findings] == [("violated", True)]
