import re
from html.parser import HTMLParser
from itertools import pairwise

import pytest

from tarnkappe import AlphaKAnonymity, KAnonymity, LDiversity, TCloseness
from tarnkappe.columns import ColumnSummary, Example
from tarnkappe.criteria import Verdict
from tarnkappe.errors import JobError, Notice
from tarnkappe.metrics import all_metrics
from tarnkappe.release import SUPPRESSION_CONVENTION
from tarnkappe.report import render_report

from .conftest import NOTICES, PRIVATE, PUBLIC, SCORES, SHA256, make_job, make_release

EDITIONS = pytest.mark.parametrize("audience", ["public", "internal"])
ATTACKS = ("<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "'; DROP", "</style><b>", "a&b")
VOID = {"meta", "br", "hr"}


class Reader(HTMLParser):
    """Reads a page as strictly as a proof-reader: every tag closed in order."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.headings, self.text, self.ids = [], [], [], [], []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.ids += [v for k, v in attrs if k == "id"]
        if tag not in VOID:
            self.open.append(tag)
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not self.open or self.open[-1] != "style":
            self.text.append(data)

    def named(self, tag):
        return [attrs for name, attrs in self.tags if name == tag]

    @property
    def words(self):
        return "".join(self.text)


@pytest.fixture(params=["public", "internal"])
def page(request, release):
    return render_report(release, request.param)


def test_a_page_is_well_formed_with_one_title_and_headings_in_order(page):
    assert page.startswith('<!DOCTYPE html>\n<html lang="en">')
    reader = Reader(page)
    assert reader.headings[0] == 1
    assert reader.headings.count(1) == 1
    assert all(b - a <= 1 for a, b in pairwise(reader.headings))
    assert len(reader.ids) == len(set(reader.ids))


def test_a_page_loads_nothing_and_runs_nothing(page):
    reader = Reader(page)
    assert not {"script", "link", "img", "iframe", "object", "embed", "form", "base"} & {t for t, _ in reader.tags}
    assert not [k for _, attrs in reader.tags for k in attrs if k.startswith("on") or k == "src"]
    assert all(a["href"].startswith("#") and a["href"][1:] in reader.ids for a in reader.named("a"))
    assert not re.search(r"https?:|@import|url\(|//", page, re.IGNORECASE)
    policy = next(m["content"] for m in reader.named("meta") if "http-equiv" in m)
    assert "default-src 'none'" in policy


def test_tables_say_what_they_are(page):
    reader = Reader(page)
    assert len(reader.named("caption")) == len(reader.named("table")) >= 4
    assert all(th.get("scope") in ("row", "col") for th in reader.named("th"))
    assert all("aria-labelledby" in svg and svg["role"] == "img" for svg in reader.named("svg"))


def test_the_style_knows_darkness_paper_and_small_screens(page):
    for query in ("prefers-color-scheme:dark", "@media print", "max-width:37.5rem", "@page"):
        assert query in page
    assert any(m.get("name") == "viewport" for m in Reader(page).named("meta"))


def test_the_verdict_comes_first_with_its_evidence(release):
    reader = Reader(render_report(release))
    sections = [i for i in reader.ids if i.isalpha()]
    after = ["codebook", "assumptions", "check"]
    assert sections == ["verdict", "alerts", "done", "protection", "risk", "groups", "detail", *after]
    words = reader.words
    assert "every record shares its age, education, sex and zip with at least 4 others." in words
    for evidence in (SHA256, "census.csv", "Tarnkappe 0.1.0", "2026-11-15 18:20 UTC", "✓ satisfied", "0.287"):
        assert evidence in words


@pytest.mark.parametrize(
    ("criteria", "verdicts", "sentence"),
    [
        (
            [KAnonymity(2)],
            [Verdict("k-anonymity", None, "k-anonymity ≥ 2", 3.0, True, 0)],
            "Verified: every record shares its age, education, sex and zip with at least 1 other.",
        ),
        (
            [LDiversity("salary-class", 2)],
            [Verdict("l-diversity", "salary-class", "l-diversity ≥ 2", 2.0, True, 0)],
            "Verified: every group satisfies distinct l-diversity on salary-class.",
        ),
        (
            [AlphaKAnonymity("salary-class", k=2, alpha=0.5)],
            [Verdict("alpha-k-anonymity", "salary-class", "share ≤ 0.5", 0.5, True, 0)],
            "Verified: every group satisfies (alpha, k)-anonymity on salary-class.",
        ),
        (
            [LDiversity("salary-class", 2), TCloseness("salary-class", 0.3)],
            [
                Verdict("l-diversity", "salary-class", "l-diversity ≥ 2", 2.0, True, 0),
                Verdict("t-closeness", "salary-class", "equal EMD ≤ 0.3", 0.2, True, 0),
            ],
            "Verified: every group satisfies all 2 criteria.",
        ),
    ],
)
def test_the_verdict_fits_the_criteria(criteria, verdicts, sentence):
    release = make_release(job=make_job(criteria), verdicts=tuple(verdicts), notices=())
    words = Reader(render_report(release)).words
    assert sentence in words
    assert "an attacker who knows these columns of a person, and no other: age, education, sex, zip." in words


def test_above_alerts_the_verdict_is_not_plain_green(release, page):
    assert release.notices
    words = Reader(page).words
    assert "Verified, with 2 alerts: every record" in words
    assert "⚠ Read the 2 alerts first." in words
    assert 'class="proof warned"' in page
    assert 'class="proof"' not in page
    plain = render_report(make_release(notices=()))
    assert 'class="proof"' in plain
    assert "Verified: every record" in plain


def test_the_cost_has_one_word_and_the_same_number_as_on_the_screen(release):
    page = render_report(release, "internal")
    words = Reader(page).words.replace("\u00a0", " ")
    assert release.detail_kept == pytest.approx(1 - 0.2642)
    assert "detail kept 73.6 %" in str(release)
    assert "Detail kept73.6 %" in words
    assert "An average cell of the quasi-identifiers has kept 73.6 %" in words
    for column in ("age 87.4 %", "education 61.3 %", "zip 44.9 %"):
        assert column in str(release)
        assert column.replace(" ", "", 1) in words
    assert "Detail lost" not in page
    assert "73.6" not in render_report(release)  # it depends on original values


def test_measures_of_the_literature_are_folded(page):
    folded = page[page.index("<summary>Measures of the literature") :]
    assert "Discernibility (DM)" in folded
    assert "Discernibility (DM)" not in page[: len(page) - len(folded)]


def test_a_broken_promise_is_never_called_verified():
    verdicts = (Verdict("k-anonymity", None, "k-anonymity ≥ 5", 3.0, False, 7),)
    words = Reader(render_report(make_release(verdicts=verdicts))).words
    assert "Verified:" not in words
    assert "Not verified: k-anonymity does not hold." in words
    assert "✗ violated" in words
    assert "must not be published" in words
    assert "Verified:" not in render_report(make_release(verdicts=()))


def test_removed_columns_are_listed_by_name_only(page):
    words = Reader(page).words
    assert "ssn, fnlwgt." in words
    assert "sampling weight reveals stratum" not in words
    assert "issued by the state" not in words


def test_each_published_column_has_its_story(release):
    internal, words = Reader(render_report(release, "internal")).words, Reader(render_report(release)).words
    for story in ("36→[35 38] 312 records", "12\u00a0034→98"):  # they depend on original values
        assert story in internal
        assert story not in words
    assert "36→" not in words
    for story in ("intervals [min max] per group", "self-reported, not in public"):
        assert story in internal
        assert story in words


def test_a_value_that_was_kept_is_not_shown_twice():
    column = ColumnSummary("sex", "quasi", "unchanged", None, 0.0, 2, 2, (Example("female", "female", 50),))
    words = Reader(render_report(make_release(columns=(column,)), "internal")).words
    assert "female 50 records, kept" in words
    assert "female→" not in words


def test_an_empty_label_is_said_in_words():
    column = ColumnSummary("age", "quasi", "intervals", None, 0.5, 3, 2, (Example("17", "", 50),))
    assert "17→empty" in Reader(render_report(make_release(columns=(column,)), "internal")).words


def test_every_score_has_its_sentence_and_direction(release):
    words = Reader(render_report(release, "internal")).words
    assert all(s.sentence in words for s in SCORES)
    assert "(precision).Higher is better." in words
    assert "241,882" in words


def test_scores_that_depend_on_original_values_are_internal(release):
    words = Reader(render_report(release)).words
    shown = {s.name for s in SCORES if s.sentence in words}
    assert shown == {s.name for s in SCORES if all_metrics()[s.name].follows_from_release}
    assert 0 < len(shown) < len(SCORES)


def test_protection_and_assumptions_are_stated(release):
    words = Reader(render_report(release)).words
    assert "hide a secret that all k records of a group share." in words
    assert "Distinct l-diversity on salary-class" in words
    assert SUPPRESSION_CONVENTION in words
    assert release.missing_rule in words
    assert "One row is one person." in words


def test_a_criterion_from_elsewhere_needs_no_card():
    verdicts = (Verdict("home-made", None, "home-made ≥ 5", 5.0, True, 0),)
    assert "Home-made" in Reader(render_report(make_release(verdicts=verdicts))).words


def test_the_check_can_be_repeated_by_anybody(release):
    words = Reader(render_report(release)).words
    assert (
        "tarnkappe verify census.csv --qi age,education,sex,zip --criterion k-anonymity:k=5 "
        "--criterion l-diversity:column=salary-class,l=2 --criterion t-closeness:column=salary-class,t=0.3"
    ) in words
    assert '"suppression": "Suppressed records are removed' in words


def test_names_with_spaces_are_quoted_in_the_command():
    release = make_release(public_manifest={**PUBLIC, "file": "my census; rm.csv"})
    assert "tarnkappe verify 'my census; rm.csv'" in Reader(render_report(release)).words


def test_a_manifest_may_state_the_command_itself():
    release = make_release(public_manifest={**PUBLIC, "verify": "tarnkappe verify census.csv --manifest manifest.json"})
    assert "tarnkappe verify census.csv --manifest manifest.json" in Reader(render_report(release)).words


def test_the_public_edition_says_nothing_of_the_private_manifest():
    page = render_report(make_release(unique_before=98_765))
    assert str(PRIVATE["seed"]) not in page
    assert "census-raw.csv" not in page
    assert "canary" not in page
    assert "98,765" not in page
    assert "98765" not in page
    assert "INTERNAL" not in page


def test_a_seed_that_strayed_into_the_public_manifest_is_not_shown():
    page = render_report(make_release(public_manifest={**PUBLIC, "seed": 4711_0815}))
    assert "47110815" not in page


def test_the_internal_edition_adds_it_and_says_so_on_every_page(release):
    page = render_report(release, audience="internal")
    words = Reader(page).words
    assert str(PRIVATE["seed"]) in words
    assert "canary-of-the-input-hash" in words
    assert "2\u00a0103 of 26\u00a0071 records" in words
    assert "INTERNAL: contains information about the original data" in words
    assert re.search(r"footer\.internal\{display:table-footer-group", page)
    assert '<footer class="internal">' in page


def test_advice_is_for_those_who_can_follow_it(release):
    assert "In 212 groups (1,404 records) everyone has the same salary-class." in render_report(release)
    assert NOTICES[0].hint not in Reader(render_report(release)).words
    assert NOTICES[0].hint in Reader(render_report(release, "internal")).words


def test_no_alerts_is_worth_a_word_that_is_true():
    """Some alerts are told to the publisher only, so the public page cannot say that there is nothing."""
    release = make_release(notices=())
    assert "<p>None.</p>" in render_report(release, "internal")
    assert "None that can be told without the original data." in render_report(release, "public")


def test_an_unknown_audience_is_refused(release):
    with pytest.raises(JobError, match="audience must be public or internal, got 'everyone'"):
        render_report(release, "everyone")


@EDITIONS
@pytest.mark.parametrize("attack", ATTACKS)
def test_whatever_comes_from_data_or_job_is_text(attack, audience):
    columns = (
        ColumnSummary(attack, "quasi", attack, attack, 0.5, 9, 3, (Example(attack, attack + "!", 99),)),
        ColumnSummary(attack, "identifier", attack, attack),
    )
    release = make_release(
        job=make_job(title=attack, purpose=attack),
        columns=columns,
        notices=(Notice("W601", attack, attack),),
        verdicts=(Verdict(attack, attack, attack, 5.0, True, 0),),
        missing_rule=attack,
        public_manifest={
            **PUBLIC,
            "file": attack,
            "sha256": attack,
            "made": attack,
            "tarnkappe": attack,
            attack: attack,
        },
        private_manifest={attack: attack},
    )
    harmless = Reader(render_report(make_release(), audience))
    reader = Reader(render_report(release, audience))
    assert {t for t, _ in reader.tags} <= {t for t, _ in harmless.tags} | {"em"}
    assert not [k for _, attrs in reader.tags for k in attrs if k.startswith("on")]
    assert reader.words.count(attack) >= 8


def test_a_release_that_was_not_written_says_so():
    facts = {k: v for k, v in PUBLIC.items() if k not in ("file", "sha256", "made")}
    words = Reader(render_report(make_release(public_manifest=facts))).words
    assert "none: the release was not written to a file" in words
    assert "tarnkappe verify release.csv" in words


@EDITIONS
def test_a_page_stays_small_with_a_million_groups_and_many_columns(audience):
    sizes = tuple((2 + 20 * i, 200) for i in range(5000))
    examples = tuple(Example(f"value {i}", f"[{i} {i + 9}]", 100 + i) for i in range(3))
    columns = tuple(
        ColumnSummary(
            f"column_{i:03d}_of_survey", "quasi", "intervals [min max] per group", None, i / 200, 90, 9, examples
        )
        for i in range(200)
    )
    page = render_report(make_release(group_sizes=sizes, columns=columns), audience)
    assert len(page.encode()) < 200_000
    assert "column_199_of_survey" in page
    assert len(render_report(make_release(), audience).encode()) < 40_000
