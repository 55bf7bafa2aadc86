"""Taxonomy files: what is written is read back, and what is broken is refused with its line."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from taxonomy_laws import assert_lawful, trees

from grids import examples
from tarnkappe.errors import RefusedError, TaxonomyError
from tarnkappe.taxonomy import Taxonomy, from_file, read_taxonomies_xml, read_taxonomy, write_taxonomy

CENSUS_XML = """<?xml version="1.0"?>
<taxonomies>
  <taxonomy attribute="gender">
    <node value="ANY SEX"><node value="Male" /><node value="Female" /></node>
  </taxonomy>
  <taxonomy attribute="country ">
    <node value="ANY COUNTRY">
      <node value="America">
        <node value="North-America">
          <node value="Canada" />
          <node value="Greenland" />
          <node value="USA"><node value="Pennsylvania" /><node value="Utah" /><node value="Nevada" /></node>
        </node>
      </node>
      <node value="Europe"></node>
    </node>
  </taxonomy>
</taxonomies>
"""


@pytest.fixture
def write(tmp_path):
    def write_file(name: str, content: str | bytes) -> str:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        return str(path)

    return write_file


@pytest.mark.parametrize("suffix", [".csv", ".yaml", ".yml"])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=examples(40), deadline=None)
@given(taxonomy=trees())
def test_round_trip(tmp_path, suffix, taxonomy):
    path = tmp_path / f"taxonomy{suffix}"
    write_taxonomy(taxonomy, path)
    assert read_taxonomy(path) == taxonomy


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=examples(40), deadline=None)
@given(taxonomy=trees(alphabet="\ufeff\x00\x85\u2028\t\\=!%@`|>{}[]"))
def test_round_trip_of_characters_that_mean_something_to_a_parser(tmp_path, taxonomy):
    write_taxonomy(taxonomy, tmp_path / "t.csv")
    assert read_taxonomy(tmp_path / "t.csv") == taxonomy
    write_taxonomy(taxonomy, tmp_path / "t.yaml")
    assert read_taxonomy(tmp_path / "t.yaml") == taxonomy


# --- the ARX layout


def test_arx_layout(write):
    taxonomy = read_taxonomy(write("education.csv", "Bachelors;Higher;*\n10th;Secondary;*\nMasters;Higher;*\n"))
    assert taxonomy.nested() == {"*": {"Higher": ["Bachelors", "Masters"], "Secondary": ["10th"]}}


@pytest.mark.parametrize(
    "text",
    [
        "a;A;*\nb;A;*\n",
        "a,A,*\nb,A,*\n",
        "a\tA\t*\r\nb\tA\t*\r\n",
        "\ufeffa|A|*\n\nb|A|*",
        '"a";"A";"*"\n"b";"A";"*"\n',
    ],
)
def test_delimiters_line_ends_and_quotes_are_found_out(write, text):
    assert read_taxonomy(write("t.csv", text)).nested() == {"*": {"A": ["a", "b"]}}


def test_a_given_delimiter_is_used(write):
    path = write("t.csv", "a;1,A,*\nb;2,A,*\n")
    assert read_taxonomy(path, delimiter=",").leaves == ("a;1", "b;2")
    with pytest.raises(TaxonomyError) as caught:
        read_taxonomy(path, delimiter="::")
    assert caught.value.code == "E203"


def test_a_root_is_added_where_the_last_column_differs(write):
    assert read_taxonomy(write("t.csv", "a;A\nb;B\n")).labels == ("*", "A", "a", "B", "b")
    assert read_taxonomy(write("t.csv", "a\nb\n")).labels == ("*", "a", "b")


def test_the_empty_value_has_a_row(write):
    assert read_taxonomy(write("t.csv", ";missing;*\na;known;*\n")).leaves == ("", "a")
    assert read_taxonomy(write("t.csv", ";;*\na;known;*\n")).leaves == ("", "a")


@pytest.mark.parametrize(
    ("text", "code", "line", "message"),
    [
        ("a;A;*\nb;*\n", "E201", 2, "this row has 2 fields, the first row has 3"),
        ("a;A;*\nb;;*\n", "E201", 2, "empty label"),
        ("a;A;*;\nb;A;*;\n", "E201", 1, "empty label"),
        ("a;A;*\nb;A;*\na;A;*\n", "E201", 3, r"stands twice \(first in line 1\)"),
        ("a;A;*\nb;A;*\n\na;B;*\n", "E201", 4, r'two parents: "A" \(line 1\) and "B"'),
        ("a;A;X;*\nb;A;Y;*\n", "E201", 2, r'"A" has two parents: "X" \(line 1\) and "Y"'),
        ('a;A;*\nb;"A"x;*\n', "E202", 2, "cannot be read"),
        ('a;A;*\n"b;A;*\n', "E202", 2, "cannot be read"),
        ("a\na\n", "E201", 2, "stands twice"),
        ("", "E202", None, "empty"),
        ("\n\n", "E202", None, "empty"),
        (b"a;*\nb\xe4;*\n", "E202", 2, "UTF-8"),
        ("a;O;X;*\nb;B;O;*\n", "E201", None, "'O' has two parents"),
    ],
)
def test_broken_csv(write, text, code, line, message):
    path = write("t.csv", text)
    with pytest.raises(TaxonomyError, match=message) as caught:
        read_taxonomy(path)
    assert caught.value.code == code
    assert caught.value.where == (f"{path}:{line}" if line else path)
    assert caught.value.hint


def test_a_file_that_is_not_there(tmp_path):
    for name in ("none.csv", "none.yaml", "none.xml"):
        with pytest.raises(TaxonomyError, match="cannot be read") as caught:
            read_taxonomy(tmp_path / name)
        assert caught.value.code == "E202"
        assert name in caught.value.where


# --- YAML


def test_yaml_keeps_the_text_of_every_scalar(write):
    text = (
        "*any:\n  - yes\n".replace("*any", '"*"')
        + "  - no\n  - 0123\n  - 1.10\n  - 12:30\n  - 2020-01-01\n  - 'null'\n"
    )
    assert read_taxonomy(write("t.yaml", text)).leaves == ("yes", "no", "0123", "1.10", "12:30", "2020-01-01", "null")


def test_yaml_nests_as_in_a_job_file(write):
    text = "Married: [civil, church]\nSingle:\n  - never\n  - Was married: [widowed]\nUnknown:\n"
    assert read_taxonomy(write("t.yaml", text)).nested() == {
        "*": {"Married": ["civil", "church"], "Single": {"never": None, "Was married": ["widowed"]}, "Unknown": None}
    }


@pytest.mark.parametrize(
    ("text", "code", "line", "message"),
    [
        ("A: &a\n  x: *a\n", "E201", 2, '"x" is its own ancestor'),
        ("A: &a\n  - B:\n      - C: *a\n", "E201", 3, "its own ancestor"),
        ("A: &a [x, y]\nB: *a\n", "E201", 2, 'values below "B" stand twice'),
        ("A: [x]\nB:\n  - x\n", "E201", 3, r'"x" has two parents: "A" and "B" \(first at'),
        ("A: [x]\nA: [y]\n", "E201", 2, '"A" stands twice'),
        ("A: [x]\nB: [[y]]\n", "E203", 2, "list stands where a label"),
        ("A: [x]\nB: [y, ~]\n", "E203", 2, "is empty"),
        ("A: [x\nB: y\n", "E202", 2, "not valid YAML"),
        ("A: [*nowhere]\n", "E202", 1, "points nowhere"),
        ("A: [x]\n---\nB: [y]\n", "E202", None, "several"),
        ("", "E202", None, "empty"),
        ("A:\n", "E202", None, "empty"),
        ("# nothing\n", "E202", None, "empty"),
        ("A: [x, \x00]\n", "E202", None, "not valid YAML"),
    ],
)
def test_broken_yaml(write, text, code, line, message):
    path = write("t.yaml", text)
    with pytest.raises(TaxonomyError, match=message) as caught:
        read_taxonomy(path)
    assert caught.value.code == code
    assert caught.value.where == (f"{path}:{line}" if line else path)
    assert caught.value.hint


def test_yaml_that_unfolds_into_billions_is_refused_at_once(write):
    lines = ["a0: &a0 [x, y]"] + [f"a{i}: &a{i} {{l{i}: *a{i - 1}, r{i}: *a{i - 1}}}" for i in range(1, 60)]
    with pytest.raises(TaxonomyError, match="repeat more than"):
        read_taxonomy(write("bomb.yaml", "\n".join(lines)))
    with pytest.raises(TaxonomyError, match="stand twice"):
        read_taxonomy(write("bomb.yaml", "\n".join(lines[:8])))


def test_deeply_nested_yaml_does_no_harm(write):
    with pytest.raises(TaxonomyError) as caught:
        read_taxonomy(write("deep.yaml", "[" * 5_000 + "x" + "]" * 5_000))
    assert caught.value.code == "E203"
    deep = read_taxonomy(write("deep.yaml", "".join(f"{{a{i}: " for i in range(2_000)) + "x" + "}" * 2_000))
    assert deep.height == 2_000


# --- XML


def test_the_taxonomies_of_a_census_in_one_xml_file(write):
    path = write("taxonomies.xml", CENSUS_XML)
    taxonomies = read_taxonomies_xml(path)
    assert list(taxonomies) == ["gender", "country"]
    assert taxonomies["gender"].labels == ("ANY SEX", "Male", "Female")
    country = taxonomies["country"]
    assert_lawful(country)
    assert country.paths()[2] == ("Pennsylvania", "USA", "North-America", "America", "ANY COUNTRY")
    assert country.leaves == ("Canada", "Greenland", "Pennsylvania", "Utah", "Nevada", "Europe")


def test_the_taxonomy_of_a_column_is_picked_from_xml(write):
    path = write("taxonomies.xml", CENSUS_XML)
    assert from_file(path).build(["Male"], "gender").leaves == ("Male", "Female")
    assert from_file(path, attribute="gender").build(["Male"], "sex").leaves == ("Male", "Female")
    with pytest.raises(TaxonomyError, match=r"no taxonomy of 'gendre' \(did you mean 'gender'\?\)") as caught:
        read_taxonomy(path, attribute="gendre")
    assert caught.value.code == "E203"
    with pytest.raises(TaxonomyError, match="several"):
        read_taxonomy(path)


def test_the_only_taxonomy_of_an_xml_file_needs_no_name(write):
    path = write(
        "t.xml", '<taxonomies><taxonomy attribute="g"><node value="a"/><node value="b"/></taxonomy></taxonomies>'
    )
    assert from_file(path).build(["a"], "other").labels == ("*", "a", "b")


def one(nodes: str) -> str:
    return f'<taxonomies>\n<taxonomy attribute="sex">\n{nodes}\n</taxonomy>\n</taxonomies>'


BILLION_LAUGHS = (
    '<?xml version="1.0"?>\n<!DOCTYPE lolz [\n<!ENTITY lol "lol">\n<!ENTITY lol2 "&lol;&lol;&lol;">\n]>\n'
    '<taxonomies><taxonomy attribute="x"><node value="&lol2;"/></taxonomy></taxonomies>'
)
EXTERNAL = (
    '<!DOCTYPE t [<!ENTITY xxe SYSTEM "file:///etc/hostname">]>\n'
    '<taxonomies><taxonomy attribute="x"><node value="a">&xxe;</node></taxonomy></taxonomies>'
)


@pytest.mark.parametrize(
    ("text", "code", "line", "message"),
    [
        (BILLION_LAUGHS, "E202", 2, "not allowed"),
        (EXTERNAL, "E202", 1, "not allowed"),
        (one('<node value="a">\n<node value="b"></node>'), "E202", 5, "well-formed"),
        (one('<node value="&nothing;"/>'), "E202", 3, "well-formed"),
        (one('<node name="a"/>'), "E202", 3, "no value"),
        (one("<leaf/>"), "E202", 3, "<leaf> where <node>"),
        (one('text<node value="a"/>'), "E202", 3, "text"),
        (one('<node value="ANY"/>'), "E202", 4, "no values"),
        (one(""), "E202", 4, "no values"),
        ("<taxonomies/>", "E202", 1, "no taxonomy"),
        ("<html/>", "E202", 1, "<html> where <taxonomies>"),
        ("<taxonomies><taxonomy/></taxonomies>", "E202", 1, "which attribute"),
        ("", "E202", 1, "well-formed"),
        (
            one('<node value="A">\n<node value="x"/><node value="y"/>\n<node value="x"/></node>'),
            "E201",
            5,
            "stands twice",
        ),
        (
            one('<node value="A"><node value="x"/></node>\n<node value="B"><node value="x"/></node>'),
            "E201",
            4,
            "two parents",
        ),
        (
            '<taxonomies>\n<taxonomy attribute="a"><node value="x"/><node value="y"/></taxonomy>\n'
            '<taxonomy attribute="a"><node value="x"/></taxonomy></taxonomies>',
            "E201",
            3,
            "two taxonomies",
        ),
    ],
)
def test_broken_or_hostile_xml(write, text, code, line, message):
    path = write("t.xml", text)
    with pytest.raises(TaxonomyError, match=message) as caught:
        read_taxonomies_xml(path)
    assert caught.value.code == code
    assert caught.value.where == f"{path}:{line}"
    assert caught.value.hint


# --- writing


def test_what_cannot_be_written_is_refused(tmp_path):
    plain = Taxonomy.from_nested(["a", "b"])
    with pytest.raises(TaxonomyError) as caught:
        write_taxonomy(plain, tmp_path / "t.docx")
    assert caught.value.code == "E203"
    with pytest.raises(TaxonomyError, match="ranges") as caught:
        write_taxonomy(Taxonomy.scale(["low", "high"]), tmp_path / "t.csv")
    assert caught.value.code == "E203"
    with pytest.raises(TaxonomyError, match="empty labels") as caught:
        write_taxonomy(Taxonomy.from_nested({"": ["a"]}), tmp_path / "t.csv")
    assert caught.value.where == str(tmp_path / "t.csv")
    chain = Taxonomy.from_parents([str(i) for i in range(3_000)], list(range(-1, 2_999)))
    with pytest.raises(TaxonomyError, match="too deep") as caught:
        write_taxonomy(chain, tmp_path / "t.yaml")
    assert caught.value.code == "E203"
    with pytest.raises(RefusedError) as refused:
        write_taxonomy(plain, tmp_path / "no folder" / "t.csv")
    assert refused.value.code == "E603"
    assert list(tmp_path.iterdir()) == []


# --- reference files


def test_reference_hierarchies_are_read_and_cover_their_columns(shared):
    folder = shared / "data" / "adult"
    header, *rows = (line.split(";") for line in (folder / "adult.csv").read_text(encoding="utf-8").splitlines())
    heights = {}
    for column, values in zip(header, zip(*rows, strict=True), strict=True):
        builder = from_file(folder / f"adult_hierarchy_{column}.csv")
        taxonomy = builder.build(sorted(set(values)), column)
        assert_lawful(taxonomy)
        lines = (folder / f"adult_hierarchy_{column}.csv").read_text(encoding="utf-8").splitlines()
        assert sorted(";".join(path) for path in taxonomy.paths()) == sorted(lines)
        heights[column] = taxonomy.height
    assert [heights[c] for c in ("sex", "age", "education", "native-country")] == [1, 4, 3, 2]
