"""Engines: where records are counted and rewritten. Two verbs each, `count` and `rewrite`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tarnkappe.engines.base import Engine
from tarnkappe.engines.memory import MemoryEngine

if TYPE_CHECKING:
    from tarnkappe.engines.settings import EngineSettings

__all__ = ["Engine", "engine_for"]


def engine_for(settings: EngineSettings, data: Any) -> Engine:
    """The engine that a job asks for; by default one that suits the size of the data."""
    name = settings.chosen(data)
    if name == "spark":
        from tarnkappe.engines.spark import SparkEngine

        return SparkEngine(master=settings.master, limit=settings.limit)
    if name == "streaming":
        from tarnkappe.engines.streaming import StreamingEngine

        return StreamingEngine(settings.limit)
    return MemoryEngine()
