r"""How small a group may be after random sampling: the exact delta of (k, beta)-SDGS.

Every record is kept with probability :math:`\beta`, generalised in a way that was fixed without the data, and published
if at least :math:`k` kept records look the same. Adding one record to :math:`n - 1` others that look like it changes
the number :math:`j \ge k` of published copies from a binomial of :math:`n - 1` to one of :math:`n` trials. The two
probabilities of :math:`j` differ by a factor of at most :math:`e^\varepsilon` as long as

.. math:: j \le \gamma n, \qquad \gamma = 1 - (1 - \beta) e^{-\varepsilon}, \qquad \beta \le 1 - e^{-\varepsilon},

so what may go wrong is :math:`j > \gamma n`, and

.. math:: \delta = \max_{n \ge \lceil k / \gamma - 1 \rceil} P[\mathrm{Bin}(n, \beta) > \gamma n]
                 = \max_{m \ge k} P[\mathrm{Bin}(\lceil m / \gamma \rceil - 1,\ \beta) \ge m].

The second form takes, for every threshold :math:`m`, the largest :math:`n` that has it, where the tail is largest.

All arithmetic is in decimals of 60 digits and rounded upwards, so what comes out is never below the true value, and
above it by less than one part in :math:`10^{40}`.
"""

from __future__ import annotations

import math
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from functools import lru_cache

from tarnkappe.errors import JobError
from tarnkappe.fixes import assignment, say

_DIGITS = 60
_UP = Context(_DIGITS, ROUND_CEILING, MIN_EMIN, MAX_EMAX)
_DOWN = Context(_DIGITS, ROUND_FLOOR, MIN_EMIN, MAX_EMAX)
_ONE = Decimal(1)
_NEGLIGIBLE = Decimal("1e-45")


def largest_beta(epsilon: float) -> float:
    """The largest share of records that may be sampled: ``1 - exp(-epsilon)``, rounded down.

    >>> largest_beta(1.0)
    0.6321205588285576
    """
    beta = float(_DOWN.subtract(_ONE, _exp_of_minus(epsilon)))
    return math.nextafter(beta, 0.0)  # the conversion to binary may have rounded up


@lru_cache(maxsize=1024)
def sdgs_delta(epsilon: float, beta: float | None, k: int) -> float:
    """The delta of sampling with `beta` (None: the largest allowed) and a smallest group of `k`, rounded up.

    O(terms · thresholds) operations on decimals: some milliseconds.

    >>> sdgs_delta(1.0, None, 74) <= 1e-6 < sdgs_delta(1.0, None, 73)
    True
    """
    tails = _Tails(epsilon, beta)
    worst, m = tails.at(k), tails.next_run(k)
    while worst < tails.bound(m):
        worst, m = max(worst, tails.at(m)), tails.next_run(m)
    return min(math.nextafter(float(worst), 2.0), 1.0)


@lru_cache(maxsize=1024)
def smallest_k(epsilon: float, delta: float, beta: float | None = None) -> int:
    """The smallest group for (epsilon, delta)-differential privacy when records are sampled with `beta`.

    ARX gives one more: it increases k once after the test that succeeds.

    >>> smallest_k(1.0, 1e-6), smallest_k(1.0, 1e-6, 0.05)
    (74, 7)
    """
    tails = _Tails(epsilon, beta)
    allowed = Decimal(delta)
    # From here on the Chernoff bound says that all tails are small enough; below, the last that is not is looked for.
    enough = _UP.divide(_UP.ln(_UP.divide(_ONE, allowed)).next_plus(_UP), tails.divergence)
    m = tails.run(tails.threshold(math.ceil(enough)))
    while tails.at(m) <= allowed:
        if m == 1:
            return 1
        m = tails.run(m - 1)
    too_few, sufficient = m, tails.next_run(m)
    while sufficient - too_few > 1:  # inside a run tails decrease
        middle = (too_few + sufficient) // 2
        if tails.at(middle) > allowed:
            too_few = middle
        else:
            sufficient = middle
    return sufficient


def _exp_of_minus(epsilon: float) -> Decimal:
    """``exp(-epsilon)``, rounded up; the library rounds to the nearest decimal."""
    return _UP.exp(Decimal(-epsilon)).next_plus(_UP)


