"""`python -m isoscope.verify HISTORY CERTIFICATE`: 0 verified, 1 rejected, 2 bad input."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from isoscope.verify.certificate import Certificate
from isoscope.verify.history import BadInputError
from isoscope.verify.verification import refuse_empty, verify

if TYPE_CHECKING:
    from collections.abc import Sequence

    from isoscope.verify.verification import Finding

__all__ = ["main", "report"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Verify a certificate; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m isoscope.verify", description=main.__doc__)
    parser.add_argument("history", type=Path)
    parser.add_argument("certificate", type=Path)
    parser.add_argument("--level", action="append", help="only the verdict of this level; may be repeated")
    options = parser.parse_args(arguments)
    try:
        status, text = report(options.history, options.certificate, options.level)
    except BadInputError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    sys.stdout.write(text)
    return status


def report(history: Path, certificate: Path, levels: Sequence[str] | None) -> tuple[int, str]:
    """The exit status, and what is said: the answer in one sentence, then a line for each level."""
    findings = verify(history, certificate, levels or None)
    refuse_empty(findings)
    lines = [_answer(findings, history), ""]
    lines += [f"  {'verified' if f.verified else 'rejected':9} {f.outcome:9} {f.level}" for f in findings]
    lines += [
        f"\nassumed: initial values as the certificate has them: {said}" for said in _assumed(certificate)
    ]
    return int(not all(finding.verified for finding in findings)), "\n".join(lines) + "\n"


def _answer(findings: list[Finding], history: Path) -> str:
    rejected = [finding for finding in findings if not finding.verified]
    if rejected:
        first = rejected[0]
        verb = "holds" if first.outcome == "holds" else "is violated"
        return f"Rejected: that {first.level} {verb} is not proved: {first.reason}."
    count = len(findings)
    return (
        f"Verified: {count} verdict{'s' * (count != 1)} of {history} {'are' if count != 1 else 'is'} proved."
    )


def _assumed(certificate: Path) -> list[str]:
    initial = Certificate.read(certificate).initial
    return [] if initial is None else [str(initial.get("value") or "unknown")]
