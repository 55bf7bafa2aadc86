"""Query error of a pair of tables: how far off readers' counts are."""

from __future__ import annotations

import numpy as np

from tarnkappe.arrays import Floats
from tarnkappe.metrics.query_error import QueryError, Workload, random_query
from tarnkappe.usefulness.labels import matching_groups
from tarnkappe.usefulness.reading import Pair


def pair_query_error(pair: Pair, workload: Workload, rng: np.random.Generator, column: str | None) -> QueryError:
    """The relative errors of random COUNT queries on quasi-identifiers and, if given, one column beside them.

    Values are taken to be spread evenly over their labels, as in `tarnkappe.metrics.query_error`.
    """
    tally = pair.tally
    secret = None if column is None else pair.other_domain(column)
    histogram = None if column is None else pair.histogram(column).astype(np.float64)
    actual, estimated = np.empty(workload.queries), np.empty(workload.queries)
    for i in range(workload.queries):
        query = random_query(tally, secret, workload, rng)
        match = np.ones(tally.n_cells, np.bool_)
        share: Floats = pair.sizes.astype(np.float64)
        if column is not None and histogram is not None:
            share = histogram @ query[column]
        for name, wanted in query.items():
            match &= wanted[pair.original_codes(name)]
            if name != column:
                share = share * matching_groups(pair.labels[pair.quasi.index(name)], wanted)
        actual[i], estimated[i] = float(tally.count[match].sum()), float(share.sum())
    return QueryError(workload, actual, estimated, tally.n_records)
