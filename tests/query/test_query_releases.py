"""Written releases are asked by their publisher and by a stranger: the truth lies within the bounds that they get."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import tarnkappe as tk
from grids import examples
from tarnkappe.errors import DataError, InfeasibleError, JobError, RefusedError
from tarnkappe.query import open_release
from tarnkappe.query.columns import Numbers
from tarnkappe.schema import Column

AREAS = {"north": ["a, b", "c", 'd "e"'], "south": ["f", "g | h", "i to j"], "west": ["k"]}
LEAVES = [leaf for leaves in AREAS.values() for leaf in leaves]
GRADES = ["very good", "good", "bad", "very bad"]
COLUMNS = {
    "age": (tk.numeric(), st.integers(18, 60)),
    "years": (tk.intervals(5, 10), st.integers(-12, 40)),
    "size": (tk.numeric(), st.integers(0, 30).map(lambda x: x / 4)),
    "area": (tk.tree(AREAS), st.sampled_from(LEAVES)),
    "colour": (tk.value_set(), st.sampled_from(["red", "blue", "dark | green", "7"])),
    "zip": (tk.prefix(3, 1), st.sampled_from(["01099", "01307", "22765", "227", "80331"])),
    "grade": (tk.ordered(*GRADES), st.sampled_from(GRADES)),
    "rank": (tk.ordered(*GRADES, groups=(2,)), st.sampled_from(GRADES)),
    "sex": (tk.suppress(), st.sampled_from(["F", "M"])),
}
ILLNESSES = ["flu", "cold", "gout", "none"]

BOXES = ["mondrian", "hilb", "top-down", "datafly", "bottom-up-greedy", "tarn"]
CENTRES = ["mdav", "k-member"]


def quoted(text):
    return '"' + str(text).replace('"', '""') + '"'


@st.composite
def conditions(draw, names):
    """Conditions on some columns: how they are written, and what they mean in plain Python."""
    parts, tests = [], []
    for name in draw(st.lists(st.sampled_from([*names, "illness", "income"]), min_size=1, max_size=3, unique=True)):
        values = st.sampled_from(ILLNESSES) if name == "illness" else st.integers(-20, 90)
        values = values if name in ("illness", "income") else COLUMNS[name][1]
        a, b = draw(values), draw(values)
        signs = ["=", "!=", "in"]
        numbers = not isinstance(a, str)
        sign = draw(st.sampled_from([*signs, "<", "<=", ">", ">=", ".."] if numbers else signs))
        column = quoted(name)
        if sign == "in":
            parts.append(f"{column} in ({quoted(a)}, {quoted(b)})")
            tests.append((name, lambda v, a=a, b=b: v in (a, b)))
        elif sign == "..":
            low, high = sorted([a, b])
            parts.append(f"{column} in {low}..{high}")
            tests.append((name, lambda v, low=low, high=high: low <= v <= high))
        else:
            parts.append(f"{column} {sign} {quoted(a)}")
            compare = {"=": "__eq__", "!=": "__ne__", "<": "__lt__", "<=": "__le__", ">": "__gt__", ">=": "__ge__"}[
                sign
            ]
            tests.append((name, lambda v, a=a, compare=compare: bool(getattr(v, compare)(type(v)(a)))))
    return " and ".join(parts), tests


@st.composite
def releases(draw, algorithms, missing=(None,)):
    """A table, a job for it, and questions."""
    names = draw(st.lists(st.sampled_from(sorted(COLUMNS)), min_size=1, max_size=3, unique=True))
    n = draw(st.integers(4, 25))
    rule = draw(st.sampled_from(missing))
    gaps = {name: draw(st.lists(st.booleans(), min_size=n, max_size=n)) for name in names} if rule else {}
    data = {name: draw(st.lists(COLUMNS[name][1], min_size=n, max_size=n)) for name in names}
    data = {k: [None if gaps.get(k) and gaps[k][i] else x for i, x in enumerate(v)] for k, v in data.items()}
    assume(set(data.get("colour", ())) != {"7"})  # a column of numbers, of which nobody asks for "red"
    data["illness"] = draw(st.lists(st.sampled_from(ILLNESSES), min_size=n, max_size=n))
    data["income"] = draw(st.lists(st.one_of(st.none(), st.integers(-20, 90)), min_size=n, max_size=n))
    frame = pl.DataFrame(data, schema_overrides={"income": pl.Int64})
    algorithm = draw(st.sampled_from(algorithms))
    diverse = algorithm == "anatomize"
    job = tk.Job(
        quasi={name: COLUMNS[name][0] for name in names},
        sensitive=["illness"],
        keep=[] if diverse else ["income"],
        drop=["income"] if diverse else [],
        criteria=[tk.LDiversity("illness", 2) if diverse else tk.KAnonymity(draw(st.integers(1, 4)))],
        algorithm=algorithm,
        missing_rule=rule,
    )
    asked = [x for x in names if x != "income"]
    questions = draw(st.lists(conditions(asked), min_size=1, max_size=4))
    if diverse:
        questions = [(text, tests) for text, tests in questions if all(name != "income" for name, _ in tests)]
    return frame, job, questions


def truths(frame, tests, column):
    """The rows that match, in plain Python; a missing value never does."""
    rows = [r for r in frame.to_dicts() if all(r[n] is not None and test(r[n]) for n, test in tests)]
    return rows, [r[column] for r in rows if r[column] is not None] if column else []


def check(asked, frame, questions):
    numbers = [n for n in ("age", "years", "size", "income") if n in frame.columns and n in asked.tables.names]
    for where, tests in questions:
        rows, _ = truths(frame, tests, None)
        found = asked.ask(f"count where {where}")
        assert found.low <= len(rows) <= found.high, where
        assert found.value is None or found.low - 1e-9 <= found.value <= found.high + 1e-9
        for column in numbers:
            _, values = truths(frame, tests, column)
            kinds = {"sum": sum, "avg": lambda x: sum(x) / len(x), "min": min, "max": max}
            for kind, figure in kinds.items():
                if not isinstance(asked.tables.column(column), Numbers):
                    assert set(frame[column].drop_nulls()) == set() or asked.tables.column(column).is_open  # only *
                    continue
                answer = asked.ask(f"{kind}({column}) where {where}")
                if values or kind == "sum":
                    assert answer.low is None or answer.low <= figure(values) + 1e-6, (kind, column, where)
                    assert answer.high is None or answer.high >= figure(values) - 1e-6, (kind, column, where)


slow = settings(
    max_examples=examples(60),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def write_and_check(tmp_path, case):
    frame, job, questions = case
    folder = tmp_path / "release"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.rmtree(tmp_path / "stranger", ignore_errors=True)
    try:
        release = job.anonymize(frame, seed=1)
    except (InfeasibleError, JobError, RefusedError):  # some know no wildcards, some columns seem to number records
        return
    if release.n_suppressed:
        return
    saved = release.save(folder)
    shutil.copytree(folder / "public", tmp_path / "stranger")
    stranger = tmp_path / "stranger" / saved.public_manifest["file"]
    for asked in (open_release(release), open_release(folder), open_release(stranger)):
        check(asked, frame, questions)


@slow
@given(releases(BOXES))
def test_boxes(tmp_path, case):
    write_and_check(tmp_path, case)


@slow
@given(releases(BOXES[:3], ("own-value", "wildcard")))
def test_boxes_with_gaps(tmp_path, case):
    write_and_check(tmp_path, case)


@slow
@given(releases(CENTRES))
def test_centres(tmp_path, case):
    write_and_check(tmp_path, case)


@pytest.mark.parametrize(("where", "truth"), [("= red", 2), ("!= red", 2), ('in (red, "blue")', 2), ("= 7", 2)])
def test_centres_may_be_numbers_where_records_are_not(where, truth):
    """All texts were replaced by one that reads like a number; the others can still be asked for."""
    colours = pl.DataFrame({"colour": ["red", "red", "7", "7"]})
    job = tk.Job(quasi={"colour": tk.value_set()}, criteria=[tk.KAnonymity(4)], algorithm="mdav")
    release = job.anonymize(colours, seed=1)
    assert release.table["colour"].cast(pl.String).to_list() == ["7"] * 4
    found = release.query(f"count where colour {where}")
    assert found.low <= truth <= found.high
    with pytest.raises(JobError, match="holds numbers, and 'red' is none"):
        release.query("count where colour in 5..red")


@slow
@given(releases(["anatomize"]))
def test_buckets(tmp_path, case):
    write_and_check(tmp_path, case)


@slow
@given(releases(["mondrian"]))
def test_groups_of_one_answer_exactly(tmp_path, case):
    """Where every record is published as it is, answers are those of the data."""
    frame, job, questions = case
    job = tk.Job(
        quasi={c.name: c.taxonomy or tk.numeric() for c in job.columns if c.role == "quasi"},
        sensitive=["illness"],
        keep=["income"],
        criteria=[tk.KAnonymity(1)],
        algorithm="mondrian",
    )
    try:
        release = job.anonymize(frame, seed=1)
    except RefusedError:  # a column that seems to number records
        return
    if release.n_suppressed or any(c.loss for c in release.columns):
        return
    for where, tests in questions:
        rows, values = truths(frame, tests, "income")
        found = release.query(f"count where {where}")
        assert (found.value, found.low, found.high) == (len(rows),) * 3
        total = release.query(f"sum(income) where {where}") if frame["income"].drop_nulls().len() else None
        assert total is None or (total.value, total.low, total.high) == (sum(values),) * 3


def hospital():
    return pl.DataFrame(
        {
            "age": [23, 27, 35, 59, 61, 65, 65, 70],
            "area": ["c", "f", "k", "c", "f", "f", "a, b", "a, b"],
            "illness": ["flu", "cold", "cold", "flu", "gout", "none", "gout", "flu"],
        }
    )


def anatomised(folder):
    job = tk.Job(
        quasi={"age": tk.numeric(), "area": tk.tree(AREAS)},
        sensitive=["illness"],
        criteria=[tk.LDiversity("illness", 2)],
        algorithm="anatomize",
    )
    return job.anonymize(hospital(), seed=1).save(folder)


def test_a_manifest_says_what_stays_together(tmp_path):
    release = anatomised(tmp_path / "release")
    assert release.public_manifest["strands"] == [
        {"columns": ["age", "area"], "sheet": "", "count": None, "names": []},
        {"columns": ["illness"], "sheet": "secrets", "count": "records", "names": []},
    ]
    assert release.query("count where age < 30 and illness = flu").records == 8


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m.pop("strands"),
        lambda m: m["strands"][0].update(columns=["agee"]),
        lambda m: m["strands"][0].update(sheet="nothing"),
        lambda m: m["reading"].update(number="nummer"),
        lambda m: m["tables"][1].update(file="../secrets.csv"),
    ],
)
def test_a_changed_manifest_is_refused(tmp_path, change):
    release = anatomised(tmp_path / "release")
    path = tmp_path / "release" / "public" / "manifest.json"
    manifest = json.loads(path.read_text())
    change(manifest)
    path.write_text(json.dumps(manifest))
    with pytest.raises(DataError) as error:
        release.query("count")
    assert error.value.code == "E403"


def test_a_release_without_its_codebook_is_not_guessed_at(tmp_path):
    anatomised(tmp_path / "release")
    (tmp_path / "release" / "public" / "codebook.csv").unlink()
    with pytest.raises(JobError) as error:
        open_release(tmp_path / "release")
    assert error.value.code == "E107"


def test_what_is_no_release(tmp_path):
    hospital().write_csv(tmp_path / "people.csv")
    for path in (tmp_path, tmp_path / "people.csv", Path("nowhere")):
        with pytest.raises(JobError):
            open_release(path)


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("count where agee = 3", "did you mean 'age'"),
        ("count where age = young", "'young' is none"),
        ("count where area < k", "no order that is known here"),
        ("sum(illness)", "holds no numbers"),
        ("count where age in 30..20", "the range is empty"),
        ('count where age < ""', "can only be asked for"),
        ("count group by sex", "no column 'sex'"),
    ],
)
def test_what_a_release_cannot_answer(tmp_path, query, says):
    release = anatomised(tmp_path / "release")
    with pytest.raises(JobError) as error:
        release.query(query)
    assert error.value.code == "E115"
    assert says in error.value.message


@pytest.mark.parametrize(
    "taxonomy", [tk.suppress(), tk.prefix(1), tk.tree({"works": ["cook"], "heals": ["nurse"]}), tk.value_set()]
)
def test_where_a_label_says_nothing_people_may_have_no_value(taxonomy, tmp_path):
    """A gap that is pooled with values is published as `*`: nobody knows whether a record has a value."""
    frame = pl.DataFrame({"job": ["cook", "nurse", None] * 6, "illness": ["flu", "gout"] * 9})
    job = tk.Job(
        quasi={"job": taxonomy}, sensitive=["illness"], criteria=[tk.KAnonymity(18)], missing_rule="own-value", seed=1
    )
    release = job.anonymize(frame)
    saved = release.save(tmp_path / "release")
    stranger = tmp_path / "release" / "public" / saved.public_manifest["file"]
    for asked in (open_release(release), open_release(stranger)):
        for where, truth in (('job = ""', 6), ('job != ""', 12), ("job in (cook, nurse)", 12), ("illness = flu", 9)):
            found = asked.ask(f"count where {where}")
            assert found.low <= truth <= found.high, where
        grouped = {row.group: row for row in asked.ask("count group by job").rows}
        assert grouped[(None,)].low <= 6 <= grouped[(None,)].high


def test_where_there_are_no_gaps_a_label_that_says_nothing_is_about_a_value():
    frame = pl.DataFrame({"job": ["cook", "nurse", "smith"] * 6, "illness": ["flu", "gout"] * 9})
    job = tk.Job(quasi={"job": tk.suppress()}, sensitive=["illness"], criteria=[tk.KAnonymity(18)], seed=1)
    found = job.anonymize(frame).query('count where job != ""')
    assert (found.low, found.value, found.high) == (18, 18, 18)


JOBS = {"works": ["cook", "smith"], "heals": ["nurse"]}
FLOORS = {"zip": tk.prefix(3, 1), "job": tk.tree(JOBS), "sex": tk.suppress()}
OVERLAPPING = tk.Slicing(strands=(("zip", "illness"), ("zip", "job"), ("sex",)))


@pytest.mark.parametrize("algorithm", [tk.Anatomize(), OVERLAPPING, tk.KEPermutation()], ids=lambda a: a.name)
def test_a_lowest_level_is_no_value_where_groups_change_none(algorithm, tmp_path):
    """Groups with numbers publish values as they are; those of a floor are labels all the same."""
    zips = ["22765", "22767", "10115"]
    rows = [(zips[i % 3], ["cook", "smith", "nurse", "cook"][i % 4], "fm"[i % 2], i % 6 * 10) for i in range(24)]
    frame = pl.DataFrame(rows, schema=["zip", "job", "sex", "illness"], orient="row")
    numbers = algorithm.name == "k-e-permutation"
    asked = tk.KEAnonymity("illness", 2, 10) if numbers else tk.LDiversity("illness", 2)
    job = tk.Job(
        columns=[Column(name, "quasi", taxonomy=how, min_level=1) for name, how in FLOORS.items()]
        + [Column("illness", "sensitive", "numeric" if numbers else "categorical")],
        criteria=[asked],
        algorithm=algorithm,
        seed=1,
    )
    release = job.anonymize(frame)
    said = {(e.column, e.label): e.meaning for e in release.codebook}
    assert said["zip", "227**"] == "Begins with 227."
    assert said["job", "works"] == "A category in the taxonomy of the column."
    assert said["sex", "*"] == "Any value: nothing is said."
    for table in release.tables.values():
        labels = [(name, text) for name in table.columns if name.strip("_") in FLOORS for text in table[name].unique()]
        assert all(label in said for label in labels)
    assert not [c.name for c in release.columns if c.role == "quasi" and "unchanged" in c.done]
    saved = release.save(tmp_path / "release")
    stranger = tmp_path / "release" / "public" / saved.public_manifest["file"]
    for tables in (open_release(release), open_release(stranger)):
        for where in ("zip = 22765", "job = cook", 'job != "smith"', "sex = f"):
            column, value = where.replace('"', "").replace("!= ", "= ").split(" = ")
            wanted = frame[column] != value if "!=" in where else frame[column] == value
            found = tables.ask(f"count where {where}")
            assert found.low < wanted.sum() <= found.high, where


@pytest.mark.parametrize("sex", ["f", "m"])
def test_a_value_that_reads_like_a_label_of_others(sex):
    """Three areas are called `*`, three more are hidden by one: as one group, or as two that sex tells apart."""
    frame = pl.DataFrame({"area": [*"***abcddd"], "sex": [*"fff", *(sex * 3), *"mmm"], "illness": [*"xyzxyzxyz"]})
    job = tk.Job(
        quasi={"area": tk.suppress(), "sex": tk.suppress()},
        sensitive=["illness"],
        criteria=[tk.KAnonymity(3)],
        algorithm="local-suppression",
        seed=1,
    )
    release = job.anonymize(frame)
    assert sorted(release.table["area"]) == [*"******", *"ddd"]
    said = {e.label: e.meaning for e in release.codebook if e.column == "area"}
    assert said["*"] == "Any value: nothing is said."
    assert release.score("lm") > 0, "what three records have lost is no value of theirs"
    for value, records in (("a", 1), ("*", 3), ("d", 3)):
        found = release.query(f'count where area = "{value}"')
        assert found.low <= records <= found.high
