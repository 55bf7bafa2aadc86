"""Top-down specialisation in plain Python: everything is counted anew at each step."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np

from tarnkappe.algorithms.subtree.target import information_gain
from tarnkappe.tally import Tally

Part = frozenset[int]


class PlainSpecialisation:
    """The cut of every column as a list of (node, leaves); a range interval has the node of the range."""

    def __init__(self, tally: Tally, target: str, k: int, *, siblings: bool) -> None:
        self.tally, self.k, self.siblings = tally, k, siblings
        self.classes = tally.sensitive[:, tally.sensitive_index(target)]
        self.n_classes = int(self.classes.max()) + 1
        self.cuts: list[list[tuple[int, Part]]] = []
        for j, domain in enumerate(tally.quasi_domains):
            self.cuts.append(self._opened(j, 0, frozenset(range(domain.size))))
        self.dropped: set[tuple[int, int, Part]] = set()

    def _filled(self, j: int, leaves: Part) -> Part:
        return leaves & {int(code) for code in self.tally.quasi[:, j]}

    def _opened(self, j: int, node: int, leaves: Part) -> list[tuple[int, Part]]:
        """Go down while only one child has records."""
        tree = self.tally.quasi_domains[j].taxonomy
        children = [int(c) for c in np.flatnonzero(tree.parent == node)]
        filled = self._filled(j, leaves)
        if not filled or not children or (tree.ranges[node] and len(filled) > 1):
            return [(node, leaves)]
        holding = [c for c in children if filled & set(range(tree.lo[c], tree.hi[c] + 1))]
        if len(holding) > 1:
            return [(node, leaves)]
        inside = leaves & set(range(tree.lo[holding[0]], tree.hi[holding[0]] + 1))
        outside = [(node, leaves - inside)] if leaves - inside else []
        return outside + self._opened(j, holding[0], inside)

    def _candidates(self, j: int, node: int, leaves: Part) -> list[list[tuple[int, Part]]]:
        """What may take the place of a value."""
        tree = self.tally.quasi_domains[j].taxonomy
        filled = sorted(self._filled(j, leaves))
        if len(filled) < 2:
            return []
        if tree.ranges[node]:
            return [
                [(node, frozenset(x for x in leaves if x <= last)), (node, frozenset(x for x in leaves if x > last))]
                for last in filled[:-1]
            ]
        parts = []
        for c in (int(c) for c in np.flatnonzero(tree.parent == node)):
            part = leaves & set(range(tree.lo[c], tree.hi[c] + 1))
            if self._filled(j, part):
                parts.append((c, part))
        if len(parts) < 2:
            return []
        rest = leaves - frozenset().union(*(part for _, part in parts))
        if not self.siblings:
            return [parts + ([(node, rest)] if rest else [])]
        return [[(c, part), (node, leaves - part)] for c, part in parts]

    def _groups(self, cuts: list[list[tuple[int, Part]]]) -> Counter[tuple[int, ...]]:
        """Records per combination of parts."""
        number = [{leaf: i for i, (_, part) in enumerate(cut) for leaf in part} for cut in cuts]
        out: Counter[tuple[int, ...]] = Counter()
        for row, n in zip(self.tally.quasi.tolist(), self.tally.count.tolist(), strict=True):
            out[tuple(number[j][code] for j, code in enumerate(row))] += n
        return out

    def _gain(self, j: int, parts: list[tuple[int, Part]]) -> float:
        counts = []
        for _, part in parts:
            h = np.zeros(self.n_classes, np.int64)
            inside = np.isin(self.tally.quasi[:, j], list(part))
            np.add.at(h, self.classes[inside], self.tally.count[inside])
            counts.append(h)
        return float(information_gain(*counts))

    def run(self) -> list[set[Part]]:
        """The leaves of each value of each column in the end."""
        while True:
            now = min(self._groups(self.cuts).values())
            options = []
            for j, cut in enumerate(self.cuts):
                for i, (node, leaves) in enumerate(cut):
                    allowed = []
                    for parts in self._candidates(j, node, leaves):
                        cuts = [list(c) for c in self.cuts]
                        cuts[j][i : i + 1] = parts
                        least = min(self._groups(cuts).values())
                        if least >= self.k:
                            allowed.append((self._gain(j, parts), least, cuts, parts))
                    if self.tally.quasi_domains[j].taxonomy.ranges[node] and allowed:
                        best = max(gain for gain, *_ in allowed)
                        allowed = [a for a in allowed if a[0] == best]
                    options += [(gain / (now - least + 1), j, i, cuts, parts) for gain, least, cuts, parts in allowed]
            if not options:
                break
            score = max(option[0] for option in options)
            ties = [option for option in options if option[0] == score]
            if len(ties) > 1:  # detail decides, which is not counted here
                return []
            _, j, i, cuts, parts = ties[0]
            cuts[j][i : i + len(parts)] = [v for node, part in parts for v in self._opened(j, node, part)]
            self.cuts = cuts
        return [{self._filled(j, part) for _, part in cut} - {frozenset()} for j, cut in enumerate(self.cuts)]


def published_parts(tally: Tally, labels: list[list[tuple[int, ...]]]) -> list[set[Part]]:
    """The codes that are published alike in each column, given the label of every cell."""
    out = []
    for j, column in enumerate(labels):
        parts: dict[tuple[int, ...], set[int]] = defaultdict(set)
        for cell, label in enumerate(column):
            parts[label].add(int(tally.quasi[cell, j]))
        out.append({frozenset(part) for part in parts.values()})
    return out
