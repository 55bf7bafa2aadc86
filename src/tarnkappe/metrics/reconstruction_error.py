"""Error of putting torn tables together again."""

from __future__ import annotations

from typing import ClassVar

from tarnkappe.kernels.histograms import squares_in_runs
from tarnkappe.metrics.base import Metric
from tarnkappe.plan import AnyPlan, DealtPlan
from tarnkappe.publish.buckets import Buckets
from tarnkappe.threads import map_threads
from tarnkappe.wording import count


class ReconstructionError(Metric):
    r"""How far what a reader takes to be likely about people is from what is true of them, squared and added up.

    .. math:: \mathrm{RCE} = \sum_G \sum_{t \in G} \sum_v (p_t(v) - p_G(v))^2
              = \sum_G \Bigl( |G| - \sum_v c_G(v)^2 / |G| \Bigr)

    with the share :math:`p_G(v)` of a sensitive value in a group, its count :math:`c_G(v)`, and :math:`p_t(v) = 1` for
    the value of person t, 0 for all others. Groups of l records or more in which no value occurs twice cannot have less
    than :math:`n (1 - 1/l)`; Anatomize is within 1 + 1/n of that. It follows from the table of the sensitive values.

    References
    ----------
    .. [XiTa06] Xiao, Tao. "Anatomy: simple and effective privacy preservation." VLDB 2006.
    """

    name: ClassVar = "reconstruction-error"
    title: ClassVar = "Reconstruction error (RCE)"
    goal: ClassVar = "minimise"
    sentence: ClassVar = "Whoever puts the tables together again by chance makes an error of {value:.10g} (RCE)."
    follows_from_release: ClassVar = True
    reads: ClassVar = (Buckets,)

    def score(self, plan: DealtPlan) -> float:
        """Summed over all groups."""
        deal = plan.deal
        combination, cells = plan.combinations([d.name for d in plan.tally.sensitive_domains if not d.aside])

        def lost(run: tuple[int, int]) -> float:
            size = deal.size[slice(*run)]
            squares = squares_in_runs(combination, deal.cell, deal.starts, *run, len(cells))
            return int(size.sum()) - float((squares / size).sum())

        return sum(map_threads(lost, deal.chunks()))

    def say(self, value: float, plan: AnyPlan | None = None) -> str:
        """Also the least error that is possible, where that can be said."""
        least = None if plan is None else self.least(plan)
        told = super().say(value)
        if plan is None or least is None:
            return told
        l = max(c.enough_different or 0 for c in plan.goal.criteria)  # noqa: E741
        return (
            f"{told} Groups of {count(l)} or more in which no value occurs twice have at least {least:.10g}, "
            f"which is n · (1 − 1/l). This is {value / least:.6g} times as much."
        )

    @staticmethod
    def least(plan: AnyPlan) -> float | None:
        """The least error of groups in which no value occurs twice; None if different values do not decide the goal."""
        needed = [c.enough_different for c in plan.goal.criteria]
        if None in needed or max(n or 0 for n in needed) < 2:
            return None
        return plan.n_published * (1 - 1 / max(n or 0 for n in needed))
