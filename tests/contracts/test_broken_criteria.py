"""Criteria that break a law on purpose: the checks must notice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from tarnkappe.criteria.base import Criterion, SensitiveCriterion
from tarnkappe.criteria.entropy_l_diversity import EntropyLDiversity
from tarnkappe.criteria.frequency_l_diversity import FrequencyLDiversity
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.criteria.l_diversity import LDiversity
from tarnkappe.criteria.t_closeness import TCloseness
from tarnkappe.groups import GroupStats
from tarnkappe.params import param
from tarnkappe.testing import check_criterion


@dataclass(frozen=True)
class AllDifferent(SensitiveCriterion):
    """No value stands twice in a group (m-uniqueness): honest about not being monotone."""

    name: ClassVar = "all-different"
    title: ClassVar = "all different"
    sense: ClassVar = "at most"
    monotone: ClassVar = False
    absorbing: ClassVar = False

    @property
    def threshold(self) -> float:
        return 1.0

    def level(self, stats: GroupStats) -> np.ndarray:
        h = stats.histograms[self.column]
        return np.maximum.reduceat(h.counts, h.indptr[:-1]).astype(np.float64)


class LiesAboutMonotone(AllDifferent):
    monotone = True


class LiesAboutAbsorbing(FrequencyLDiversity):
    absorbing = True


class EntropyLiesAboutAbsorbing(EntropyLDiversity):
    absorbing = True


class ClosenessLiesAboutAbsorbing(TCloseness):
    absorbing = True


class AbsorbingButNotMonotone(KAnonymity):
    monotone = False


@dataclass(frozen=True)
class WindowOfSizes(Criterion):
    """Not too small and not too large: breaks when groups are pooled."""

    name: ClassVar = "window"
    title: ClassVar = "window"
    sense: ClassVar = "at most"
    monotone: ClassVar = True
    absorbing: ClassVar = False
    k: int = param(doc="Largest distance of the size from 100.", ge=1)

    @property
    def threshold(self) -> float:
        return float(self.k)

    def level(self, stats: GroupStats) -> np.ndarray:
        return np.abs(stats.size - 100.0)


class DependsOnCellOrder(LDiversity):
    """Reads the number of a joint value, which means nothing, as if it were a quantity."""

    def level(self, stats: GroupStats) -> np.ndarray:
        if stats.joint is None:
            return super().level(stats)
        return super().level(stats) + stats.joint.codes[stats.joint.indptr[:-1]] / 1000


class DependsOnGroupOrder(KAnonymity):
    def level(self, stats: GroupStats) -> np.ndarray:
        return stats.size + np.arange(stats.n_groups) / 1000


class DependsOnOtherGroups(KAnonymity):
    def level(self, stats: GroupStats) -> np.ndarray:
        return stats.size * 3000.0 / stats.n_groups


class NeverTheSame(KAnonymity):
    def level(self, stats: GroupStats) -> np.ndarray:
        return stats.size + np.random.default_rng().random(stats.n_groups)


class ChangesItsInput(KAnonymity):
    def level(self, stats: GroupStats) -> np.ndarray:
        stats.size[0] += 1
        stats.size.sort()
        return np.full(stats.n_groups, 5.0)


class OneNumberForAll(KAnonymity):
    def level(self, stats: GroupStats) -> np.ndarray:
        return np.array([float(stats.size.min())])


class NotANumber(KAnonymity):
    def level(self, stats: GroupStats) -> np.ndarray:
        return np.where(stats.size == 1, np.nan, stats.size)


class MinSizeTooLarge(LDiversity):
    @property
    def min_size(self) -> int:
        return self.l + 1


class MinSizeZero(KAnonymity):
    @property
    def min_size(self) -> int:
        return 0


class LiesAboutSize(LDiversity):
    decided_by_size = True


class ContradictsItsLevel(KAnonymity):
    def holds(self, stats: GroupStats) -> np.ndarray:
        return stats.size >= self.k - 1


class ForgetsWhatOthersKnow(LDiversity):
    def satisfied(self, stats: GroupStats) -> np.ndarray:
        return self.holds(stats)


BROKEN = [
    (LiesAboutMonotone("disease"), "declared monotone"),
    (WindowOfSizes(60), "declared monotone"),
    (LiesAboutAbsorbing("disease", 3), "declared absorbing"),
    (EntropyLiesAboutAbsorbing("disease", 3), "declared absorbing"),
    (ClosenessLiesAboutAbsorbing("disease", 0.2), "declared absorbing"),
    (AbsorbingButNotMonotone(5), "absorbing but not monotone"),
    (DependsOnCellOrder("disease", 3), "order of the cells"),
    (DependsOnGroupOrder(5), "order of the groups"),
    (DependsOnOtherGroups(5), "other groups"),
    (LiesAboutSize("disease", 3), "decided by size"),
    (NeverTheSame(5), "asked twice"),
    (ChangesItsInput(5), "changes the statistics|asked twice"),
    (OneNumberForAll(5), "one number per group"),
    (NotANumber(5), "not a number"),
    (MinSizeTooLarge("disease", 3), "min_size"),
    (MinSizeZero(5), "min_size"),
    (ContradictsItsLevel(5), "contradicts its level"),
    (ForgetsWhatOthersKnow("disease", 3, know_others=True), "contradicts its level"),
]


@pytest.mark.parametrize(("criterion", "sentence"), BROKEN, ids=[type(c).__name__ for c, _ in BROKEN])
def test_is_caught(criterion: Criterion, sentence: str):
    with pytest.raises(AssertionError, match=sentence):
        check_criterion(criterion)


def test_what_is_declared_false_is_not_asserted():
    check_criterion(AllDifferent("disease"))


def test_a_check_that_checks_nothing_is_refused():
    with pytest.raises(AssertionError, match="nothing can be checked"):
        check_criterion(LDiversity("disease", 500))
