"""Texts cut at the words that a model knows."""

import pytest

from ssvi.data.readers import TextOptions
from ssvi.serve.pieces import cut_at_terms


@pytest.mark.parametrize(
    ("text", "options", "terms", "found"),
    [
        ("Oil and oil.", {}, ["oil"], ["Oil", "oil"]),
        ("Oil and oil.", {"lowercase": False}, ["oil"], ["oil"]),
        ("oil spoils the soil", {}, ["oil"], ["oil"]),
        ("new york and York", {}, ["new york", "york"], ["new york", "York"]),
        ("bank of england", {}, ["bank england"], ["bank of england"]),
        ("İstanbul oil", {}, ["oil"], ["oil"]),
        ("an oilé oil 😀 oil", {}, ["oil"], ["oil", "oil"]),
        ("a-b c", {"tokenizer": lambda text: text.split()}, ["a-b"], ["a-b"]),
        ("nothing", {}, [], []),
        ("", {}, ["oil"], []),
    ],
)
def test_terms_are_found_where_they_stand(text, options, terms, found):
    pieces = cut_at_terms(text, TextOptions(**options), terms)
    assert "".join(piece for piece, _ in pieces) == text
    assert [piece for piece, term in pieces if term is not None] == found


def test_tags_are_left_out_if_the_model_leaves_them_out():
    pieces = cut_at_terms("<b>oil</b> price", TextOptions(strip_html=True), ["oil"])
    assert pieces == [("oil", "oil"), (" price", None)]
