"""Coordinates of places."""

from __future__ import annotations

from typing import ClassVar

from tarnkappe.looks.base import Detector, Sight
from tarnkappe.looks.words import says

_PAIR = r"[(\[]?\s*[+-]?[0-9]{1,3}\.[0-9]{2,}\s*[,; ]\s*[+-]?[0-9]{1,3}\.[0-9]{2,}\s*[)\]]?"
_SIXTY = r"[0-9]{1,3} ?° ?[0-9]{1,2} ?['′].*[NSEWOnsewo]"
_POINT = r"(?i)(?:srid=[0-9]+;)?point ?\(.*\)"
_HINTS = (
    *("lat", "lon", "lng", "long", "latitude", "longitude", "breitengrad", "laengengrad", "northing", "easting"),
    *("gps", "geo", "utm", "coord", "coords", "x coord", "y coord", "xcoord", "ycoord"),
)


class Coordinates(Detector):
    """Where somebody lives or was, as pairs of numbers or in two columns that are called so."""

    name: ClassVar = "coordinates"
    title: ClassVar = "geographic coordinates"
    evidence: ClassVar = "four fifths of at least five different values are pairs; or numbers under such a name"
    hipaa: ClassVar = (2,)
    phrases: ClassVar = ("coordinate", "coordinates", "koordinaten", "geolocation", "geohash", "gps position")
    enough: ClassVar = 0.8

    def share(self, sight: Sight) -> float:
        """Pairs of decimals, degrees with minutes, or points as databases write them."""
        return sight.share(f"{_PAIR}|{_SIXTY}|{_POINT}") if sight.numbers is None else 0.0

    def is_named(self, sight: Sight) -> bool:
        """Numbers with places after the point, in a column called like an axis; or a name that says it all."""
        if super().is_named(sight):
            return True
        numbers = sight.numbers
        return (
            numbers is not None
            and says(sight.words, _HINTS)
            and bool((numbers.abs() <= 180).all())  # degrees
            and bool((numbers != numbers.round(1)).any())
        )
