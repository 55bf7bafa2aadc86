"""JSON that every reader accepts: no NaN, no infinity, no type that JSON has no word for."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any


def to_json(data: Any, *, ascii_only: bool = False) -> str:
    """Plain data as JSON; a number that is not finite becomes null, what JSON has no word for becomes text.

    >>> from pathlib import Path
    >>> print(to_json({"reached": float("nan"), "path": Path("a")}))
    {
      "reached": null,
      "path": "a"
    }
    """
    return json.dumps(_plain(data), indent=2, ensure_ascii=ascii_only, allow_nan=False)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return _plain(value.item()) if hasattr(value, "item") else str(value)  # a scalar of numpy
