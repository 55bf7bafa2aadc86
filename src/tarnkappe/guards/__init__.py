"""Guard rails: what is refused, and what is said aloud, before and after a decision."""

from tarnkappe.guards.identifiers import notices_about_reasons, refuse_identifiers, require_decided
from tarnkappe.guards.outcome import (
    notices_about_formulas,
    notices_about_kept,
    notices_about_plan,
    notices_about_release,
    require_everybody,
)
from tarnkappe.guards.people import notices_about_people, require_people_counted

__all__ = [
    "notices_about_formulas",
    "notices_about_kept",
    "notices_about_people",
    "notices_about_plan",
    "notices_about_reasons",
    "notices_about_release",
    "refuse_identifiers",
    "require_decided",
    "require_everybody",
    "require_people_counted",
]
