"""The temporal attack."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from tarnkappe.attacks.base import AttackCard, Finding, Need, SequelAttack
from tarnkappe.attacks.scene import Scene
from tarnkappe.wording import percent, plural

_BEFORE, _AFTER, _CHANGE = " b", " a", " c"


@dataclass(frozen=True)
class Temporal(SequelAttack):
    r"""An earlier and a later release are compared: what is new in a group belongs to those who are new.

    In every group that both releases have, by its labels, the secrets of the earlier one are taken away from those of
    the later one. If one value is left, everybody who joined the group has it; if one is missing, everybody who left
    had it. Succeeds for the share of those who joined or left whose group gives them away so. The baseline is what one
    release alone says about them for certain: the group, with the change, has one value only. A change that brings or
    takes several values to every group gives nobody away. O(groups · values).

    References
    ----------
    .. [Swe02] Sweeney. "k-anonymity: a model for protecting privacy." International Journal on Uncertainty, Fuzziness
       and Knowledge-based Systems 2002.
    .. [XiTa07] Xiao, Tao. "m-invariance: towards privacy preserving re-publication of dynamic datasets." SIGMOD 2007.
    """

    name: ClassVar = "temporal"
    title: ClassVar = "temporal attack"
    card: ClassVar = AttackCard(
        attacker="has an earlier and a later release, and knows who joined or left in between.",
        success="the secret of somebody who joined or left is the only thing that changed in their group.",
        baseline="what one release alone says for certain about those who joined or left.",
        remedy="add or remove several people with different secrets to a group at a time (m-invariance)",
    )
    needs: ClassVar[tuple[Need, ...]] = ("quasi", "sensitive", "other", "rows")

    def carry_out(self, scene: Scene) -> Finding:
        """The share of those who joined or left that are given away."""
        column = self.of(scene)
        earlier, later = scene.others[0].frame, scene.release.frame
        keys = [c for c in scene.names if c in earlier.columns and c in later.columns and c != column]
        both = [
            frame.select(pl.col(*keys, column).cast(pl.String)).group_by(*keys, column).agg(pl.len().cast(pl.Int64))
            for frame in (earlier, later)
        ]
        before, after = both[0].rename({"len": _BEFORE}), both[1].rename({"len": _AFTER})
        cells = before.join(after, on=[*keys, column], how="full", coalesce=True, nulls_equal=True)
        cells = cells.with_columns(pl.col(_BEFORE, _AFTER).fill_null(0))
        cells = cells.with_columns((pl.col(_AFTER) - pl.col(_BEFORE)).alias(_CHANGE))
        joined, left = pl.col(_CHANGE) > 0, pl.col(_CHANGE) < 0
        groups = cells.group_by(keys).agg(
            pl.col(_CHANGE).filter(joined).sum().alias("joined"),
            -pl.col(_CHANGE).filter(left).sum().alias("left"),
            joined.sum().alias("new"),
            left.sum().alias("gone"),
            (pl.col(_AFTER) > 0).sum().alias("after"),
            (pl.col(_BEFORE) > 0).sum().alias("before"),
        )
        n = int(groups.select((pl.col("joined") + pl.col("left")).sum()).item())
        new, gone, now, then = (groups[c].to_numpy() == 1 for c in ("new", "gone", "after", "before"))
        joiners, leavers = groups["joined"].to_numpy(), groups["left"].to_numpy()
        told = int(joiners[new].sum() + leavers[gone].sum())
        plain = int(joiners[now].sum() + leavers[then].sum())
        sentence = (
            f"Of {plural(n, 'person', 'people')} who joined or left between two releases, the {column} of "
            f"{percent(told / n if n else 0.0)} is the only one that changed in their group."
        )
        return self.found(told, n, plain / n if n else 0.0, sentence, column=column)
