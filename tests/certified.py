"""Certificates of histories, made by the package and checked by the verifier."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from isoscope import checkers, formats
from isoscope.cli.certificate_file import proofs
from isoscope.verdict import Outcome
from isoscope.verify.verification import verify

if TYPE_CHECKING:
    from pathlib import Path

    from isoscope import History

__all__ = ["Tally", "in_a_readable_format"]

_READABLE = (".edn", ".txt")


def in_a_readable_format(path: Path, folder: Path) -> Path:
    """The history itself, or its copy in Parquet."""
    if path.suffix in _READABLE:
        return path
    copy = folder / f"{path.stem}.parquet"
    formats.save(formats.load(path), copy)
    return copy


@dataclass
class Tally:
    """Certifies one history after the other, and counts levels by outcome, or by why they are left out."""

    folder: Path
    verified: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)

    def add_history(self, history: History) -> None:
        """Checks a history by way of a file."""
        path = self.folder / "history.parquet"
        formats.save(history, path)
        self.add(path)

    def add(self, path: Path) -> None:
        """Checks a file; every level that is certified must be verified, with the outcome of the report."""
        history = formats.load(path)
        report = checkers.check(history, witness=True)
        made = proofs(history, report)
        certificate = self.folder / "history.certificate"
        certificate.write_text("".join(f"{line}\n" for line in made.lines))
        findings = verify(path, certificate)
        assert [finding for finding in findings if not finding.verified] == [], path
        outcomes = {str(verdict.level): str(verdict.outcome) for verdict in report}
        assert all(outcomes[finding.level] == finding.outcome for finding in findings)
        decided = sum(verdict.outcome is not Outcome.UNKNOWN for verdict in report)
        assert len(findings) + sum(made.left_out.values()) == decided
        assert len({line for line in made.lines if "level" in json.loads(line)}) == len(findings)
        self.verified.update(finding.outcome for finding in findings)
        self.left_out.update(made.left_out)

    @property
    def share(self) -> float:
        """The share of decided levels that have a certificate."""
        return self.verified.total() / (self.verified.total() + self.left_out.total())
