"""Keys made by machines."""

from __future__ import annotations

from typing import ClassVar

from tarnkappe.looks.base import Detector, Sight

_UUID = r"\{?[0-9a-fA-F]{8}-?(?:[0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}\}?"
_DIGEST = r"(?:0x)?(?:[0-9a-fA-F]{32}|[0-9a-fA-F]{40}|[0-9a-fA-F]{56}|[0-9a-fA-F]{64}|[0-9a-fA-F]{128})"


class Key(Detector):
    """UUIDs, and digests such as SHA-256: hiding a name behind one does not make it anonymous."""

    name: ClassVar = "key"
    title: ClassVar = "UUIDs or digests"
    evidence: ClassVar = "nine tenths of at least two different values are written so; or the name"
    hipaa: ClassVar = (18,)
    phrases: ClassVar = ("uuid", "guid", "pseudonym", "sha256", "md5", "hash")
    fewest: ClassVar = 2
    shortest: ClassVar = 32

    def share(self, sight: Sight) -> float:
        """Values of so many hexadecimal digits, with or without hyphens."""
        return sight.share(f"{_UUID}|{_DIGEST}")
