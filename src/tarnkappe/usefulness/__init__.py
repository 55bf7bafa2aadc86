"""What a release is worth: its figures beside the original, for tables of any origin."""

from tarnkappe.usefulness.assess import Utility, utility
from tarnkappe.usefulness.distributions import Association, ColumnDifference
from tarnkappe.usefulness.losses import Figure
from tarnkappe.usefulness.populations import PopulationLoss
from tarnkappe.usefulness.reading import Pair, open_pair

__all__ = ["Association", "ColumnDifference", "Figure", "Pair", "PopulationLoss", "Utility", "open_pair", "utility"]
