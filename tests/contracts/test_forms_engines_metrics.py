"""Every form, engine and metric obeys the laws of `tarnkappe.testing`, and those that break a law are found out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tarnkappe as tk
from tarnkappe.algorithms.base import Algorithm
from tarnkappe.boxes import Boxes
from tarnkappe.criteria import Criterion
from tarnkappe.engines.memory import MemoryEngine
from tarnkappe.engines.streaming import StreamingEngine
from tarnkappe.metrics import all_metrics
from tarnkappe.metrics.base import Metric
from tarnkappe.metrics.lm import LossMetric
from tarnkappe.publish import buckets as buckets_module
from tarnkappe.publish.boxes import FixedBoxes
from tarnkappe.publish.buckets import Buckets
from tarnkappe.testing import check_engine, check_form, check_metric

DIVERSE = [tk.FrequencyLDiversity("disease", 2)]

FORMS: list[tuple[Algorithm, list[Criterion]]] = [
    (tk.Mondrian(), [tk.KAnonymity(3)]),
    (tk.Datafly(), [tk.KAnonymity(3)]),
    (tk.MDAV(), [tk.KAnonymity(3)]),
    (tk.Anatomize(), DIVERSE),
    (tk.Angel(), DIVERSE),
    (tk.Slicing(), DIVERSE),
    (tk.KEPermutation(), [tk.KEAnonymity("income", 2, 100)]),
]


@pytest.mark.parametrize(("algorithm", "criteria"), FORMS, ids=[a.name for a, _ in FORMS])
def test_forms(algorithm: Algorithm, criteria: list[Criterion]):
    check_form(algorithm, criteria)


@pytest.mark.parametrize("make", [MemoryEngine, StreamingEngine])
def test_engines(make: Any):
    check_engine(make)


@pytest.mark.parametrize("name", [name for name in all_metrics() if name != "classification"])
def test_metrics(name: str):
    check_metric(all_metrics()[name])


def test_a_form_that_forgets_its_groups_is_found_out(monkeypatch: pytest.MonkeyPatch):
    relabel = FixedBoxes.relabel

    def confused(self: FixedBoxes, new: Any, n_groups: int) -> FixedBoxes:
        boxes = relabel(self, new, n_groups).fixed
        return FixedBoxes(Boxes(*(np.roll(x, 1, axis=0) for x in (boxes.lo, boxes.hi, boxes.node)), boxes.members))

    monkeypatch.setattr(FixedBoxes, "relabel", confused)
    with pytest.raises(AssertionError, match="boxes"):
        check_form(tk.Datafly(), [tk.KAnonymity(3)])


def test_a_form_with_a_column_in_no_strand_is_found_out(monkeypatch: pytest.MonkeyPatch):
    strands = Buckets.strands
    monkeypatch.setattr(Buckets, "strands", lambda self, schema: strands(self, schema)[:1])
    with pytest.raises(AssertionError, match="stand in no strand"):
        check_form(tk.Anatomize(), DIVERSE)


def test_a_form_that_invents_records_is_found_out(monkeypatch: pytest.MonkeyPatch):
    made = buckets_module.counted_sheet

    def doubled(*given: Any) -> Any:
        sheet = made(*given)
        batches = sheet.batches
        object.__setattr__(sheet, "batches", lambda: (b.with_columns(b["records"] * 2) for b in batches()))
        return sheet

    monkeypatch.setattr(buckets_module, "counted_sheet", doubled)
    with pytest.raises(AssertionError, match="did not promise"):
        check_form(tk.Anatomize(), DIVERSE)


class Sorted(MemoryEngine):
    """Writes records in the same order whatever chance says."""

    def rewrite(self, plan: Any, schema: Any, writer: Any, rng: np.random.Generator) -> Any:
        return super().rewrite(plan, schema, writer, np.random.default_rng(0))


class Forgetful(MemoryEngine):
    """Loses the last record of every batch."""

    def rewrite(self, plan: Any, schema: Any, writer: Any, rng: np.random.Generator) -> Any:
        class Short:
            dialect = writer.dialect

            def write(self, batch: Any) -> None:
                writer.write(batch[:-1])

        return super().rewrite(plan, schema, Short(), rng)


@pytest.mark.parametrize(("make", "what"), [(Sorted, "does not depend on chance"), (Forgetful, "not planned")])
def test_an_engine_that_breaks_a_law_is_found_out(make: Any, what: str):
    with pytest.raises(AssertionError, match=what):
        check_engine(make)


class Fickle(LossMetric):
    """Never says the same twice."""

    def __init__(self) -> None:
        self.asked = 0

    def score(self, plan: Any) -> float:
        self.asked += 1
        return super().score(plan) + self.asked


class Nothing(LossMetric):
    """Is no number."""

    def score(self, plan: Any) -> float:
        return float("nan")


class UpsideDown(LossMetric):
    """Finds that less detail is less loss."""

    def score(self, plan: Any) -> float:
        return 1 - super().score(plan)


@pytest.mark.parametrize(
    ("metric", "what"), [(Fickle(), "in two ways"), (Nothing(), "no number"), (UpsideDown(), "better than many")]
)
def test_a_metric_that_breaks_a_law_is_found_out(metric: Metric, what: str):
    with pytest.raises(AssertionError, match=what):
        check_metric(metric, tables=20)
