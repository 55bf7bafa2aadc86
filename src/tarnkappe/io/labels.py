"""Labels of columns and of values, as statistics packages keep them beside the data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl


@dataclass(frozen=True)
class Labels:
    """What columns, and values of columns, are called."""

    columns: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Mapping[Any, str]] = field(default_factory=dict)

    def of_columns(self, names: Iterable[str]) -> dict[str, str]:
        """The labels of some columns.

        >>> Labels({"a": "Age", "b": "Sex"}).of_columns(["a", "c"])
        {'a': 'Age'}
        """
        return {name: self.columns[name] for name in names if name in self.columns}

    def in_use(self, frame: pl.DataFrame) -> dict[str, dict[Any, str]]:
        """The labels of values that occur, of columns that still hold such values.

        A list of all labels would also name values that no record has any more.

        >>> known = Labels(values={"sex": {1: "male", 2: "female", 3: "other"}, "age": {99: "unknown"}})
        >>> known.in_use(pl.DataFrame({"sex": [1, 2, 2], "age": ["20-29", "*", "*"]}))
        {'sex': {1: 'male', 2: 'female'}}
        """
        out = {}
        for name, labels in self.values.items():
            if name in frame.columns and frame.schema[name].is_numeric():
                occurring = set(frame[name].drop_nulls().unique().to_list())
                used = {code: label for code, label in labels.items() if code in occurring}
                if used:
                    out[name] = used
        return out
