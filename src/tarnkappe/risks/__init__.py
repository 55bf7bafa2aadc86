"""How likely people are found in a table: every usual measure of re-identification risk."""

from tarnkappe.risks.assess import Risk, risk
from tarnkappe.risks.grid import UniqueGrid
from tarnkappe.risks.intervals import IntervalDisclosure, interval_disclosure
from tarnkappe.risks.quasi import QuasiAnalysis
from tarnkappe.risks.special import SpecialUniques
from tarnkappe.risks.uniqueness import PopulationUniqueness, population_uniqueness

__all__ = [
    "IntervalDisclosure",
    "PopulationUniqueness",
    "QuasiAnalysis",
    "Risk",
    "SpecialUniques",
    "UniqueGrid",
    "interval_disclosure",
    "population_uniqueness",
    "risk",
]
