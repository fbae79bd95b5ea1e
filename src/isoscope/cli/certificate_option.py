"""The option `--certificate`: the prover and the verifier are imported only if it is given."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from isoscope.cli.certificate_file import CertificateFile
    from isoscope.history import History

__all__ = ["certificate_file", "is_proved_by_report"]


def certificate_file(target: str | None, histories: Sequence[str]) -> CertificateFile | None:
    """The file that the option names; None if it is not given."""
    if target is None:
        return None
    from isoscope.cli.certificate_file import CertificateFile  # noqa: PLC0415 - see the docstring of the module

    return CertificateFile(target, histories)


def is_proved_by_report(history: History) -> bool:
    """Whether the certificate holds only the proofs of the report, because a search would take too long."""
    from isoscope.cli.certificate_file import is_large  # noqa: PLC0415 - see the docstring of the module

    return is_large(history)
