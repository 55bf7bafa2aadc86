"""Questions to a release: a small language, and estimates with the bounds that the published tables imply."""

from __future__ import annotations

from tarnkappe.query.answers import Answer, Estimate
from tarnkappe.query.asking import Asked
from tarnkappe.query.language import Question, parse
from tarnkappe.query.opening import open_release

__all__ = ["Answer", "Asked", "Estimate", "Question", "open_release", "parse"]
