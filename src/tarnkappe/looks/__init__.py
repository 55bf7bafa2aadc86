"""Looks at columns: what one is made of, whom it may point at, and what its name says. Values are never repeated."""

from tarnkappe.looks.base import Detector, Finding, Sight
from tarnkappe.looks.column import SAMPLE, all_detectors, findings

__all__ = ["SAMPLE", "Detector", "Finding", "Sight", "all_detectors", "findings"]
