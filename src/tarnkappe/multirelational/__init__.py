"""People spread over several tables: a person table, and satellites with any number of rows per person."""

from tarnkappe.multirelational.anonymize import (
    anonymize_multirelational,
    decide_multirelational,
    run_multirelational,
)
from tarnkappe.multirelational.model import MultiJob, MultiRelease, Relation
from tarnkappe.multirelational.published import audit_joined
from tarnkappe.multirelational.verify import verify_multirelational

__all__ = [
    "MultiJob",
    "MultiRelease",
    "Relation",
    "anonymize_multirelational",
    "audit_joined",
    "decide_multirelational",
    "run_multirelational",
    "verify_multirelational",
]
