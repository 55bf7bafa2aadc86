"""Tracing: who is behind a leak, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np

from tarnkappe.arrays import Flags, Floats
from tarnkappe.fingerprint.code import TardosCode, tail, weights_of, weights_of_votes
from tarnkappe.fingerprint.keys import DatasetKey, Key
from tarnkappe.fingerprint.leaks import Opened, open_leak
from tarnkappe.fingerprint.reading import Evidence, Leak, read_marks
from tarnkappe.fingerprint.register import Register
from tarnkappe.fingerprint.scheme import Scheme, require_alpha

#: How surely somebody who acted alone has the symbol that was read.
_ALONE = 0.95

#: Accused whose marks are shown side by side.
_MOST_COPIES = 3

__all__ = ["Suspect", "Trace", "code_book", "score_book", "score_recipients", "trace"]


@dataclass(frozen=True)
class Suspect:
    """A recipient, how well the leak fits, and how likely an innocent fits so well, for any of all recipients.

    `p_value` is corrected: it bounds the chance that *anybody* who is innocent reaches such a score (Bonferroni).
    """

    recipient: str
    score: float
    p_value: float
    accused: bool
    #: Clear positions that agree with the recipient's bits, and all clear positions.
    agree: int
    clear: int


@dataclass(frozen=True, eq=False)
class Trace:
    """All recipients, the most suspect first; those accused, or nobody."""

    suspects: tuple[Suspect, ...]
    alpha: float
    evidence: Evidence
    opened: Opened | None = None
    #: Recipients whose pattern a leak with its levels can come from, where patterns were handed out; no proof.
    fitting: tuple[str, ...] | None = None
    #: Clear marks in which somebody who had nothing to do with the leak agrees, on average.
    expected: float = 0.0
    #: The marks of those accused: which of two columns each place of their copies coarsens.
    copies: Mapping[str, Flags] = field(default_factory=dict)
    #: Where no single pattern fits: the smallest sets of recipients who together could have made it.
    coalitions: tuple[tuple[str, ...], ...] = ()

    @property
    def accused(self) -> tuple[str, ...]:
        """The recipients whose copies were used, as far as that is proved."""
        return tuple(s.recipient for s in self.suspects if s.accused)

    @property
    def verdict(self) -> str:
        """The result in a few words."""
        if not self.suspects:  # that nobody is accused then says nothing about anybody
            return "no accusation: the register names no recipient of these data"
        if not self.accused:
            return "no accusation"
        return f"made from the {'copy' if len(self.accused) == 1 else 'copies'} of {' and '.join(self.accused)}"

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain data, for ``--json``."""
        evidence, opened = self.evidence, self.opened
        understood = {} if opened is None else {a: (b, opened.understood[b]) for a, b in opened.columns.items()}
        return {
            "verdict": self.verdict,
            "accused": list(self.accused),
            "alpha": self.alpha,
            "suspects": [asdict(s) for s in self.suspects],
            "rows": evidence.n_rows,
            "strange_rows": int(evidence.strange),
            "positions": len(evidence.likely),
            "positions_read": evidence.read,
            "agree_by_chance": round(self.expected, 1),
            "positions_with_both": int(evidence.both.sum()),
            "columns": [{"leak": a, "copies": b, "understood": share} for a, (b, share) in understood.items()],
            "fitting": None if self.fitting is None else list(self.fitting),
            "coalitions": [list(c) for c in self.coalitions],
        }


def trace(
    leak: Any,
    scheme: Scheme,
    key: Key | DatasetKey,
    register: Register,
    *,
    labels: Mapping[str, Mapping[str, str]] | None = None,
    alpha: float | None = None,
) -> Trace:
    """Find out whose copies a leak was made of: suspects with p-values, or no accusation.

    `leak` is a file or a frame with any rows and columns of copies, whatever was done to them. All recipients in the
    register are suspects; a name that is not there cannot be accused. See `open_leak` for `labels`.
    """
    risk = scheme.alpha if alpha is None else alpha
    require_alpha(risk)
    opened = open_leak(leak, scheme, labels)
    recipients = register.recipients(scheme.dataset)
    evidence = read_marks(opened.leak, scheme.layout)
    code = scheme.code(scheme.key(key))
    found = score_recipients(evidence, code, recipients, alpha=risk, colluders=scheme.colluders)
    fitting: tuple[str, ...] | None = None
    together: tuple[tuple[str, ...], ...] = ()
    if scheme.patterns:
        seen = levels_of(opened.leak, scheme)
        patterns = {r: e.pattern for r in recipients if (e := register.find(scheme.dataset, r)) is not None}
        fitting = tuple(r for r, p in patterns.items() if _explains([p], seen))
        together = () if fitting else _coalitions(patterns, seen, scheme.colluders)
    return replace(found, opened=opened, fitting=fitting, coalitions=together)


