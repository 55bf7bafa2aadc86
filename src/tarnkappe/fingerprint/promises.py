"""What copies of a scheme can promise, and what becomes of them under attack."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tarnkappe.fingerprint.attacks import ATTACKS, Bench, Outcome, outcome, robustness
from tarnkappe.fingerprint.keys import Key
from tarnkappe.fingerprint.scheme import Scheme

#: Positions per squared number of colluders and nat of certainty that traced colluders in tests (theory: about 4.93).
_PER_COLLUDER = 4.0


def positions_needed(recipients: int, colluders: int, alpha: float) -> int:
    r"""How long a code must be to find one of c colluders among n recipients.

    .. math:: m \approx 4\, c^2 \ln(2 n / \alpha)

    >>> positions_needed(100, 2, 1e-3), positions_needed(5, 1, 1e-3)
    (196, 37)
    """
    return math.ceil(_PER_COLLUDER * colluders**2 * math.log(2 * recipients / alpha))


def colluders_carried(positions: int, recipients: int, alpha: float) -> int:
    """Up to how many colluders so many positions are enough for; 0: not even one recipient alone is certain.

    >>> colluders_carried(198, 100, 1e-3)
    2
    """
    return int(math.sqrt(positions / (_PER_COLLUDER * math.log(2 * recipients / alpha))))


def bench_of(scheme: Scheme, key: Key, *, seed: int = 0, runs: int = 20) -> tuple[Outcome, ...]:
    """Attack copies of a scheme in memory, for as many recipients as it was planned for."""
    own = scheme.key(key)
    bench = Bench(scheme.layout, own, scheme.recipients, scheme.alpha, scheme.colluders)
    return robustness(bench, np.random.Generator(np.random.Philox(seed)), runs=runs)


def statements(scheme: Scheme) -> tuple[str, ...]:
    """What copies of a scheme can promise, and what nobody can."""
    layout, n = scheme.layout, scheme.recipients
    have, need = layout.n_positions, positions_needed(n, scheme.colluders, scheme.alpha)
    carried = colluders_carried(have, n, scheme.alpha)
    out = [
        f"Whoever pools copies, however many, learns no more than the base pattern {list(scheme.base)}: "
        "every criterion still holds.",
        f"Marks have {have} positions; {need} are wanted for {n} recipients and {scheme.colluders} colluders.",
    ]
    if scheme.patterns:
        out.append(
            f"{len(scheme.patterns)} patterns can be handed out, each to one recipient. A pattern alone is no proof: "
            "somebody else may have generalised in the same way."
        )
    if carried >= scheme.colluders:
        out.append(f"Up to {carried} colluders: one of them is found with high probability.")
    elif carried:
        out.append(f"The data carry enough marks for {carried} of the {scheme.colluders} colluders only.")
    else:
        out.append("The data cannot carry enough marks: a leak may not be traced. Nobody innocent is accused anyway.")
    if not have:
        return tuple(out)
    marked = np.unique(layout.pairs).tolist()
    out += [
        f"An innocent recipient is accused with a probability of at most {scheme.alpha:g}, whatever is done to a leak.",
        "Sorting, shuffling, and other names of columns or spellings of labels do not touch marks; new names for all "
        "labels need a list of what they stand for.",
        f"Coarsening all of {', '.join(scheme.columns.names[j] for j in marked)} by a level removes all marks, and "
        "costs as much detail everywhere.",
    ]
    return tuple(out)


#: What a plan measures: attacks by name, at which strengths; 0 stands for all marked columns.
_MEASURED: dict[str, tuple[float, ...]] = {
    "delete-rows": (0.5, 0.9, 0.99),
    "add-rows": (1.0,),
    "alter-cells": (0.1, 0.2),
    "delete-columns": (1, 2, 3),
    "coarsen": (1, 2, 0),
    "rename-labels": (0.1, 0.25, 0.5),
    "guess": (0.5, 1.0),
    "mix-rows": (2, 3),
    "merge": (2, 3),
    "blur": (2, 3),
}

#: An attack is survived if at least this share of leaks is traced.
_SURVIVED = 0.9


def survival(scheme: Scheme, key: Key, *, seed: int = 0, runs: int = 10) -> tuple[Outcome, ...]:
    """Put imagined copies through what a plan has to answer for."""
    if not scheme.layout.n_positions:
        return ()
    bench = Bench(scheme.layout, scheme.key(key), scheme.recipients, scheme.alpha, scheme.colluders)
    rng = np.random.Generator(np.random.Philox(seed))
    by_name = {a.name: a for a in ATTACKS}
    colluding = {"mix-rows", "merge", "blur"}
    most = dict.fromkeys(colluding, scheme.recipients) | {"delete-columns": len(scheme.columns.names) - 1}
    out = []
    for name, strengths in _MEASURED.items():
        for strength in strengths:
            wanted = strength or len(np.unique(scheme.layout.pairs))
            if wanted <= most.get(name, math.inf):
                out.append(outcome(bench, by_name[name], wanted, rng, runs))
    return tuple(out)


def survival_statements(outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    """What copies were found to survive, and what not, with the share traced."""
    if not outcomes:
        return ()
    runs, out = outcomes[0].runs, []
    kept, lost = [], []
    for name in dict.fromkeys(o.attack for o in outcomes):
        own = [o for o in outcomes if o.attack == name]
        failed = next((i for i, o in enumerate(own) if o.traced_share < _SURVIVED), len(own))
        kept += [o.words for o in own[:failed][-1:]]  # and all that is weaker
        lost += [f"{o.words} ({o.traced} of {runs} traced)" for o in own[failed : failed + 1]]
    if kept:
        out.append(f"Survives, measured on {runs} imagined leaks each, up to: {'; '.join(kept)}.")
    if lost:
        out.append(f"Does not survive: {'; '.join(lost)}.")
    return tuple(out)
