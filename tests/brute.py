"""An independent checker of published rows: plain Python, dictionaries and fractions, nothing of the package.

A row is ``(quasi texts, sensitive values)``, both tuples. A *class* is the rows that share their quasi texts, and,
where the attacker knows the other sensitive columns, these too.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

Row = tuple[tuple[Hashable, ...], tuple[Hashable, ...]]


def exact(number: float | int | str | Fraction) -> Fraction:
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
    present = [value for value in order if value in whole]  # whoever reads the table does not know of other values
    of_class = {
        "equal": lambda h: emd_equal(h, whole),
        "ordered": lambda h: emd_ordered(h, whole, present),
        "hierarchical": lambda h: emd_hierarchical(h, whole, parent or {}),
    }[distance]
    return max(of_class(h) for h in histograms(rows, column, know_others))


def shares(h: Mapping[Hashable, int]) -> dict[Hashable, Fraction]:
    """The share of every value of a class."""
    n = sum(h.values())
    return {v: Fraction(c, n) for v, c in h.items()}


def alpha(h: Mapping[Hashable, int], value: Hashable = None) -> Fraction:
    """The share of one value, or else the largest."""
    found = shares(h)
    return max(found.values()) if value is None else found.get(value, Fraction(0))


def filled(h: Mapping[Hashable, int], bounds: Mapping[Hashable, float], bound: float) -> Fraction:
    """The largest share in units of its bound."""
    return max(share / exact(bounds.get(v, bound)) for v, share in shares(h).items())


def spread(h: Mapping[Hashable, int], k: int) -> Fraction | float:
    """Largest minus smallest number of a class, missing ones apart; minus infinity with fewer than k different ones."""
    numbers = [exact(v) for v in h if v is not None]  # type: ignore[arg-type]
    return max(numbers) - min(numbers) if len(numbers) >= k else -math.inf


def proximity(h: Mapping[Hashable, int], epsilon: float, relative: bool) -> Fraction:
    """The largest share of a class near to one of its numbers; a missing one is near to missing ones only."""

    def near(y: Hashable, s: Hashable) -> bool:
        if y is None or s is None:
            return y is s
        reach = exact(epsilon) * (abs(exact(s)) if relative else 1)  # type: ignore[arg-type]
        return abs(exact(y) - exact(s)) <= reach  # type: ignore[arg-type]

    return max(Fraction(sum(c for y, c in h.items() if near(y, s)), sum(h.values())) for s in h)


def gain(h: Mapping[Hashable, int], whole: Mapping[Hashable, int], beta: float, form: str) -> Fraction | float:
    """The largest gain of a value's share over that in the table, scaled so that its bound is beta."""
    q = shares(whole)
    worst: Fraction | float = Fraction(0)
    for v, p in shares(h).items():
        more: Fraction | float = (p - q[v]) / q[v]
        surprise = -math.log(q[v])
        if form == "enhanced" and more > 0 and surprise < beta:
            more = float(more) * beta / surprise
        worst = max(worst, more)
    return worst


def ratio(h: Mapping[Hashable, int], whole: Mapping[Hashable, int], absent: str) -> Fraction | float:
    """The largest ratio of a value's shares in class and table, or the other way round."""
    p, q = shares(h), shares(whole)
    if absent == "violates" and set(p) != set(q):
        return math.inf
    return max(max(p[v] / q[v], q[v] / p[v]) for v in p)


def discloses(worst: Fraction | float, delta: float, logarithm: str) -> bool:
    """Whether the logarithm of a ratio reaches delta, in integers where the base is one."""
    if logarithm == "natural" or math.isinf(worst):
        return math.log(worst) >= delta
    power = exact(delta)
    base = {"binary": 2, "decimal": 10}[logarithm]
    return worst**power.denominator >= base**power.numerator


def breach(rows: Sequence[Row], column: int, guard: int, parent: Mapping[Hashable, Hashable]) -> Fraction:
    """The largest share of a record's class whose value lies under the record's own guarding node."""

    def under(value: Hashable, node: Hashable) -> bool:
        while value not in (node, ("inner", node)) and value in parent:
            value = parent[value]
        return value in (node, ("inner", node))

    classes: dict[Hashable, list[tuple[Hashable, ...]]] = defaultdict(list)
    for quasi, sensitive in rows:
        classes[quasi].append(sensitive)
    return max(
        Fraction(sum(own[guard] is not None and under(other[column], own[guard]) for other in members), len(members))
        for members in classes.values()
        for own in members
    )


