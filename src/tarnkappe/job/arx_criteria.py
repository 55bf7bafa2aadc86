"""What an ARX project asks for, read from the words in which ARX prints its privacy models."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tarnkappe.criteria import Criterion
from tarnkappe.criteria.average_risk import AverageRisk
from tarnkappe.criteria.beta_likeness import BetaLikeness
from tarnkappe.criteria.delta_disclosure import DeltaDisclosure
from tarnkappe.criteria.entropy_l_diversity import EntropyLDiversity
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.criteria.l_diversity import LDiversity
from tarnkappe.criteria.recursive_cl_diversity import RecursiveCLDiversity
from tarnkappe.criteria.t_closeness import TCloseness
from tarnkappe.errors import JobError
from tarnkappe.job.arx_xml import Element

_N = r"([0-9.]+(?:E-?[0-9]+)?)"
_FOR = r".* for attribute '(.*)'"


def _number(text: str) -> float:
    return float(text)


def _whole(text: str) -> int:
    return round(float(text))


def _closeness(t: str, distance: str, name: str) -> Criterion:
    known = {"ordered": "ordered", "hierarchical": "hierarchical"}
    return TCloseness(column=name, t=_number(t), distance=known.get(distance.lower(), "equal"))


def _disclosure(delta: str, name: str) -> Criterion:
    # ARX looks only at values that a group has.
    return DeltaDisclosure(column=name, delta=_number(delta), absent="skipped")


#: How ARX prints a model, and what it is called here.
_MODELS: tuple[tuple[str, Callable[..., Criterion]], ...] = (
    (r"\(?(\d+)\)?-anonymity", lambda k: KAnonymity(_whole(k))),
    (rf"distinct-{_N}-diversity{_FOR}", lambda n, name: LDiversity(column=name, l=_whole(n))),
    (rf"(?:shannon-)?entropy-{_N}-diversity{_FOR}", lambda n, name: EntropyLDiversity(column=name, l=_number(n))),
    (
        rf"recursive-\({_N}, ?{_N}\)-diversity{_FOR}",
        lambda c, n, name: RecursiveCLDiversity(column=name, c=_number(c), l=_whole(n)),
    ),
    (rf"{_N}-closeness with (\w+).* for attribute '(.*)'", _closeness),
    (rf"{_N}-disclosure privacy{_FOR}", _disclosure),
    (rf"enhanced-{_N}-likeness{_FOR}", lambda b, name: BetaLikeness(column=name, beta=_number(b))),
    (rf"basic-{_N}-likeness{_FOR}", lambda b, name: BetaLikeness(column=name, beta=_number(b), form="basic")),
    (rf"\({_N}\)-avg-reidentification-risk", lambda r: AverageRisk(_number(r))),
)


@dataclass(frozen=True)
class Wanted:
    """The criteria of a project, and which columns they measure by a hierarchy."""

    criteria: tuple[Criterion, ...]
    by_taxonomy: frozenset[str]


def criteria_of(config: Element, lost: Callable[[str, str], None]) -> Wanted:
    """The criteria of a configuration; those without a counterpart are told as lost."""
    made: list[Criterion] = []
    for each in config.all("criterion"):
        text = each.text.strip()
        criterion = _criterion(text)
        if criterion is None:
            lost(
                f"the privacy model  {text}  has no counterpart, or needs what the project does not tell", _advice(text)
            )
        elif criterion not in made:
            made.append(criterion)
    if not made:
        raise JobError(
            "E109",
            "the project asks for no protection that can be carried over",
            hint="Add a privacy model in ARX, such as 5-anonymity, and save the project again.",
        )
    by_taxonomy = {c.column for c in made if isinstance(c, TCloseness) and c.distance == "hierarchical"}
    return Wanted(tuple(made), frozenset(by_taxonomy))


def _criterion(text: str) -> Criterion | None:
    for pattern, make in _MODELS:
        found = re.fullmatch(pattern, text)
        if found is not None:
            arguments: Any = found.groups()
            try:
                return make(*arguments)
            except (ValueError, JobError):
                return None
    return None


def _advice(text: str) -> str:
    if "-map" in text or "-presence" in text:
        return "population: {path: REGISTER.csv}   and  - k-map: {k: 5}   or  - delta-presence: {delta_max: 0.5}"
    return "tarnkappe explain   lists the criteria."


#: Words in ARX's names of metrics, and the metric here.
_METRICS = (
    ("entropy", "nonuniform-entropy"),
    ("precision", "precision"),
    ("discernability", "discernibility"),
    ("discernibility", "discernibility"),
    ("average equivalence", "aecs"),
    ("aecs", "aecs"),
    ("classification", "loss"),
    ("loss", "loss"),
)


def metric_of(text: str) -> str:
    """The loss metric that is optimised by ARX's name of it.

    >>> metric_of("Non-uniform entropy"), metric_of("Monetary gain")
    ('nonuniform-entropy', 'loss')
    """
    return next((name for word, name in _METRICS if word in text.lower()), "loss")
