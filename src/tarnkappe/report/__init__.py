"""The report: one self-contained HTML page per release, and a compact fragment for notebooks.

Nothing is computed here. A `Release` goes in, text comes out: no script, no external reference, every word that comes
from data or job escaped.
"""

from __future__ import annotations

from tarnkappe.report.bundle import render_bundle, render_bundle_fragment
from tarnkappe.report.fragment import render_fragment
from tarnkappe.report.page import render_report

__all__ = ["render_bundle", "render_bundle_fragment", "render_fragment", "render_report"]
