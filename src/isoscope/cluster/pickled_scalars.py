"""Scalars of the native core travel between processes by their texts: importing this module is enough."""

from __future__ import annotations

import copyreg

from isoscope._native import UNKNOWN, Term, Unknown

__all__: list[str] = []


def _unknown() -> Unknown:
    return UNKNOWN


copyreg.pickle(Term, lambda term: (Term, (term.text,)))
copyreg.pickle(Unknown, lambda _: (_unknown, ()))
