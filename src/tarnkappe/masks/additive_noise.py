"""Additive noise."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from tarnkappe.arrays import Floats
from tarnkappe.errors import JobError
from tarnkappe.masks.base import (
    HAIR,
    SIGMAS,
    Chance,
    ColumnsMask,
    Fitted,
    Held,
    Kept,
    MaskCard,
    as_series,
    is_whole,
    unfit,
)
from tarnkappe.masks.columns import Columns, addresses, moments
from tarnkappe.params import param
from tarnkappe.threads import in_background, share_evenly
from tarnkappe.wording import stated


@dataclass(frozen=True)
class AdditiveNoise(ColumnsMask):
    r"""Normal noise is added to numbers: each column by itself, or correlated like the columns.

    .. math:: z = x + e, \quad e \sim N(0, a \Sigma)

    Here a is the share of the variance. Uncorrelated noise has the variances of the columns on the diagonal of Σ, and
    nothing beside it. With Kim's correction,

    .. math:: z' = \bar x + (z - \bar x) / \sqrt{1 + a},

    correlated noise leaves means and covariances as they were, to sampling error; uncorrelated noise means and
    variances. Whole numbers stay whole: they are rounded up or down by lot, so that the mean stays. Bounds reflect.
    O(records · columns²).

    References
    ----------
    .. [Kim86] Kim. "A method for limiting disclosure in microdata based on random noise and transformation."
       Proceedings of the ASA, Survey Research Methods 1986.
    .. [Bra02] Brand. "Microdata protection through noise addition." Inference Control in Statistical Databases 2002.
    """

    name: ClassVar = "additive-noise"
    title: ClassVar = "additive noise"
    card: ClassVar = MaskCard(
        changes="every number moves by a random amount.",
        keeps="means; variances and covariances if they are corrected and the noise is correlated.",
        does_not="hide who stands far from everybody else; and noise that is not correlated can partly be filtered out "
        "of columns that are.",
        not_for="skewed numbers with few large ones, counts near zero, or where each number must be true.",
    )

    variance_share: float = param(
        doc="Variance of the noise as a share of that of the column.", gt=0, le=100, example=0.1
    )
    correlated: bool = param(False, doc="Whether noise is correlated like the columns are.")
    corrected: bool = param(False, doc="Whether Kim's correction takes back what noise adds to the variance.")
    lower: float | None = param(None, doc="No number becomes smaller.")
    upper: float | None = param(None, doc="No number becomes larger.")
    keep_whole: bool = param(True, doc="Whether whole numbers stay whole.")

    def __post_init__(self) -> None:
        """Check that the bounds leave room."""
        super().__post_init__()
        if self.lower is not None and self.upper is not None and not self.lower < self.upper:
            below, above = sorted((self.lower, self.upper))
            fix = (
                f"lower: {stated(below)}   and  upper: {stated(above)}"
                if below < above
                else f"lower: {stated(above - 1)}"
            )
            raise JobError("E110", "'lower' must be below 'upper'", hint=fix)

    @property
    def _bounded(self) -> bool:
        return self.lower is not None or self.upper is not None

    @property
    def computes_with(self) -> tuple[str, ...]:
        """What it changes."""
        return self.changes

    @property
    def done(self) -> str:
        """In words."""
        kind = "correlated noise" if self.correlated else "noise"
        ends = (("at least", self.lower), ("at most", self.upper))
        bounds = [f"{word} {stated(bound)}" for word, bound in ends if bound is not None]
        corrected = ", corrected after Kim" if self.corrected else ""
        limited = f", {' and '.join(bounds)}" if bounds else ""
        return f"{kind} added, {stated(self.variance_share)} times the variance{corrected}{limited}"

    @property
    def keeps(self) -> tuple[str, ...]:
        """In words."""
        if self._bounded:
            return (f"bounds of {', '.join(self.columns)}",)
        words = [f"means of {', '.join(self.columns)} to sampling error"]
        if self.corrected:
            what = "covariances" if self.correlated and len(self.columns) > 1 else "variances"
            words.append(f"{what} of {', '.join(self.columns)} to sampling error")
        return tuple(words)

    def fit(self, data: Columns, chance: Chance) -> Fitted:
        """Draw the noise of all records."""
        shape = data.n, len(self.columns)
        drawing = in_background(lambda: chance.rng.standard_normal(shape))  # while columns are read
        try:
            x = data.several(self.columns)
            whole = [self.keep_whole and is_whole(data.numbers(name)) for name in self.columns]
            if self._bounded:
                self._require_inside(data)
            mean, cov, n = data.moments(self.columns)
        finally:
            drawing.wait()
        if n < 2 or not (np.diag(cov) > 0).all():
            j = 0 if n < 2 else int(np.flatnonzero(~(np.diag(cov) > 0))[0])
            what = f"'{self.columns[j]}' does not vary, and a share of its variance is nothing"
            raise unfit(self, what, data.source, "Leave the column out of  columns.")
        z = self._moved(x, drawing.result(), mean, cov)
        for j in (j for j, is_so in enumerate(whole) if is_so):
            z[j] = self._rounded(z[j], chance.rng.random(data.n))
        return Held(
            [as_series(self, data, name, z[j], whole=whole[j], by_chance=True) for j, name in enumerate(self.columns)]
        )

    def _moved(self, x: Sequence[Floats], noise: Floats, mean: Floats, cov: Floats) -> Floats:
        """The numbers with noise, column by column."""
        from tarnkappe.kernels.masks.noise import add_noise

        a = self.variance_share
        value, vector = np.linalg.eigh(cov)
        root = vector * np.sqrt(a * np.maximum(value, 0)) if self.correlated else np.diag(np.sqrt(a * np.diag(cov)))
        out = np.empty(noise.shape[::-1])
        shrunk = math.sqrt(1 + a) if self.corrected else 1.0
        share_evenly(partial(add_noise, addresses(x), noise, root, mean, shrunk, *self._ends, out), len(noise))
        return out

    @property
    def _ends(self) -> tuple[float, float]:
        return -np.inf if self.lower is None else self.lower, np.inf if self.upper is None else self.upper

    def _require_inside(self, data: Columns) -> None:
        for name in self.columns:
            if self._outside(data.floats(name)):
                hint = "Bounds that all numbers keep, or a mask of its own for the column."
                raise unfit(self, f"numbers of '{name}' are beyond the bounds already", data.source, hint)

    def _outside(self, x: Floats) -> int:
        """How many numbers are beyond the bounds."""
        low, high = self._ends
        return int(((x < low) | (x > high)).sum())

    def _rounded(self, z: Floats, lot: Floats) -> Floats:
        """Up or down by lot, so that the mean stays; within the bounds."""
        made = np.floor(z + lot)
        low = -np.inf if self.lower is None else math.ceil(self.lower)
        high = np.inf if self.upper is None else math.floor(self.upper)
        return np.clip(made, low, high)

    def kept(self, before: Columns, after: Columns) -> Iterator[Kept]:
        """Bounds, or means and covariances to sampling error."""
        for table in (before, after):
            table.several(self.columns)
        for name in self.columns:
            lost = abs(before.numbers(name).null_count() - after.numbers(name).null_count())
            yield Kept(f"missing values of {name}", lost)
            if self._bounded:
                yield Kept(f"bounds of {name}", self._outside(after.floats(name)))
        if self._bounded:
            return
        mean, cov, n = before.moments(self.columns)
        found, spread, _ = after.moments(self.columns)
        a, shrunk = self.variance_share, 1 + self.variance_share if self.corrected else 1.0
        sd = np.sqrt(np.diag(cov))
        # What rounding by lot adds to the variance of a number, at most.
        lot = np.array([0.25 if self.keep_whole and is_whole(before.numbers(name)) else 0.0 for name in self.columns])
        hair = 1e-9 * (np.abs(mean) + sd)
        for j, name in enumerate(self.columns):
            allowed = SIGMAS * math.sqrt((a * sd[j] ** 2 / shrunk + lot[j]) / n) + hair[j]
            yield Kept(f"mean of {name}", abs(found[j] - mean[j]), allowed)
        for i, one in enumerate(self.columns):
            for j, other in enumerate(self.columns[: i + 1]):
                factor = (1 + a if self.correlated or i == j else 1.0) / shrunk
                both = (2 * math.sqrt(a) + math.sqrt(2) * a) * sd[i] * sd[j] / shrunk
                rounding = math.sqrt(lot[i]) * sd[j] + math.sqrt(lot[j]) * sd[i] + math.sqrt(lot[i] * lot[j])
                allowed = SIGMAS * (both + rounding * math.sqrt(1 + a)) / math.sqrt(n) + lot[i] * (i == j)
                what = f"variance of {one}" if i == j else f"covariance of {other} and {one}"
                if factor != 1:
                    what += f" times {factor:.4g}"
                yield Kept(
                    what, abs(spread[i, j] - factor * cov[i, j]), allowed + hair[i] * hair[j] + 1e-9 * sd[i] * sd[j]
                )

    def kept_by_record(self, before: Columns, after: Columns) -> Iterator[Kept]:
        """Numbers have moved by as much as noise of this variance moves them."""
        from tarnkappe.kernels.masks.noise import squares

        a, n_sigma = self.variance_share, SIGMAS
        # The covariance is that of the complete records, so gaps in other columns shift it a little.
        _, known, complete = before.moments(self.columns)
        gaps = 1 - complete / before.n
        for j, name in enumerate(self.columns):
            whole = self.keep_whole and is_whole(before.numbers(name))
            if self._bounded or whole:
                continue
            both = before.floats(name), after.floats(name)
            variance, n = float(known[j, j]), complete
            if gaps:
                _, cov, n = moments(both)
                variance = float(cov[0, 0])
            shrunk = math.sqrt(1 + a) if self.corrected else 1.0
            pull = abs(1 / shrunk - 1)
            expected = variance * (pull**2 + a / shrunk**2)
            spread = variance * (2 * pull / shrunk * math.sqrt(a) + math.sqrt(2) * a / shrunk**2) / math.sqrt(max(n, 1))
            x, z = addresses(both).tolist()
            moved = squares(x, z, 0, len(both[0])) / max(n, 1)
            off = abs(moved - expected)
            yield Kept(f"size of the noise in {name}", off, n_sigma * spread + (2 * gaps + HAIR) * expected)
