"""Photographs and other pictures of people."""

from __future__ import annotations

from typing import ClassVar

from tarnkappe.looks.base import Detector, Sight


class Photograph(Detector):
    """Names of picture files, and pictures as text."""

    name: ClassVar = "photograph"
    title: ClassVar = "photographs or scans"
    evidence: ClassVar = "half of the different values are names of pictures, or pictures themselves; or the name"
    hipaa: ClassVar = (17,)
    phrases: ClassVar = ("photo", "photograph", "portrait", "selfie", "mugshot", "foto", "passfoto", "lichtbild")
    enough: ClassVar = 0.5
    signs: ClassVar = "./"

    def share(self, sight: Sight) -> float:
        """Values that end like a picture file, or begin like a picture in base64."""
        return sight.share(r"(?i).*\.(?:jpe?g|png|gif|tiff?|bmp|heic|webp|dcm|nii(?:\.gz)?)|data:image/.*|/9j/.{40,}")
