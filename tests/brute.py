"""An independent checker of published rows: plain Python, dictionaries and fractions, nothing of the package.

A row is ``(quasi texts, sensitive values)``, both tuples. A *class* is the rows that share their quasi texts, and,
where the attacker knows the other sensitive columns, these too.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from fractions import Fraction

Row = tuple[tuple[Hashable, ...], tuple[Hashable, ...]]


def exact(number: float | int | Fraction) -> Fraction:
    """A number as the decimal fraction a person would write for it."""
    return number if isinstance(number, Fraction) else Fraction(str(number))


def histograms(rows: Iterable[Row], column: int, know_others: bool = False) -> list[Counter[Hashable]]:
    """The values of one sensitive column in each class."""
    classes: dict[Hashable, Counter[Hashable]] = defaultdict(Counter)
    for quasi, sensitive in rows:
        known = tuple(v for i, v in enumerate(sensitive) if i != column) if know_others else ()
        classes[quasi, known][sensitive[column]] += 1
    return list(classes.values())


def table(rows: Iterable[Row], column: int) -> Counter[Hashable]:
    """The values of one sensitive column in all rows."""
    return Counter(sensitive[column] for _, sensitive in rows)


def k(rows: Iterable[Row]) -> int:
    """The size of the smallest class."""
    return min(Counter(quasi for quasi, _ in rows).values())


def distinct_l(rows: Sequence[Row], column: int, know_others: bool = False) -> int:
    """The smallest number of different values in a class."""
    return min(len(h) for h in histograms(rows, column, know_others))


def entropy_l(rows: Sequence[Row], column: int, know_others: bool = False) -> float:
    """The smallest exponential of a class's entropy."""
    return min(effective_number(h) for h in histograms(rows, column, know_others))


def effective_number(h: Mapping[Hashable, int]) -> float:
    """``exp(H)`` of one histogram."""
    n = sum(h.values())
    return math.exp(-math.fsum(c / n * math.log(c / n) for c in h.values()))


def has_entropy(h: Mapping[Hashable, int], l: float) -> bool:  # noqa: E741
    """Whether ``exp(H) >= l``, in integers: ``n**n >= l**n * prod(c**c)``."""
    n = sum(h.values())
    return Fraction(n**n) >= exact(l) ** n * math.prod(c**c for c in h.values())


def recursive_infimum(rows: Sequence[Row], column: int, l: int, know_others: bool = False) -> Fraction | float:  # noqa: E741
    """The infimum of the c for which all classes are (c, l)-diverse; infinite if a class has fewer than l values."""
    return max(infimum(h, l) for h in histograms(rows, column, know_others))


def infimum(h: Mapping[Hashable, int], l: int) -> Fraction | float:  # noqa: E741
    """``r_1 / (r_l + ... + r_d)`` of one histogram."""
    r = sorted(h.values(), reverse=True)
    return Fraction(r[0], sum(r[l - 1 :])) if len(r) >= l else math.inf


def largest_share(rows: Sequence[Row], column: int, know_others: bool = False) -> Fraction:
    """The largest share that a value has in a class."""
    return max(Fraction(max(h.values()), sum(h.values())) for h in histograms(rows, column, know_others))


def differences(h: Mapping[Hashable, int], whole: Mapping[Hashable, int]) -> dict[Hashable, Fraction]:
    """The share of every value in a class minus that in the table."""
    n, total = sum(h.values()), sum(whole.values())
    return {v: Fraction(h.get(v, 0), n) - Fraction(whole.get(v, 0), total) for v in {*h, *whole}}


def emd_equal(h: Mapping[Hashable, int], whole: Mapping[Hashable, int]) -> Fraction:
    """Half the sum of absolute differences."""
    return sum((abs(d) for d in differences(h, whole).values()), Fraction(0)) / 2


def emd_ordered(h: Mapping[Hashable, int], whole: Mapping[Hashable, int], order: Sequence[Hashable]) -> Fraction:
    """The mean absolute cumulative difference along the order of the domain."""
    d = differences(h, whole)
    cumulative = work = Fraction(0)
    for value in order[:-1]:
        cumulative += d.get(value, Fraction(0))
        work += abs(cumulative)
    return work / max(len(order) - 1, 1)


def emd_hierarchical(
    h: Mapping[Hashable, int], whole: Mapping[Hashable, int], parent: Mapping[Hashable, Hashable]
) -> Fraction:
    """The earth mover's distance on a tree whose edges have half the difference of their ends' heights.

    Two leaves are then apart by the height of their lowest common ancestor. On a tree every edge carries exactly the
    mass that one side has too much. (Not the sum over inner nodes of the paper: the two must agree.)
    """
    leaves = set(parent) - set(parent.values())
    height: dict[Hashable, int] = dict.fromkeys({*parent, *parent.values()}, 0)
    excess: dict[Hashable, Fraction] = dict.fromkeys(height, Fraction(0))
    d = differences(h, whole)
    for leaf in leaves:
        node, up = leaf, 0
        excess[node] += d.get(leaf, Fraction(0))
        while node in parent:
            node, up = parent[node], up + 1
            height[node] = max(height[node], up)
            excess[node] += d.get(leaf, Fraction(0))
    tallest = max(height.values())
    work = sum((abs(excess[node]) * (height[above] - height[node]) / 2 for node, above in parent.items()), Fraction(0))
    return work / tallest if tallest else Fraction(0)


def t(
    rows: Sequence[Row],
    column: int,
    distance: str = "equal",
    order: Sequence[Hashable] = (),
    parent: Mapping[Hashable, Hashable] | None = None,
    know_others: bool = False,
) -> Fraction:
    """The largest earth mover's distance of a class to the table of all rows."""
    whole = table(rows, column)
    of_class = {
        "equal": lambda h: emd_equal(h, whole),
        "ordered": lambda h: emd_ordered(h, whole, order),
        "hierarchical": lambda h: emd_hierarchical(h, whole, parent or {}),
    }[distance]
    return max(of_class(h) for h in histograms(rows, column, know_others))


def meets(
    rows: Sequence[Row],
    criterion: str,
    column: int = 0,
    *,
    order: Sequence[Hashable] = (),
    parent: Mapping[Hashable, Hashable] | None = None,
    **asked: float | str | bool,
) -> bool:
    """Whether published rows keep a promise, given by the name and the parameters of a criterion."""
    others = bool(asked.get("know_others", False))
    if criterion == "k-anonymity":
        return k(rows) >= asked["k"]
    if criterion == "l-diversity":
        return distinct_l(rows, column, others) >= asked["l"]
    if criterion == "entropy-l-diversity":
        return all(has_entropy(h, asked["l"]) for h in histograms(rows, column, others))
    if criterion == "recursive-cl-diversity":
        return asked["l"] == 1 or recursive_infimum(rows, column, int(asked["l"]), others) < exact(asked["c"])
    if criterion == "frequency-l-diversity":
        return largest_share(rows, column, others) * exact(asked["l"]) <= 1
    if criterion == "t-closeness":
        return t(rows, column, str(asked["distance"]), order, parent, others) <= exact(asked["t"])
    raise KeyError(criterion)