class _Tails:
    """The binomial tails for all thresholds ``m``: the tail of ``ceil(m / gamma) - 1`` trials from ``m`` on.

    Thresholds with the same *surplus* of trials over the threshold form a *run*. In a run tails decrease: they are the
    chance of at most so many failures among more and more trials.
    """

    def __init__(self, epsilon: float, beta: float | None) -> None:
        beta = largest_beta(epsilon) if beta is None else beta
        self.hit = Decimal(beta)
        self.miss = _UP.subtract(_ONE, self.hit), _DOWN.subtract(_ONE, self.hit)
        kept_back = _exp_of_minus(epsilon)
        if not 0 < beta < 1 or self.miss[1] < kept_back:
            raise JobError(
                "E110",
                f"'beta' must be above 0 and at most 1 - exp(-epsilon), got {beta!r}",
                hint=say("{}   or leave it out.", assignment("beta", largest_beta(epsilon))),
            )
        # Rounded down, gamma gives more trials for each threshold, and so larger tails.
        self.gamma = _DOWN.subtract(_ONE, _UP.multiply(self.miss[0], kept_back))
        self.divergence = self._divergence()
        self._numerator, self._denominator = self.gamma.as_integer_ratio()

    def _divergence(self) -> Decimal:
        """The relative entropy of gamma and beta, rounded down: a tail of n trials is at most ``exp(-n · entropy)``."""
        more = _DOWN.ln(_DOWN.divide(self.gamma, self.hit)).next_minus(_DOWN)
        rest = _UP.subtract(_ONE, self.gamma)
        less = _DOWN.ln(_DOWN.divide(_DOWN.subtract(_ONE, self.gamma), self.miss[0])).next_minus(_DOWN)
        return _DOWN.add(_DOWN.multiply(self.gamma, more), _DOWN.multiply(rest, less))

    def trials(self, m: int) -> int:
        """The most trials for which more than ``gamma · trials`` means at least m: ``ceil(m / gamma) - 1``."""
        return -(-m * self._denominator // self._numerator) - 1

    def threshold(self, n: int) -> int:
        """The smallest whole number above ``gamma · n``."""
        return n * self._numerator // self._denominator + 1

    def run(self, m: int) -> int:
        """The first threshold of the run that m belongs to."""
        return self._with_surplus(self.trials(m) - m)

    def next_run(self, m: int) -> int:
        """The first threshold of the run after that."""
        return self._with_surplus(self.trials(m) - m + 1)

    def _with_surplus(self, surplus: int) -> int:
        """The smallest threshold with at least this surplus of trials."""
        return surplus * self._numerator // (self._denominator - self._numerator) + 1

    def bound(self, m: int) -> Decimal:
        """Chernoff's bound of this tail and of all later ones, rounded up."""
        return _UP.exp(-_DOWN.multiply(Decimal(self.trials(m)), self.divergence)).next_plus(_UP)

    def at(self, m: int) -> Decimal:
        """The chance of at least m hits, rounded up."""
        n = self.trials(m)
        chance = _UP.multiply(_power(self.hit, m), _power(self.miss[0], n - m))
        term = total = _UP.multiply(_UP.create_decimal(math.comb(n, m)), chance)
        for j in range(m, n):
            # The next term is smaller by a factor that decreases, so what follows is less than a geometric series.
            factor = _UP.divide(_UP.multiply(Decimal(n - j), self.hit), _DOWN.multiply(Decimal(j + 1), self.miss[1]))
            term = _UP.multiply(term, factor)
            total = _UP.add(total, term)
            rest = _UP.divide(_UP.multiply(term, factor), _DOWN.subtract(_ONE, factor))
            if rest <= _UP.multiply(total, _NEGLIGIBLE):
                return _UP.add(total, rest)
        return total


def _power(base: Decimal, exponent: int) -> Decimal:
    """A power of a positive number, rounded up."""
    result, square = _ONE, base
    while exponent:
        if exponent & 1:
            result = _UP.multiply(result, square)
        square = _UP.multiply(square, square)
        exponent >>= 1
    return result
