import pytest

from ssvi.data.wikitext import plain_text

MANY = 100_000  # quadratic time would be 10^10 steps, and felt


@pytest.mark.parametrize(
    ("markup", "expected"),
    {
        "": "",
        "plain  words\n\nhere": "plain words here",
        "a<!-- hidden -->b": "ab",
        "a <!-- never\nended": "a never ended",
        # elements that are dropped
        "a<ref>cite</ref> b<ref name=x /> c<REF\nname='y'>{{cite|1}}\n[[z]]</Ref > d": "a b c d",
        "<references /> a <references><ref>b</ref></references> c": "a c",
        "a <math>x_{b_{c}}</math> b {{t|<math>\\frac{a}{b_{c}}</math>|d}} e": "a b e",
        "<gallery>\nFile:a.jpg|caption\n</gallery> a <reflection> b": "a b",
        "a <ref>never ended, b <ref>cite</ref> c": "a never ended, b c",
        "a <ref>never ended": "a never ended",
        "a </ref> b": "a b",
        # templates
        "{{Infobox\n| name = {{nowrap|x}}\n| y = {{{1|}}}\n}}\nA b": "A b",
        "a{{snd}}b {{t|}} c {{t\n|}} d": "a b c d",
        "{{unended\n|a = {{t}} b\n\nC d": "unended a = b C d",
        "a }} b {{t}} c }} d": "a b c d",
        "{{t|[[unended}} a ]] b": "a b",
        # tables
        'a\n{| class="x"\n! h\n|-\n| b || {{t|}}\n{|\n| c\n|}\n|}\nd': "a d",
        ":{|\n| a\n |}\nb {| c\n|} d": "b c d",
        "{|\n| a\n\nb": "a b",
        # links
        "[[dog]]s and [[Cat (animal)|cat]]s, [[a|b|c]], [[d|]]": "dogs and cats, b c, d",
        "see [[:Category:Dogs]]": "see :Category:Dogs",
        "[[File:a.jpg|thumb|A [[dog]] and [[Cat|a cat]] {{t}}]]b": "b",
        "a [[ image : b.png]] c\n[[Category:Dogs|d]]\n[[fr:Chien]]\n[[zh-min-nan:Kau]]": "a c",
        "[[Alien: Covenant]] [[wikt:dog|hound]] [[fr:Chien|hound]]": "Alien: Covenant hound hound",
        "[[File:a.jpg|thumb|unended\n\nb [[c]]": "thumb unended b c",
        "a ]] b [[ c": "a b c",
        "[http://x.org/a_b?c=d the label] b [//y.org] c HTTPS://z.org/d, [mailto:e@f.org e]": "the label b c e",
        "a [sic] b": "a sic b",
        # the rest
        "''a'' '''b''' '''''c'''''d it's '''e'''s": "a b cd it's es",
        "== A ==\n===B===\n* c\n#: d\n; e : f\n----\n__NOTOC__g": "A B c d e : f ---- g",
        'a<br/>b <span style="x">c</span> <nowiki>d</nowiki> 1 < 2 > 1': "a b c d 1 < 2 > 1",
        "a&nbsp;b &amp; &#99;&#x64; &lt;ref&gt; &unknown; AT&T": "a b & cd <ref> &unknown; AT&T",
    }.items(),
)
def test_plain_text(markup, expected):
    assert plain_text(markup) == expected


@pytest.mark.parametrize(
    "piece",
    [
        *(
            "{{",
            "}}",
            "[[",
            "]]",
            "\n{|",
            "\n|}",
            "[[a|",
            "[[File:a|",
            "{{a}}{{",
            "[[a]][[",
            "{{[[\n{|",
            "[",
            "[//a ",
            "{",
        ),
        *(
            "<!--",
            "<ref>",
            "</ref>",
            "<ref name=a",
            "<ref/>",
            "<ref><math><!--",
            "<math><ref>a</math>",
            "<",
            "<a",
            "</",
        ),
        *(
            "'",
            "=",
            "_",
            "__A",
            "__A__",
            "\n*",
            " ",
            "\n",
            ":",
            "&",
            "&#",
            "&#1",
            "http://",
            "https://a[",
            "mailto:",
            "a",
        ),
    ],
)
def test_hostile_markup_takes_linear_time(piece):
    assert "last" in plain_text(piece * MANY + " last").lower()


@pytest.mark.parametrize(("start", "end"), [("{{", "}}"), ("[[File:a|", "]]"), ("\n{|", "\n|}"), ("[[a|", "]]")])
def test_deep_nesting(start, end):
    assert plain_text(f"first {start * MANY}b{end * MANY} last") == (
        "first b last" if start == "[[a|" else "first last"
    )
    # Ends of other kinds must not search all that is open.
    other = "]]" if start == "{{" else "}}"
    assert plain_text(f"first {start * MANY}{other * MANY} last").split()[-1] == "last"


@pytest.mark.parametrize("prefix", ["&#", "&#x", "&#X"])
def test_endless_character_number(prefix):
    assert plain_text(f"first {prefix}{'9' * MANY}; last") == "first last"
