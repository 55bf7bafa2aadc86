"""Train on the release, test on the original: whether a model can still predict a target."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from tarnkappe.errors import JobError
from tarnkappe.usefulness.analyses import design
from tarnkappe.usefulness.distributions import Binned
from tarnkappe.usefulness.reading import Pair

#: How many trees vote.
_TREES = 50


@dataclass(frozen=True)
class Learning:
    """The share of original records whose target is predicted right.

    `release` by a model that was trained on the release, `original` by one that was trained on other records of the
    original, and `guess` by always saying the commonest class.
    """

    target: str
    release: float
    original: float
    guess: float

    @property
    def kept(self) -> float:
        """Which part of what can be learnt beyond a guess is still learnt from the release."""
        gained = self.original - self.guess
        return (self.release - self.guess) / gained if gained > 0 else 1.0

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        return {**asdict(self), "kept": self.kept}


def learning(pair: Pair, target: str, rng: np.random.Generator) -> Learning:
    """Train a forest of trees on the release and test it on the original; compare with one trained on the original.

    The original is divided in two at random: the model of the original learns from one half and is tested on the
    other, on which the model of the release is tested too.
    """
    try:
        from sklearn.ensemble import RandomForestClassifier
    except ImportError:
        raise JobError(
            "E119",
            "a model can only be trained with scikit-learn, which is not installed",
            hint="pip install 'tarnkappe[learn]'",
        ) from None
    if target not in pair.others:
        raise JobError(
            "E105",
            f"the target '{target}' is no column that both tables publish beside the quasi-identifiers",
            hint=f"Columns: {', '.join(pair.others) or 'none'}.",
        )
    both = design(pair, tuple(name for name in (*pair.quasi, *pair.others) if name != target))
    classes = Binned(pair, target)
    before, shown = classes.of_cells, pair.others[target]
    after = np.where(shown >= 0, classes.bin_of[np.maximum(shown, 0)], -1)
    known = after >= 0
    count, seed = pair.tally.count, int(rng.integers(1 << 31))
    trained = rng.binomial(count, 0.5).astype(np.float64)
    tested = count - trained
    out = []
    for x, y, w in (
        (both.release[known], after[known], both.weights[1][known]),
        (both.original[trained > 0], before[trained > 0], trained[trained > 0]),
    ):
        forest = RandomForestClassifier(n_estimators=_TREES, min_samples_leaf=3, random_state=seed, n_jobs=1)
        forest.fit(x, y, sample_weight=w)
        out.append(float(np.average(forest.predict(both.original) == before, weights=np.maximum(tested, 1e-300))))
    guess = float(np.bincount(before, tested).max() / max(tested.sum(), 1.0))
    return Learning(target, out[0], out[1], guess)