def _explains(patterns: Sequence[tuple[int, ...]], seen: tuple[int, ...]) -> bool:
    """Whether recipients of these patterns can publish something with these levels (-1: the column is not there)."""
    return all(min(levels) <= level for *levels, level in zip(*patterns, seen, strict=True) if level >= 0)


def _coalitions(
    patterns: Mapping[str, tuple[int, ...]], seen: tuple[int, ...], most: int
) -> tuple[tuple[str, ...], ...]:
    """The smallest sets of recipients whose patterns explain the levels together."""
    for size in range(2, most + 1):
        found = [c for c in combinations(patterns, size) if _explains([patterns[r] for r in c], seen)]
        if found:
            return tuple(found)
    return ()


def levels_of(leak: Leak, scheme: Scheme) -> tuple[int, ...]:
    """The finest level that a fair share of the cells of each column has; -1 for a column that is not there.

    One row is enough where labels of different levels differ.
    """
    out = []
    for j, tree in enumerate(scheme.columns.trees):
        node = leak.node[:, j]
        known = node >= 0
        total = leak.count[known].sum()
        found = -1 if not total else tree.height
        for level in range(scheme.base[j], tree.height):
            above = tree.ancestors[level][tree.lo[node[known]]]
            fine = (tree.lo[above] <= tree.lo[node[known]]) & (tree.hi[node[known]] <= tree.hi[above])
            if total and leak.count[known][fine].sum() >= 0.02 * total:
                found = level
                break
        out.append(found)
    return tuple(out)


def score_recipients(
    evidence: Evidence, code: TardosCode, recipients: Sequence[str], *, alpha: float = 1e-3, colluders: int = 2
) -> Trace:
    """Compare what was read with the bits of every recipient.

    An innocent's bits were drawn independently of everything that was read, so the bound on the p-value holds for any
    attack: P(anybody innocent is accused) ≤ alpha, as long as the key is secret.
    """
    book = code_book(code, recipients)
    return score_book(evidence, code.biases(), book, recipients, alpha=alpha, colluders=colluders)


def code_book(code: TardosCode, recipients: Sequence[str]) -> Flags:
    """The bits of all recipients, one row each."""
    book = np.zeros((len(recipients), code.n_positions), np.bool_)
    for row, recipient in zip(book, recipients, strict=True):
        row[:] = code.bits(recipient)
    return book


def score_book(
    evidence: Evidence, bias: Floats, book: Flags, recipients: Sequence[str], *, alpha: float, colluders: int
) -> Trace:
    """The same for a book of bits that is at hand."""
    strict, both = evidence.strict, evidence.both
    zero, one, _ = evidence.likely.T
    votes = (zero, one, evidence.certainty, bias)
    ways = [
        weights_of(strict, both, bias, colluders),
        weights_of_votes(*votes, _ALONE),
        weights_of_votes(*votes, 1.0 / max(colluders, 2)),
    ]
    if evidence.guessed is not None:
        ways.append(weights_of(evidence.guessed, np.zeros_like(both), bias, colluders))
    reached = np.stack([(book - bias) @ weight for weight in ways])
    chances = np.stack([tail(weight, bias, found) for weight, found in zip(ways, reached, strict=True)])
    better = chances.argmin(axis=0)
    scores, least = (np.take_along_axis(x, better[None], axis=0)[0] for x in (reached, chances))
    p_values = np.minimum(least * len(ways) * len(recipients), 1.0)
    clear = strict != 0
    agree = ((book == (strict > 0)) & clear).sum(axis=1)
    order = np.lexsort((np.arange(len(recipients)), -scores, p_values))
    suspects = tuple(
        Suspect(
            recipients[u],
            float(scores[u]),
            float(p_values[u]),
            bool(p_values[u] < alpha),
            int(agree[u]),
            int(clear.sum()),
        )
        for u in order
    )
    expected = float(np.where(strict > 0, bias, 1 - bias)[clear].sum())
    shown = [u for i, u in enumerate(order.tolist()) if suspects[i].accused][:_MOST_COPIES]
    return Trace(suspects, alpha, evidence, expected=expected, copies={recipients[u]: book[u] for u in shown})
