from hypothesis import given
from hypothesis import strategies as st

from tarnkappe.report.markup import Html, el, join, shorten, table, text


@given(st.text())
def test_text_from_outside_never_opens_a_tag_or_closes_an_attribute(words):
    assert not set('<>"') & set(text(words))
    assert el("b", words).count("<") == 2
    assert el("b", title=words).count('"') == 2


def test_html_is_not_escaped_twice():
    assert el("p", el("b", "R&D")) == "<p><b>R&amp;D</b></p>"


def test_what_python_does_to_html_makes_it_plain_text_again():
    # Safe by default: only `el`, `join` and `text` hand out trusted HTML.
    assert text(Html("<b>") + "<script>") == "&lt;b&gt;&lt;script&gt;"


def test_attributes():
    assert el("td", class_="num", aria_label="a", hidden=True, title=None, open=False) == (
        '<td class="num" aria-label="a" hidden></td>'
    )


def test_empty_elements_have_no_end_tag():
    assert el("meta", charset="utf-8") == '<meta charset="utf-8">'


def test_none_is_left_out():
    assert join(["a", None, "b"], ", ") == "a, b"


def test_control_characters_and_lone_surrogates_can_be_written_as_utf8():
    shown = text("a\x00b\ud800c\td")
    assert shown == "a\ufffdb\ufffdc\td"
    shown.encode("utf-8")


@given(st.text(), st.integers(1, 20))
def test_shortened_texts_fit(words, most):
    assert len(shorten(words, most)) <= most
    assert shorten(words, len(words) + 1) == words


def test_table_says_what_heads_what():
    shown = table("Sizes", ("Size", "Groups"), [("5", "90")], numeric={1})
    assert "<caption><span>Sizes</span></caption>" in shown
    assert '<th scope="col" class="num">Groups</th>' in shown
    assert '<th scope="row">5</th><td class="num">90</td>' in shown
    assert shown.startswith('<div class="scroll"')
