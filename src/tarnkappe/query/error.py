"""The query error of a release or of a plan."""

from __future__ import annotations

import numpy as np

from tarnkappe.errors import RefusedError
from tarnkappe.metrics.query_error import QueryError, Workload, measure
from tarnkappe.plan import AnyPlan
from tarnkappe.release import Release


def query_error(
    release: Release | AnyPlan,
    *,
    rng: np.random.Generator,
    queries: int = 1_000,
    predicates: int = 2,
    selectivity: float = 0.05,
    sanity: float = 0.001,
    column: str | None = None,
) -> QueryError:
    r"""How far off are counts that readers estimate from a release, on random queries; see ``median`` and ``mean``.

    .. math:: \text{error} = \frac{|\mathrm{estimate} - \mathrm{count}|}{\max(\mathrm{count}, \mathrm{sanity} \cdot n)}

    A query asks for values of so many random quasi-identifiers (`predicates`) and of the sensitive `column`, in each of
    these d columns for ``ceil(|A| * selectivity^(1/d))`` of its |A| values. The count is that of the original records,
    so the figure is for the publisher only: it says more about them than the release does.

    References
    ----------
    .. [XiTa06] Xiao, Tao. "Anatomy: simple and effective privacy preservation." VLDB 2006. (section 6)
    """
    workload = Workload(queries, predicates, selectivity, sanity)
    if not isinstance(release, Release):
        return measure(release, workload, rng, column)
    if release.draft is None:
        raise RefusedError(
            "E601",
            "the release was written to a folder, and its original is not at hand to compare it with",
            where=str(release.folder),
            hint="query_error(job.anonymize(data), rng=rng)",
        )
    return measure(release.draft.run.plan_here, workload, rng, column)
