"""Free text."""

from __future__ import annotations

from typing import ClassVar

from tarnkappe.looks.base import Detector, Finding, Sight
from tarnkappe.looks.words import says

_NAMES = (
    *("note", "notes", "comment", "comments", "remark", "remarks", "narrative", "free text", "freetext", "anamnese"),
    *("bemerkung", "bemerkungen", "kommentar", "anmerkung", "freitext", "notiz", "notizen", "commentaire"),
)


class FreeText(Detector):
    """What people typed: they write names into it.

    Labels can be long too, but a label stands in many rows; what somebody typed mostly stands in one.
    """

    name: ClassVar = "free-text"
    title: ClassVar = "free text"
    evidence: ClassVar = (
        "on average four words or forty characters, and a tenth of the values different (a hundred characters: always);"
        " or the name, with two words on average"
    )
    tells: ClassVar = "which"

    def share(self, sight: Sight) -> float:
        """1 for free text, 0 for anything else."""
        if sight.numbers is not None or sight.texts.is_empty() or sight.rows.dtype.is_temporal():
            return 0.0
        length = float(sight.texts.str.len_chars().mean() or 0.0)  # type: ignore[arg-type]
        words = float(sight.texts.str.count_matches(r"[^\W\d_]{2,}").mean() or 0.0)  # type: ignore[arg-type]
        typed = sight.differs > 0.1 and (words >= 4 or (length > 40 and words >= 3))
        named = says(sight.words, _NAMES) and words >= 2 and sight.distinct > 1
        return float(typed or named or (length > 100 and words >= 10))

    def find(self, sight: Sight) -> Finding | None:
        """Two texts are enough to see it."""
        if not self.share(sight):
            return None
        return Finding(self.name, self.tells, True, "it is free text; people write names into it")
