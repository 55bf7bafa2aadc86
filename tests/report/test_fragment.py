import pytest

from tarnkappe.columns import ColumnSummary
from tarnkappe.criteria import Verdict
from tarnkappe.errors import Notice
from tarnkappe.report import render_fragment

from .conftest import PRIVATE, make_job, make_release
from .test_page import ATTACKS, Reader


def test_a_fragment_changes_nothing_around_it(release):
    reader = Reader(render_fragment(release))
    assert {t for t, _ in reader.tags} <= {
        *("div", "p", "strong", "span", "table", "thead", "tbody", "tr", "th", "td", "details", "summary")
    }
    assert not [k for _, attrs in reader.tags for k in attrs if k in ("class", "id")]


def test_a_fragment_tells_the_story(release):
    words = Reader(render_fragment(release)).words.replace("\u00a0", " ")
    for part in (
        "✓ Verified, with 2 alerts: every record shares its age, education, sex and zip with at least 4 others.",
        "26 010 of 26 071 records published in 4 012 groups, the smallest of 5 records, 61 records suppressed, "
        "detail kept 73.6 %.",
        "Distinct l-diversity on salary-class≥ 22✓ satisfied",
        "W605 In 212 groups",
        "Removed: ssn, fnlwgt.",
        "44.9 %",
        "lower is better",
    ):
        assert part in words


def test_notebooks_show_it(release):
    assert release._repr_html_() == render_fragment(release)


def test_a_fragment_is_public():
    shown = render_fragment(make_release(unique_before=98_765))
    assert str(PRIVATE["seed"]) not in shown
    assert "canary" not in shown
    assert "98,765" not in shown
    assert "98\u00a0765" not in shown


def test_a_broken_promise_is_not_called_verified():
    shown = render_fragment(make_release(verdicts=(Verdict("k-anonymity", None, "k-anonymity ≥ 5", 3.0, False, 7),)))
    assert "✗ Not verified" in shown
    assert "Verified:" not in shown


@pytest.mark.parametrize("attack", ATTACKS)
def test_whatever_comes_from_data_or_job_is_text(attack):
    release = make_release(
        job=make_job(title=attack),
        columns=(ColumnSummary(attack, "quasi", attack, None, 0.5), ColumnSummary(attack, "drop", "")),
        notices=(Notice("W601", attack),),
        verdicts=(Verdict(attack, attack, attack, 5.0, True, 0),),
    )
    reader = Reader(render_fragment(release))
    assert not {"script", "img", "b", "style"} & {t for t, _ in reader.tags}
    assert attack in reader.words


def test_a_fragment_stays_compact():
    columns = tuple(ColumnSummary(f"q{i}", "quasi", "intervals", None, 0.5) for i in range(200))
    shown = render_fragment(make_release(columns=columns))
    assert len(shown) < 30_000
    assert "170 more columns not shown here." in shown


def test_notebooks_show_tables_of_everything_else():
    """Checks, attacks and advice, too; each has a row for what it is about."""
    import polars as pl

    import tarnkappe as tk

    people = pl.DataFrame({"age": [20, 21, 30, 31] * 5, "illness": ["flu", "gout", "cold", "flu"] * 5})
    job = tk.Job(quasi={"age": tk.numeric()}, sensitive=["illness"], criteria=[tk.KAnonymity(5)])
    release = job.anonymize(people, seed=1)
    checked = tk.verify(release.table, [tk.KAnonymity(5), tk.LDiversity("illness", 9)], ["age"], ["illness"])
    assert checked.table["ok"].to_list() == [True, False]
    attacked = tk.attack(["homogeneity", "attribute-linkage"], release, known=people)
    assert attacked.table["attack"].to_list() == ["homogeneity", "attribute-linkage"]
    advice = tk.advise(job, people)
    assert advice.table.height == len(advice.changes) > 0
    for shown in (checked, attacked, advice):
        assert "<table" in shown._repr_html_()
