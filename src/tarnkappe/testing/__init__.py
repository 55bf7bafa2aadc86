"""Laws that every criterion, algorithm, form, engine and metric must obey, to be run on one's own classes.

A test of a new criterion or algorithm is one line::

    check_criterion(MyCriterion("disease", l=3))
    check_algorithm(MyAlgorithm(), Goal([KAnonymity(5), LDiversity("disease", 3)]))
    check_form(MyAlgorithm(), [LDiversity("disease", 3)])
    check_engine(MyEngine)
    check_metric(MyMetric())

All draw random tables from `seed` and raise an `AssertionError` that says which law is broken.
"""

from tarnkappe.testing.algorithms import check_algorithm, check_grouping
from tarnkappe.testing.criteria import check_criterion
from tarnkappe.testing.engines import check_engine
from tarnkappe.testing.forms import check_form
from tarnkappe.testing.metrics import check_metric

__all__ = ["check_algorithm", "check_criterion", "check_engine", "check_form", "check_grouping", "check_metric"]
