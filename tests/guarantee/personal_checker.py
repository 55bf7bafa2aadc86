"""Checks releases with personal labels from outside: who could be whom, and how surely, in plain Python and fractions.

Nothing here uses the package. People are found in a release as an attacker finds them: by the labels that cover what is
known about them. A failed check is an `AssertionError`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product

#: A taxonomy: the values below every label, a value below itself.
Below = Mapping[str, frozenset[str]]


def below(nested: Mapping) -> dict[str, frozenset[str]]:
    """The values below every label of a nested tree."""
    out: dict[str, frozenset[str]] = {}

    def add(label: str, inside: object) -> frozenset[str]:
        parts: dict = inside if isinstance(inside, Mapping) else dict.fromkeys(inside or ())
        found = frozenset().union(*(add(k, v) for k, v in parts.items())) if parts else frozenset({label})
        out[label] = found
        return found

    for label, inside in nested.items():
        add(label, inside)
    return out


def share(label: str, guard: str, tree: Below) -> Fraction:
    """How likely a value that is published as a label lies under a guarding node, if all its values are as likely."""
    return Fraction(len(tree[label] & tree[guard]), len(tree[label]))


def breach(labels: Sequence[str], guard: str | None, n_people: int, several: bool, tree: Below) -> Fraction:
    """The chance that a person of a group has a value under the guarding node."""
    if guard is None:
        return Fraction(0)
    shares = [share(label, guard, tree) for label in labels]
    if not several:
        return sum(shares, Fraction(0)) / n_people
    spared = Fraction(1)
    for s in shares:
        spared *= 1 - s / n_people
    return 1 - spared


def breach_by_worlds(labels: Sequence[str], guard: str, n_people: int, several: bool, tree: Below) -> Fraction:
    """The same, by looking at all worlds: who has which record, and which value each record has."""
    n_bad = n_all = 0
    people = range(n_people)
    for owners in product(people, repeat=len(labels)):
        if not several and len(set(owners)) < len(labels):
            continue
        for values in product(*(sorted(tree[label]) for label in labels)):
            n_all += 1
            n_bad += any(o == 0 and v in tree[guard] for o, v in zip(owners, values, strict=True))
    return Fraction(n_bad, n_all)


def covers(label: str, value: str, tree: Below | None) -> bool:
    """Whether a label of a quasi-identifier covers a value: a node, or an interval of numbers."""
    if label.startswith("["):
        low, high = label[1:-1].split(" ")
        return int(low) <= int(value) <= int(high)
    return label in (value, "*") or (tree is not None and value in tree.get(label, ()))


def matched(labels: Sequence[str], values: Sequence[str], tree: Below) -> bool:
    """Whether every value can have a label of its own that covers it (bipartite matching)."""
    owner: dict[int, int] = {}

    def place(i: int, seen: set[int]) -> bool:
        for j, label in enumerate(labels):
            if j not in seen and values[i] in tree[label]:
                seen.add(j)
                if j not in owner or place(owner[j], seen):
                    owner[j] = i
                    return True
        return False

    return len(labels) == len(values) and all(place(i, set()) for i in range(len(values)))


def audit(
    released: Sequence[Mapping[str, str]],
    people: Sequence[Mapping[str, str | None]],
    quasi: Mapping[str, Below | None],
    secret: str,
    tree: Below,
    *,
    person: str | None = None,
) -> tuple[Fraction, int]:
    """The largest chance of a breach in a written table, and its smallest group; who is in no group is left out.

    Every group must have as many records as people whom its labels cover, with labels that can be theirs.
    """
    groups: dict[tuple, list[str]] = defaultdict(list)
    numbers: dict[tuple, set[str]] = defaultdict(set)
    for row in released:
        look = tuple(row[q] for q in quasi)
        groups[look].append(row[secret])
        numbers[look].add(row["group"])
    assert all(len(found) == 1 for found in numbers.values())
    assert len({min(found) for found in numbers.values()}) == len(groups)
    members: dict[tuple, list[Mapping[str, str | None]]] = defaultdict(list)
    for one in people:
        fitting = [g for g in groups if all(covers(t, str(one[q]), quasi[q]) for q, t in zip(quasi, g, strict=True))]
        assert len(fitting) <= 1, "two groups cover the same person"
        for g in fitting:
            members[g].append(one)
    worst = Fraction(0)
    for look, labels in groups.items():
        assert matched(labels, [str(one[secret]) for one in members[look]], tree), "labels that are nobody's"
        n = len(labels) if person is None else len({one[person] for one in members[look]})
        for guard in Counter(one["guard"] for one in members[look]):
            worst = max(worst, breach(labels, guard, n, person is not None, tree))
    return worst, min(map(len, groups.values()))