def meets(
    rows: Sequence[Row],
    criterion: str,
    column: int = 0,
    *,
    order: Sequence[Hashable] = (),
    parent: Mapping[Hashable, Hashable] | None = None,
    **asked: Any,
) -> bool:
    """Whether published rows keep a promise, given by the name and the parameters of a criterion.

    The guard of personalized privacy is the position of a column, as `column` is.
    """
    others = bool(asked.get("know_others", False))
    classes = histograms(rows, column, others) if rows[0][1] else []
    whole = table(rows, column) if rows[0][1] else Counter()
    if criterion in ("k-anonymity", "k-indistinguishability"):
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
    if criterion == "max-risk":
        return exact(asked["risk"]) * k(rows) >= 1
    if criterion == "alpha-k-anonymity":
        small = min(sum(h.values()) for h in classes) < asked["k"]
        return not small and all(alpha(h, asked["value"]) <= exact(asked["alpha"]) for h in classes)
    if criterion == "confidence-bounding":
        return all(filled(h, asked["bounds"], asked["bound"]) <= 1 for h in classes)
    if criterion == "k-e-anonymity":
        return all(spread(h, asked["k"]) >= exact(asked["e"]) for h in classes)
    if criterion == "epsilon-m-anonymity":
        return all(proximity(h, asked["epsilon"], asked["relative"]) * asked["m"] <= 1 for h in classes)
    if criterion == "beta-likeness":
        return all(gain(h, whole, asked["beta"], asked["form"]) <= exact(asked["beta"]) for h in classes)
    if criterion == "delta-disclosure":
        ratios = [ratio(h, whole, asked["absent"]) for h in classes]
        return not any(discloses(r, asked["delta"], asked["logarithm"]) for r in ratios)
    if criterion == "personalized-privacy":
        return breach(rows, column, asked["guard"], parent or {}) <= exact(asked["p_breach"])
    raise KeyError(criterion)


def classes_by(rows: Iterable[Row], x: Sequence[int] | None = None) -> dict[Hashable, list[tuple[Hashable, ...]]]:
    """The values of the rows that share the quasi texts at some positions (all of them if none are given)."""
    classes: dict[Hashable, list[tuple[Hashable, ...]]] = defaultdict(list)
    for quasi, values in rows:
        classes[quasi if x is None else tuple(quasi[j] for j in x)].append(values)
    return classes


def distinct_y(rows: Iterable[Row], column: int, x: Sequence[int] | None = None) -> int:
    """The smallest number of different values of a column in a class."""
    return min(len({values[column] for values in members}) for members in classes_by(rows, x).values())


def confidence(
    rows: Iterable[Row], column: int, value: Hashable = None, x: Sequence[int] | None = None, person: int | None = None
) -> Fraction:
    """The largest share of a class that has a value (the commonest if none is named), by rows or by people."""
    worst = Fraction(0)
    for members in classes_by(rows, x).values():
        keys = [i if person is None else values[person] for i, values in enumerate(members)]
        for wanted in {values[column] for values in members} if value is None else {value}:
            having = {key for key, values in zip(keys, members, strict=True) if values[column] == wanted}
            worst = max(worst, Fraction(len(having), len(set(keys))))
    return worst


def lkc(rows: Sequence[Row], l: int, column: int) -> tuple[int, Fraction]:  # noqa: E741
    """The smallest class and the largest share of a value, over all sets of at most l quasi-identifiers."""
    d = len(rows[0][0])
    known = [x for n in range(1, min(l, d) + 1) for x in combinations(range(d), n)]
    sizes = [len(members) for x in known for members in classes_by(rows, x).values()]
    return min(sizes), max(confidence(rows, column, x=x) for x in known)


def average_risk(rows: Sequence[Row]) -> Fraction:
    """The mean over rows of one over the size of their class."""
    classes = classes_by(rows)
    return sum((Fraction(1, len(classes[quasi])) for quasi, _ in rows), Fraction(0)) / len(rows)


def n_t(
    rows: Sequence[Row],
    column: int,
    n: int,
    distance: str = "equal",
    order: Sequence[Hashable] = (),
    parent: Mapping[Hashable, Hashable] | None = None,
) -> Fraction:
    """The largest, over classes, of the least distance to a set of n rows or more that share some of their texts.

    2 where there is no such set.
    """
    whole = table(rows, column)
    present = [value for value in order if value in whole]
    worst = Fraction(0)
    for quasi in {quasi for quasi, _ in rows}:
        own = Counter(values[column] for texts, values in rows if texts == quasi)
        best = Fraction(2)
        for size in range(len(quasi) + 1):
            for x in combinations(range(len(quasi)), size):
                known = Counter(v[column] for texts, v in rows if all(texts[j] == quasi[j] for j in x))
                if sum(known.values()) < n:
                    continue
                if distance == "equal":
                    best = min(best, emd_equal(own, known))
                elif distance == "ordered":
                    best = min(best, emd_ordered(own, known, present))
                else:
                    best = min(best, emd_hierarchical(own, known, parent or {}))
        worst = max(worst, best)
    return worst
