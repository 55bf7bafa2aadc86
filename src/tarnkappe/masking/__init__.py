"""Releases whose values are changed and not grouped."""

from tarnkappe.masking.flow import MaskedRelease, mask, run_masking

__all__ = ["MaskedRelease", "mask", "run_masking"]
