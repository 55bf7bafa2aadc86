"""Made-up people: drawn from trees, a copula, noisy tables or by chance, instead of the people in the data."""

from tarnkappe.synthetic.audit import audit_synthetic
from tarnkappe.synthetic.budget import Budget
from tarnkappe.synthetic.release import SyntheticRelease, run_synthetic, synthesize, synthesize_in_memory

__all__ = [
    "Budget",
    "SyntheticRelease",
    "audit_synthetic",
    "run_synthetic",
    "synthesize",
    "synthesize_in_memory",
]
