from __future__ import annotations

import numpy as np
import pytest

from tarnkappe.errors import JobError
from tarnkappe.usefulness.centred_regression import slope_before_sorting


@pytest.mark.parametrize(("beta", "noise", "k"), [(2.0, 3.0, 3), (-0.5, 1.0, 5), (1.0, 0.2, 10)])
def test_a_slope_on_centres_is_put_right(beta: float, noise: float, k: int):
    """x and y are averaged in groups that follow each other by y."""
    draw = np.random.default_rng(k)
    x = draw.normal(0, 1, 6000)
    y = beta * x + draw.normal(0, noise, 6000)
    order = np.argsort(y).reshape(-1, k)
    found, explained = fit(x[order].mean(axis=1), y[order].mean(axis=1))
    true, _ = fit(x, y)
    assert abs(found - true) > 3 * abs(slope_before_sorting(found, explained, k) - true)
    assert slope_before_sorting(found, explained, k) == pytest.approx(true, rel=0.06)


def fit(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    return float(np.polyfit(x, y, 1)[0]), float(np.corrcoef(x, y)[0, 1] ** 2)


def test_what_cannot_be():
    with pytest.raises(JobError, match="E110"):
        slope_before_sorting(1.0, 1.5, 3)
