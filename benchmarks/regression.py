"""Correlations, and linear regressions with the significance of each coefficient: Qiu 2023, chapter 5."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import StatisticsError, correlation
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Fit", "correlated", "fitted"]


@dataclass(frozen=True, slots=True)
class Fit:
    """Coefficients and p-values by the name of the factor, and the share of variance that is explained."""

    coefficients: Mapping[str, float]
    p_values: Mapping[str, float]
    r_squared: float


def correlated(one: Sequence[float], other: Sequence[float]) -> float | None:
    """Pearson's coefficient; None if one of them does not vary."""
    try:
        return correlation(one, other)
    except StatisticsError:
        return None


def fitted(factors: Mapping[str, Sequence[float]], times: Sequence[float]) -> Fit | None:
    """Least squares with an intercept; None if there are too few points to tell the factors apart."""
    names = ["intercept", *factors]
    columns = np.column_stack([np.ones(len(times)), *(np.asarray(values) for values in factors.values())])
    measured = np.asarray(times, dtype=float)
    freedom = len(times) - len(names)
    if freedom < 1 or np.linalg.matrix_rank(columns) < len(names):
        return None
    solved, *_ = np.linalg.lstsq(columns, measured, rcond=None)
    left = measured - columns @ solved
    variance = float(left @ left) / freedom
    errors = np.sqrt(np.diag(variance * np.linalg.inv(columns.T @ columns)))
    p_values = [
        float(2 * stats.t.sf(abs(value / error), freedom)) if error > 0 else 0.0
        for value, error in zip(solved, errors, strict=True)
    ]
    spread = float(((measured - measured.mean()) ** 2).sum())
    explained = 1 - float(left @ left) / spread if spread else 0.0
    coefficients = dict(zip(names, map(float, solved), strict=True))
    return Fit(coefficients, dict(zip(names, p_values, strict=True)), explained)
