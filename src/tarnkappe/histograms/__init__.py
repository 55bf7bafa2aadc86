"""Noisy counts: tables whose cells the job fixes, published with differential privacy."""

from __future__ import annotations

from tarnkappe.histograms.audit import audit_histogram
from tarnkappe.histograms.release import HistogramRelease, noisy_counts, run_histogram

__all__ = ["HistogramRelease", "audit_histogram", "noisy_counts", "run_histogram"]
