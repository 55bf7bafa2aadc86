"""The chance of being found: after for everybody, before for the publisher only."""

from __future__ import annotations

import polars as pl

import tarnkappe as tk
from tarnkappe.report import render_report


def test_the_chances_are_those_of_the_groups():
    frame = pl.DataFrame({"age": [20] * 5 + [30] * 5 + [40, 41, 42, 43, 44], "illness": ["flu", "gout", "ache"] * 5})
    job = tk.Job(quasi={"age": tk.numeric()}, sensitive=["illness"], criteria=[tk.KAnonymity(5)])
    release = job.anonymize(frame, seed=1)
    assert release.group_sizes == ((5, 3),)
    public, internal = (" ".join(render_report(release, audience=a).split()) for a in ("public", "internal"))
    assert "a chance of 20.0 % on average, and of 20.0 % for the most exposed record" in public
    assert "original data" not in public.split('id="risk"')[1].split("</section>")[0]
    # Seven combinations among fifteen records, five of them with a record of their own.
    assert (
        "In the original data it was 46.7 % on average, and 33.3 % of the records had a chance above 20.0 %" in internal
    )


def test_a_rounded_chance_is_not_called_a_bound():
    """One in 14 is 7.14 %, of which "at most 7.1 %" is not true."""
    frame = pl.DataFrame({"age": [20] * 14 + [30] * 20, "illness": ["flu", "gout"] * 17})
    job = tk.Job(quasi={"age": tk.numeric()}, sensitive=["illness"], criteria=[tk.KAnonymity(14)])
    public = " ".join(render_report(job.anonymize(frame, seed=1), audience="public").split())
    assert "and of 7.1 % for the most exposed record" in public


def test_a_chance_that_counts_records_is_not_that_of_a_person_who_has_several():
    """Of a group of 9 records 5 are one person's, whom a guess finds with a chance of 5 in 9 and not of 1 in 9."""
    frame = pl.DataFrame({"who": [0] * 5 + [1, 2, 3, 4], "age": [20] * 9, "illness": ["flu", "gout", "ache"] * 3})
    people = tk.Job(
        subject="who", quasi={"age": tk.numeric()}, sensitive=["illness"], criteria=[tk.XYAnonymity("who", 5)]
    )
    rows = tk.Job(identifiers=["who"], quasi={"age": tk.numeric()}, sensitive=["illness"], criteria=[tk.KAnonymity(5)])
    for job, audience in ((people, "public"), (people, "internal"), (rows, "internal")):
        page = " ".join(render_report(job.anonymize(frame, seed=1), audience=audience).split())
        assert "for the most exposed record. That is if every person has one record in it; who has more" in page
        assert ("One row is one person." in page) == (job is rows)
    alone = rows.anonymize(frame.with_columns(who=pl.Series(range(9))), seed=1)
    assert "who has more of them" not in render_report(alone, audience="internal")
