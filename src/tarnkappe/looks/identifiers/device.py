"""Devices."""

from __future__ import annotations

from typing import ClassVar

from tarnkappe.looks.base import DIGITS, Detector, Sight
from tarnkappe.looks.check_digits import figures, luhn

_MAC = r"(?:[0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}"
_DICOM = r"[0-2](?:\.(?:0|[1-9][0-9]*)){5,}"


class Device(Detector):
    """Hardware addresses, telephones, scans and implants."""

    name: ClassVar = "device"
    title: ClassVar = "numbers of devices"
    evidence: ClassVar = (
        "nine tenths of at least five different values are MAC addresses, DICOM identifiers or IMEIs; or the name"
    )
    hipaa: ClassVar = (13,)
    phrases: ClassVar = (
        *("serial number", "serial no", "seriennummer", "device id", "device number", "imei", "imsi", "mac address"),
        *("idfa", "advertising id", "android id", "implant number", "geraetenummer", "sim number", "iccid"),
    )
    signs: ClassVar = DIGITS + ":-"
    shortest: ClassVar = 11

    def share(self, sight: Sight) -> float:
        """Six bytes with colons, a long path of numbers, or fifteen digits of which the last checks the others."""
        plain = sight.share(f"{_MAC}|{_DICOM}")
        phones = sight.texts.filter(sight.texts.str.contains("^[0-9]{15}$"))
        checked = 0.0 if phones.is_empty() else float(luhn(figures(phones)).sum()) / len(sight.texts)
        return max(plain, checked)
