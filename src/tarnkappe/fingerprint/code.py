"""The code: which symbol each recipient has at each position, and who is behind symbols that were read."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Floats
from tarnkappe.fingerprint.keys import DatasetKey, stream

#: How near to 0 and 1 the bias of a position may come.
CUT_OFF = 0.01

#: Numbers of a key stream are below this.
_RANGE = float(1 << 32)

#: Positions with so many votes tell how many votes are wrong.
_ENOUGH_VOTES = 5

#: Exponents that the bound on the tail is minimised over; any would be valid.
_EXPONENTS = np.geomspace(1e-3, 60.0, 160)


@dataclass(frozen=True, eq=False)
class TardosCode:
    r"""One bit per position and recipient: 1 with the position's bias, drawn by key.

    .. math:: p_b = \sin^2 \varphi_b, \quad x_{u,b} = [\mathrm{PRF}(u, b) < p_b]

    with the angle uniform between the cut-offs (arcsine law). Nothing is stored: whoever has the key computes the bits
    of a recipient again. Colluders who see different bits cannot keep them from pointing at one of them, whatever they
    publish there.

    References
    ----------
    .. [Tard08] Tardos. "Optimal probabilistic fingerprint codes." Journal of the ACM 55(2), 2008.
    .. [SKC08] Škorić, Katzenbeisser, Celik. "Symmetric Tardos fingerprinting codes for arbitrary alphabet sizes." 2008.
    """

    key: DatasetKey
    n_positions: int

    def biases(self) -> Floats:
        """The chance of a 1 at every position."""
        angle = stream(self.key.purpose("bias"), self.n_positions) / _RANGE
        least = math.asin(math.sqrt(CUT_OFF))
        bias = np.sin(least + angle * (math.pi / 2 - 2 * least)) ** 2
        rounded: Floats = np.floor(bias * _RANGE) / _RANGE  # exactly the chance that a number is below it
        return rounded

    def bits(self, recipient: str) -> NDArray[np.bool_]:
        """The bits of a recipient."""
        drawn = stream(self.key.purpose("bits", recipient), self.n_positions)
        below: NDArray[np.bool_] = drawn < self.biases() * _RANGE
        return below


def weights_of(symbol: Floats, both: NDArray[np.bool_], bias: Floats, colluders: int) -> Floats:
    r"""What a 1 of a suspect counts more than a 0 at every position: a log-likelihood ratio.

    `symbol` is what was read: from -1 (a clear 0) to 1 (a clear 1), 0 where nothing was; `both` marks positions where
    both symbols were seen. For c colluders who publish the symbol of any of them,

    .. math:: a_1 = \ln\frac{1/c + (1 - 1/c)\,p}{(1 - 1/c)\,p}

    for a 1, the mirror image for a 0, and for both symbols the ratio given that colluders differ. Whatever the weights,
    p-values are valid: an innocent's bits do not depend on what was read.
    """
    c = max(colluders, 2)
    share, p, q = 1.0 / c, bias, 1.0 - bias
    for_one = np.log((share + (1 - share) * p) / ((1 - share) * p))
    for_zero = np.log((share + (1 - share) * q) / ((1 - share) * q))
    differ = np.log((1 - p ** (c - 1)) / (1 - q ** (c - 1)))
    plain = np.where(symbol > 0, symbol * for_one, symbol * for_zero)
    return np.where(both, differ, plain)


def weights_of_votes(zero: Floats, one: Floats, certainty: Floats, bias: Floats, share: float) -> Floats:
    r"""The same where rows disagree because somebody altered them: every row is a vote that may be wrong.

    With a share :math:`\varepsilon` of wrong votes, estimated from the leak, votes for 1 and 0 give the odds of the
    symbol behind them, :math:`\frac{p}{q} (\frac{1-\varepsilon}{\varepsilon})^{n_1 - n_0}`, less where it is uncertain
    to which block rows belong. A suspect has that symbol with probability `share`, and any otherwise.
    """
    total = zero + one
    enough = total >= _ENOUGH_VOTES
    rarer = np.minimum(zero, one)[enough].sum() / max(float(total[enough].sum()), 1.0)
    wrong = min(max(float(rarer), 0.02), 0.45)
    p, q = bias, 1.0 - bias
    odds = np.log(p / q) + np.clip((one - zero) * np.log((1 - wrong) / wrong), -30.0, 30.0) * certainty
    is_one = 1.0 / (1.0 + np.exp(-odds))
    has_one = share * is_one + (1 - share) * p
    weight: Floats = np.log(has_one / p) - np.log((1 - has_one) / q)
    return np.where(total > 0, weight, 0.0)


def tail(weight: Floats, bias: Floats, scores: Floats) -> Floats:
    r"""Upper bounds on the chance that an innocent reaches a score, given what was read (Chernoff).

    .. math:: P(S \ge s) \le \min_\theta \exp\Bigl(\sum_b \ln E\,e^{\theta a_b (x_b - p_b)} - \theta s\Bigr)

    >>> p = tail(np.ones(40), np.full(40, 0.5), np.array([0.0, 20.0]))
    >>> float(p[0]), bool(9e-13 < p[1] < 1e-11)
    (1.0, True)
    """
    used = weight != 0
    if not used.any():
        return np.ones(len(scores))
    a, p = weight[used], bias[used]
    theta = _EXPONENTS / np.abs(a).max()
    grow = np.logaddexp(np.log(p) + np.outer(theta, a * (1 - p)), np.log1p(-p) - np.outer(theta, a * p))
    exponent = (grow.sum(axis=1)[:, None] - np.outer(theta, scores)).min(axis=0)
    bound: Floats = np.exp(np.minimum(exponent, 0.0))
    return bound
