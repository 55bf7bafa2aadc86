"""Biometric identifiers."""

from __future__ import annotations

from typing import ClassVar

from tarnkappe.looks.base import Detector, Sight


class Biometrics(Detector):
    """Fingerprints, voices, irises, genomes: only the name of a column gives them away."""

    name: ClassVar = "biometrics"
    title: ClassVar = "biometric identifiers"
    evidence: ClassVar = "the name"
    hipaa: ClassVar = (16,)
    phrases: ClassVar = (
        *("fingerprint", "finger print", "voiceprint", "voice print", "iris scan", "iris code", "retina scan"),
        *("face embedding", "face encoding", "faceprint", "palm print", "gait", "dna sequence", "genome", "genotype"),
        *("fingerabdruck", "stimmabdruck", "gesichtsmerkmale", "biometric", "biometrics", "biometrie"),
    )

    def share(self, sight: Sight) -> float:
        """Nothing in the values tells."""
        return 0.0
