"""Regressions on centres: what a slope leans by, and how it is put right."""

from __future__ import annotations

from tarnkappe.errors import JobError


def slope_before_sorting(slope: float, explained: float, k: int) -> float:
    r"""The slope of y on x in the original data, from centres of groups of k records that follow each other by y.

    Groups keep nearly all of the spread of what they are sorted by, and lose that of x within them. With
    normally distributed x and y the slope on the centres tends to

    .. math:: \tilde\beta = \beta \, \frac{k}{1 + (k - 1) R^2}, \quad \tilde R^2 = \frac{k R^2}{1 + (k - 1) R^2}

    so that :math:`\beta = \tilde\beta / (k - (k - 1) \tilde R^2)`. `slope` and `explained` are the slope and the share
    of variance explained, both found on the centres. Groups formed by x, or by columns that are neither x nor y, need
    no correction.

    >>> round(slope_before_sorting(3.0, 0.75, 5), 3)
    1.5

    References
    ----------
    .. [SSK07] Schmid, Schneeweiss, Küchenhoff. "Estimation of a linear regression under microaggregation with the
       response variable as a sorting variable." Statistica Neerlandica 61(4), 2007.
    """
    if k < 1 or not 0.0 <= explained <= 1.0:
        raise JobError(
            "E110",
            "a correction needs groups of at least one record, and a share of variance between 0 and 1",
            hint="slope_before_sorting(3.0, 0.75, 5)",
        )
    return slope / (k - (k - 1) * explained)
