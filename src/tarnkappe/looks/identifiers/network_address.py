"""IP addresses."""

from __future__ import annotations

from typing import ClassVar

from tarnkappe.looks.base import Detector, Sight

_BYTE = "(?:25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])"
_V4 = rf"(?:{_BYTE}\.){{3}}{_BYTE}(?:[:/][0-9]{{1,5}})?"
_WORD = "[0-9A-Fa-f]{1,4}"
#: All eight words, or fewer around a double colon; without one, fewer words are times such as 12:30:00.
_V6 = rf"(?:{_WORD}:){{7}}{_WORD}|(?:{_WORD}(?::{_WORD}){{0,6}})?::(?:{_WORD}(?::{_WORD}){{0,6}})?"


class NetworkAddress(Detector):
    """IP addresses of version 4 and 6."""

    name: ClassVar = "ip-address"
    title: ClassVar = "IP addresses"
    evidence: ClassVar = "nine tenths of at least five different values are addresses; or the name"
    hipaa: ClassVar = (15,)
    phrases: ClassVar = ("ip address", "ip adresse", "ipaddr", "=ip", "ipv4", "ipv6", "client ip", "remote ip")
    signs: ClassVar = ".:"

    def share(self, sight: Sight) -> float:
        """Four bytes with points, or groups of hexadecimal digits with colons."""
        return sight.share(f"{_V4}|{_V6}") if sight.numbers is None else 0.0
