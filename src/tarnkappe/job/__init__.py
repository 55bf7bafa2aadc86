"""Jobs: what a data steward asks for, and the files that say so."""

from tarnkappe.job.model import Job, Numeric, numeric
from tarnkappe.job.places import DataSettings, OutputSettings, Population

__all__ = ["DataSettings", "Job", "Numeric", "OutputSettings", "Population", "numeric"]
