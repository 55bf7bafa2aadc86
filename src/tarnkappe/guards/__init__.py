"""Guard rails: what is refused, and what is said aloud, before and after a decision."""

from tarnkappe.guards.admission import admitted
from tarnkappe.guards.identifiers import notices_about_reasons, refuse_identifiers, refuse_unmasked
from tarnkappe.guards.notices import foreseen, said_aloud
from tarnkappe.guards.outcome import require_everybody

__all__ = [
    "admitted",
    "foreseen",
    "notices_about_reasons",
    "refuse_identifiers",
    "refuse_unmasked",
    "require_everybody",
    "said_aloud",
]
