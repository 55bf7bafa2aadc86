"""Data to try things on: a synthetic census, resampled tables, and readers for well-known files."""

from tarnkappe.datasets.census import census, census_batches, write_census
from tarnkappe.datasets.census_values import (
    CENSUS_COLUMNS,
    CENSUS_ROLE_REASONS,
    CENSUS_ROLES,
    census_taxonomies,
    census_taxonomy_trees,
)
from tarnkappe.datasets.loaders import load_adult, load_casc, load_cloud, load_points
from tarnkappe.datasets.marginals import resample, resample_batches
from tarnkappe.datasets.simulated import sim_c, sim_u

__all__ = [
    "CENSUS_COLUMNS",
    "CENSUS_ROLES",
    "CENSUS_ROLE_REASONS",
    "census",
    "census_batches",
    "census_taxonomies",
    "census_taxonomy_trees",
    "load_adult",
    "load_casc",
    "load_cloud",
    "load_points",
    "resample",
    "resample_batches",
    "sim_c",
    "sim_u",
    "write_census",
]
