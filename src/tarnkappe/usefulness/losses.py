"""All loss metrics of a release beside its original, in one table, each with its definition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from tarnkappe.arrays import Counts, Floats
from tarnkappe.boxes import Boxes
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.goal import Goal
from tarnkappe.metrics import CellLoss, SizeMetric, all_metrics
from tarnkappe.metrics.base import weighted_mean
from tarnkappe.metrics.precision import Precision
from tarnkappe.metrics.sse import SquaredError
from tarnkappe.metrics.steps import leaf_depths
from tarnkappe.tally import Tally
from tarnkappe.usefulness.labels import PublishedLabels
from tarnkappe.usefulness.reading import Pair


@dataclass(frozen=True)
class Figure:
    """A figure of usefulness: what it is called, its value, which way is better, and how it is defined."""

    name: str
    title: str
    value: float
    better: str
    definition: str
    #: What it takes for granted, if anything.
    remark: str = ""

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        return {
            "name": self.name,
            "title": self.title,
            "value": self.value,
            "better": self.better,
            "definition": self.definition,
            "remark": self.remark,
        }


@dataclass(frozen=True, eq=False)
class _View:
    """As much of a plan as metrics of labels and of sizes look at."""

    tally: Tally
    boxes: Boxes
    sizes: Counts
    suppressed: int
    goal: Goal


_DEFINITIONS = {
    "aecs": "records of the original / groups; suppressed records are one more group",
    "aes": "published records / groups (no suppressed records)",
    "average-group-size": "published records / groups / k, with the k of the job (1 without one)",
    "classification": "(suppressed + records not of their group's commonest class) / all",
    "discernibility": "Σ |G|² over groups + n per suppressed record",
    "gcp": "mean of w/W or c/M (0 if c = 1) over cells; suppressed: 1",
    "iloss": "mean of (c − 1)/M over cells, whole numbers by w/(W + 1); suppressed: 1",
    "lm": "mean of w/W or (c − 1)/(M − 1) over cells; suppressed: 1",
    "loss": "as LM per column, then the geometric mean of 1 + loss, minus 1",
    "minimal-distortion": "steps up the taxonomies, over all cells; suppressed: the way to the root",
    "nonuniform-entropy": "Σ −log₂(records with the value / records with the label) over cells",
    "precision": "1 − mean of steps/possible steps over cells; suppressed: 0 is left",
    "level-share": "mean of level/height over published cells (called precision by some; no suppressed records)",
    "sse": "100 · Σ‖x − published‖² / Σ‖x − mean‖², every quasi-identifier with variance 1",
    "suppressed-share": "records that the release lacks / all",
}


def loss_table(pair: Pair, target: str | None = None) -> tuple[Figure, ...]:
    """Every metric that applies to the pair. Which record is whose is not known, and need not be.

    Metrics of labels and of groups follow from the release and the number of records that it lacks. Steps and bits add
    up to a sum over the original minus a sum over the release. The squared error of centres follows if centres are the
    means of their groups: what they lack of the variance is lost.
    """
    out: dict[str, tuple[float, str]] = {}
    view = _View(pair.tally, pair.boxes, pair.sizes, pair.suppressed, Goal([KAnonymity(pair.least)]))
    for name, metric in all_metrics().items():
        if isinstance(metric, SizeMetric) or (isinstance(metric, CellLoss) and not pair.is_centred):
            out[name] = metric.score(cast("Any", view)), ""
    out["aes"] = (pair.n_published / pair.n_groups if pair.n_groups else float("nan")), ""
    if not pair.is_centred:
        out |= _levels(pair)
        out["nonuniform-entropy"] = _bits(pair), ""
    else:
        out |= _squares(pair)
    if target is not None and target in pair.others:
        commonest = int(pair.histogram(target).max(axis=1).sum())
        out["classification"] = (pair.n_original - commonest) / pair.n_original, ""
    known = all_metrics()
    titles = {name: metric.title for name, metric in known.items()} | {
        "aes": "Average class size, published only (AES)",
        "level-share": "Mean level / height (“precision” of some)",
    }
    better = {name: "larger" if metric.goal == "maximise" else "smaller" for name, metric in known.items()}
    return tuple(
        Figure(name, titles[name], float(value), better.get(name, "smaller"), _DEFINITIONS.get(name, ""), remark)
        for name, (value, remark) in sorted(out.items())
    )


def column_losses(pair: Pair) -> dict[str, float]:
    """The loss metric (LM) of each quasi-identifier; a centre covers one value, so it says nothing of centres."""
    if pair.is_centred:
        return {}
    metric = cast("CellLoss", all_metrics()["lm"])
    view = _View(pair.tally, pair.boxes, pair.sizes, pair.suppressed, Goal([KAnonymity(1)]))
    return metric.column_scores(cast("Any", view))


def _levels(pair: Pair) -> dict[str, tuple[float, str]]:
    """Steps up the taxonomies: of all records, and of those published."""
    steps, kept, levels = 0.0, [], []
    is_exact = True
    for j, (domain, published) in enumerate(zip(pair.tally.quasi_domains, pair.labels, strict=True)):
        counts, depths = pair.tally.value_counts[j].astype(np.float64), leaf_depths(domain)
        node = pair.boxes.node[:, j]
        reached = domain.taxonomy.depth[node].astype(np.float64)
        steps += float(counts @ depths - pair.sizes @ reached)
        could, same = _depths_below(published, counts, depths)
        is_exact &= same
        # A share of the way to the root, by group: of values that lie equally deep it does not matter who has which.
        made = 1.0 - reached / np.maximum(could[published.code], 1.0)
        kept.append(1.0 - (float(pair.sizes @ made) + pair.suppressed) / pair.n_original)
        height = max(domain.taxonomy.height, 1)
        level = np.where(reached >= could[published.code], 0.0, height - reached)
        levels.append(float(pair.sizes @ (level / height)) / max(pair.n_published, 1))
    remark = "" if is_exact else "values lie at different depths; taken on average over those that a label covers"
    return {
        Precision.name: (float(weighted_mean(np.array(kept), pair.tally)), remark),
        "minimal-distortion": (round(steps), ""),
        "level-share": (float(np.mean(levels)), ""),
    }


def _depths_below(published: PublishedLabels, counts: Floats, depths: Floats) -> tuple[Floats, bool]:
    """How deep the values lie that each label covers, on average over those that occur; and whether all lie alike."""
    domain = published.domain
    shown = np.ones(domain.size, np.bool_)
    if domain.missing >= 0:
        shown[domain.missing] = False  # it hangs below the root, whatever else a label covers
    weight, each = published.sums(counts * shown), published.sums(shown.astype(np.float64))
    by_count, evenly = published.sums(counts * shown * depths), published.sums(shown * depths)
    mean = np.where(weight > 0, by_count / np.maximum(weight, 1.0), evenly / np.maximum(each, 1.0))
    only_missing = each == 0
    mean[only_missing] = depths[domain.missing]
    squares = published.sums(shown * depths**2) / np.maximum(each, 1.0) - (evenly / np.maximum(each, 1.0)) ** 2
    return mean, bool((squares[~only_missing] < 1e-9).all())


def _bits(pair: Pair) -> float:
    """Bits given up: what labels leave open, over all records, minus what values alone would."""
    total = 0.0
    for j, (domain, published) in enumerate(zip(pair.tally.quasi_domains, pair.labels, strict=True)):
        counts = pair.tally.value_counts[j].astype(np.float64)
        inside = published.sums(counts)[published.code]
        open_ = float(pair.sizes @ np.log2(np.maximum(inside, 1.0))) + pair.suppressed * np.log2(pair.n_original)
        hidden = 0.0 if domain.hidden is None else float(counts @ domain.hidden.bits)
        total += domain.weight * (open_ - float(counts @ np.log2(np.maximum(counts, 1.0))) + hidden)
    return total


def _squares(pair: Pair) -> dict[str, tuple[float, str]]:
    """The squared error of centres that are means: the variance that they lack; of numbers only."""
    shares, weights = [], []
    for j, (domain, published) in enumerate(zip(pair.tally.quasi_domains, pair.labels, strict=True)):
        if domain.values is None:
            continue
        counts = pair.tally.value_counts[j].astype(np.float64)
        known = np.isfinite(domain.positions)
        place, count = domain.positions[known], counts[known]
        mean = float(np.average(place, weights=count))
        total = float(count @ (place - mean) ** 2)
        shown = published.positions[published.code]
        between = float(pair.sizes @ np.nan_to_num((shown - mean) ** 2))
        shares.append(max(1.0 - between / total, 0.0) if total > 0 else 0.0)
        weights.append(pair.tally.weights[j])
    if not shares:
        return {}
    value = 100.0 * float(np.average(shares, weights=weights))
    return {SquaredError.name: (value, "if every centre is the mean of its group; of numbers only")}
