"""Coordinates of places."""

from __future__ import annotations

from typing import ClassVar

from tarnkappe.looks.base import DIGITS, Detector, Sight
from tarnkappe.looks.words import says

_AXIS = r"[NSEWOnsewo]?\s*[+-]?[0-9]{1,3}(?:\.[0-9]{2,}|,[0-9]{3,})\s*°?\s*[NSEWOnsewo]?"
_PAIR = rf"[(\[]?\s*{_AXIS}\s*[,;/ ]\s*{_AXIS}\s*[)\]]?"
_SIXTY = r"[0-9]{1,3} ?° ?[0-9]{1,2} ?['′].*[NSEWOnsewo]"
_POINT = r"(?i)(?:srid=[0-9]+;)?point ?\(.*\)"
#: Names of an axis and nothing else, and names that may mean something else too.
_AXES = ("latitude", "longitude", "breitengrad", "laengengrad", "northing", "easting", "hochwert", "rechtswert", "utm")
_HINTS = (
    *("lat", "lon", "lng", "long", "gps", "geo", "coord", "coords", "x coord", "y coord", "xcoord", "ycoord"),
    *("latitud", "longitud", "latitudine", "longitudine"),
)


class Coordinates(Detector):
    """Where somebody lives or was, as pairs of numbers or in two columns that are called so."""

    name: ClassVar = "coordinates"
    title: ClassVar = "geographic coordinates"
    evidence: ClassVar = "four fifths of at least two different values are pairs; or numbers under such a name"
    hipaa: ClassVar = (2,)
    phrases: ClassVar = ("coordinate", "coordinates", "koordinaten", "geolocation", "geohash", "gps position")
    enough: ClassVar = 0.8
    fewest: ClassVar = 2
    signs: ClassVar = DIGITS + "("
    shortest: ClassVar = 5

    def share(self, sight: Sight) -> float:
        """Pairs of decimals, degrees with minutes, or points as databases write them."""
        return sight.share(f"{_PAIR}|{_SIXTY}|{_POINT}") if sight.numbers is None else 0.0

    def is_named(self, sight: Sight) -> bool:
        """Numbers in a column called like an axis, where that is no other word; or a name that says it all."""
        if super().is_named(sight):
            return True
        numbers = sight.numbers
        if numbers is None or sight.is_answer:
            return False
        return says(sight.words, _AXES) or (
            says(sight.words, _HINTS)
            and bool((numbers.abs() <= 180).all())  # degrees
            and bool((numbers != numbers.round(1)).any())
        )
