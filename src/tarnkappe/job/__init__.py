"""Jobs: what a data steward asks for, and the files that say so."""

from tarnkappe.job.model import DataSettings, Job, Numeric, OutputSettings, Population, numeric

__all__ = ["DataSettings", "Job", "Numeric", "OutputSettings", "Population", "numeric"]
