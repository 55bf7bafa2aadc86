"""Whether those who were left out are like the others."""

from __future__ import annotations

import numpy as np
import polars as pl

import tarnkappe as tk
from tarnkappe.left_out import _parts
from tarnkappe.report import render_report
from tarnkappe.tally import Domain
from tarnkappe.taxonomy import Taxonomy


def released(frame: pl.DataFrame, **settings: object) -> tk.Release:
    quasi = {"age": tk.numeric(), "town": tk.tree({"west": ["Köln", "Bonn"], "east": ["Jena", "Gera"]})}
    job = tk.Job(quasi=quasi, sensitive=["illness"], criteria=[tk.KAnonymity(5)], **settings)  # type: ignore[arg-type]
    return job.anonymize(frame, seed=1)


def people(n: int, old_in_gera: int) -> pl.DataFrame:
    rng = np.random.default_rng(1)
    young = {"age": rng.integers(20, 40, n), "town": rng.choice(["Köln", "Bonn", "Jena"], n)}
    old = {"age": rng.integers(70, 99, old_in_gera), "town": ["Gera"] * old_in_gera}
    frame = pl.concat([pl.DataFrame(young), pl.DataFrame(old)])
    return frame.with_columns(illness=pl.Series(rng.choice(["flu", "gout"], frame.height)))


def test_a_kind_of_people_that_disappears_is_told_to_the_publisher_only():
    release = released(people(2000, 20), algorithm="flash", max_suppressed=0.02)
    assert release.n_suppressed >= 10
    worst = {(b.column, b.part): b for b in release.left_out}
    assert worst["town", "east"].times > 1.5
    assert worst["town", "east"].records <= release.n_suppressed
    for bias in release.left_out:
        among_all = bias.share * release.n_input
        assert bias.records <= round(among_all)
        assert np.isclose(bias.share_left_out, bias.records / release.n_suppressed)
    internal = render_report(release, audience="internal")
    assert "Who was left out" in internal
    assert "Who was left out" not in render_report(release)
    assert release.for_readers().left_out == ()
    assert release.for_readers().sizes_before == ()


def test_nobody_left_out_is_no_bias():
    assert released(people(500, 0), algorithm="mondrian").left_out == ()


def test_sizes_before_count_everybody():
    release = released(people(300, 3), algorithm="mondrian")
    assert sum(size * n for size, n in release.sizes_before) == release.n_input
    assert dict(release.sizes_before).get(1, 0) == release.unique_before


def test_a_gap_that_stands_alone_is_a_part_of_its_own():
    """A quarter of the scale with nothing but the gap left a part without values, and a crash."""
    scale = Taxonomy.scale(["30"]).with_missing("(missing)")
    part, names = _parts(Domain("age", scale, np.array([30.0, np.nan]), missing=1), np.array([40, 40]))
    assert part.tolist() == [0, 1]
    assert names == ["30", "(missing)"]
