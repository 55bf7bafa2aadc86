"""Laws that every criterion and every algorithm must obey, to be run on one's own classes.

A test of a new criterion or algorithm is one line::

    check_criterion(MyCriterion("disease", l=3))
    check_algorithm(MyAlgorithm(), Goal([KAnonymity(5), LDiversity("disease", 3)]))

Both draw random tables from `seed` and raise an `AssertionError` that says which law is broken.
"""

from tarnkappe.testing.algorithms import check_algorithm, check_grouping
from tarnkappe.testing.criteria import check_criterion

__all__ = ["check_algorithm", "check_criterion", "check_grouping"]
