"""Web addresses."""

from __future__ import annotations

from typing import ClassVar

from tarnkappe.looks.base import Detector, Sight


class WebAddress(Detector):
    """URLs, and names of accounts that stand for one."""

    name: ClassVar = "web-address"
    title: ClassVar = "web addresses"
    evidence: ClassVar = "a fifth of the different values begin like a URL; or the name"
    hipaa: ClassVar = (14,)
    phrases: ClassVar = ("url", "uri", "website", "homepage", "web page", "webpage", "twitter", "facebook", "linkedin")
    enough: ClassVar = 0.2
    signs: ClassVar = ".:"

    def share(self, sight: Sight) -> float:
        """Values that begin with a protocol or with www."""
        return sight.share(r"(?i)(?:(?:https?|ftp)://|www\.)\S+")
