"""Where people live."""

from __future__ import annotations

from typing import ClassVar

from tarnkappe.looks.base import Detector, Sight


class Place(Detector):
    """Areas smaller than a state: postcodes, towns, districts."""

    name: ClassVar = "place"
    title: ClassVar = "places where people live"
    evidence: ClassVar = "the name"
    tells: ClassVar = "known"
    hipaa: ClassVar = (2,)
    phrases: ClassVar = (
        *("zip", "zip code", "zipcode", "postcode", "postal code", "post code", "plz", "postleitzahl", "code postal"),
        *("codigo postal", "city", "town", "village", "municipality", "county", "precinct", "parish", "stadt", "ort"),
        *(
            "wohnort",
            "gemeinde",
            "landkreis",
            "kreis",
            "geburtsort",
            "ville",
            "commune",
            "ciudad",
            "comune",
            "census tract",
        ),
    )

    def share(self, sight: Sight) -> float:
        """A town is not recognised by its name."""
        return 0.0
