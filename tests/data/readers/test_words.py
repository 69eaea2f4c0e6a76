"""From text to words: HTML, numbers, languages, tokenisers of one's own."""

import dataclasses
import html.parser
import json
import sys

import numpy as np
import pytest
from tests.data.readers.helpers import dense, write

from ssvi.data.readers import TextOptions, read_corpus
from ssvi.data.readers.base import WordFacts
from ssvi.data.readers.counting import count_words
from ssvi.data.readers.languages import LANGUAGES, stop_words_of
from ssvi.data.readers.words import looks_like_html, strip_html

PAGE = """<!DOCTYPE html><html><head><title>Fish &amp; chips</title><style>p { color: red }</style>
<script type="text/javascript">if (a < b) { word = "no"; }</script></head>
<body class='x'><!-- not <b>this</b> --><h1>Fresh<br>fish</h1>
<p>Half-<b>pr</b>ice&nbsp;fish: 3 &lt; 4 &eacute;t&#233;</p>
<ul><li>one<li>two</ul></body></html>"""


class _Reference(html.parser.HTMLParser):
    """The text of a page by Python's own parser, with a space for each tag that parts words."""

    def __init__(self):
        super().__init__()
        self.text, self.hidden = "", False

    def handle_starttag(self, tag, attrs):
        self.hidden = self.hidden or tag in ("script", "style")
        self.text += "" if tag == "b" else " "

    def handle_endtag(self, tag):
        self.hidden = self.hidden and tag not in ("script", "style")
        self.text += "" if tag == "b" else " "

    def handle_data(self, data):
        self.text += "" if self.hidden else data


def test_html_is_taken_out_as_pythons_parser_does():
    reference = _Reference()
    reference.feed(PAGE)
    assert strip_html(PAGE).split() == reference.text.split()
    assert "Half-price" in strip_html(PAGE).split()


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a < b and c > d", "a < b and c > d"),
        ("x<3 y", "x<3 y"),
        ("cut <!-- never closed", "cut"),
        ("cut <script>never closed", "cut"),
        ("<p", "<p"),
        ("", ""),
        ("AT&T &amp; R&amp;D", "AT&T & R&D"),
        ("<B>bold</B> <BR/> <a href='x'>lin</a>k", "bold link"),
    ],
)
def test_what_is_no_html_stays(text, left):
    assert " ".join(strip_html(text).split()) == left


@pytest.mark.parametrize("piece", ["<!--", "<script>", "<a ", "<", "<p>", "&amp;", "<style "])
def test_html_takes_linear_time(piece):
    """Twenty thousand beginnings of what is never closed: a search from each to the end would take minutes."""
    strip_html(piece * 20_000)


def test_html_is_told_of(tmp_path):
    assert looks_like_html(["one<br />two", "three"])
    assert not looks_like_html(["a < b", "x > y & z", "i<b"])
    assert not looks_like_html([])
    path = write(tmp_path / "a.txt", "cat<br/>dog\n<p>cat</p>\n")
    assert read_corpus(path).notes == ("there are HTML tags in the text: `strip_html` takes them out.",)
    corpus = read_corpus(path, text=TextOptions(strip_html=True))
    assert (corpus.vocabulary, corpus.notes) == (("cat", "dog"), ())
    assert read_corpus(path, text=TextOptions(strip_html=True, lowercase=False)).vocabulary == ("cat", "dog")


def test_numbers_may_go(tmp_path):
    path = write(tmp_path / "a.txt", "1984 was 20 years after 1964\n3rd mp3 1_000 \u0663\u0664 covid19 2nd\n")
    everything = read_corpus(path, text=TextOptions(stop_words=None)).vocabulary
    assert set(everything) - set(read_corpus(path, text=TextOptions(stop_words=None, numbers=False)).vocabulary) == {
        "1984", "20", "1964", "1_000", "\u0663\u0664"
    }  # fmt: skip
    wanted = TextOptions(numbers=False, vocabulary=("1984", "years"))
    assert dense(read_corpus(path, text=wanted)).tolist() == [[1, 1], [0, 0]]


@pytest.mark.parametrize("language", [name for name in LANGUAGES if name != "english"])
def test_every_language_has_stop_words(language):
    pytest.importorskip("stop_words")
    assert len(stop_words_of(language)) > 30


def test_stop_words_of_a_language_and_more(tmp_path):
    pytest.importorskip("stop_words")
    path = write(tmp_path / "a.txt", "Der Hund und die Katze sind aber nicht auf der Matte, sagt er\n")
    german = TextOptions(stop_words="german")
    assert read_corpus(path, text=german).vocabulary == ("hund", "katze", "matte", "sagt")
    more = dataclasses.replace(german, more_stop_words=("sagt", "matte"))
    assert read_corpus(path, text=more).vocabulary == ("hund", "katze")
    kept = json.loads(json.dumps(more.kept()))
    assert "und" in kept["stop_words"]  # as words: whoever reads the model needs no package
    assert TextOptions.from_kept(kept).words_to_leave_out() == more.words_to_leave_out()
    french = write(tmp_path / "b.txt", "Ce n'est que le chat qui l'a mang\u00e9")
    assert read_corpus(french, text=TextOptions(stop_words="french")).vocabulary == ("chat", "mang\u00e9")


def test_another_language_is_told_of(tmp_path, monkeypatch):
    pytest.importorskip("stop_words")
    german = "der Hund und die Katze sind aber nicht auf der Matte, weil sie noch im Haus bei uns waren oder kamen\n"
    english = "the dog and the cat are not on the mat, because they were still in the house with us or came war die\n"
    path = write(tmp_path / "a.txt", german * 3)
    assert read_corpus(path).notes == ("many frequent words are German: `stop_words` german leaves them out.",)
    assert read_corpus(path, text=TextOptions(stop_words="german")).notes == ()
    assert read_corpus(write(tmp_path / "b.txt", english * 3)).notes == ()
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert read_corpus(path).notes == ()


def test_a_package_that_is_not_there_is_named(tmp_path, monkeypatch):
    path = write(tmp_path / "a.txt", "der Hund")
    stop_words_of.cache_clear()
    for module in ("stop_words", "rjieba", "fugashi"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ValueError, match=r"stop words of german needs a package .*: pip install 'ssvi\[languages\]'"):
        read_corpus(path, text=TextOptions(stop_words="german"))
    for language in ("chinese", "japanese"):
        with pytest.raises(ValueError, match=rf"{language.title()} text into words needs .*'ssvi\[{language}\]'"):
            read_corpus(path, text=TextOptions(segment=language))


def test_chinese_and_japanese(tmp_path):
    pytest.importorskip("rjieba")
    pytest.importorskip("fugashi")
    path = write(tmp_path / "a.txt", "\u6211\u6765\u5230\u5317\u4eac\u6e05\u534e\u5927\u5b66\n")
    corpus = read_corpus(path, text=TextOptions(segment="chinese"))
    assert corpus.vocabulary == ("\u5317\u4eac", "\u6765\u5230", "\u6e05\u534e\u5927\u5b66")
    assert "--" not in str(corpus.notes)
    assert "much of the text is Chinese or Japanese" in read_corpus(path).notes[0]
    path = write(tmp_path / "b.txt", "\u6771\u4eac\u90fd\u306b\u4f4f\u3093\u3067\u3044\u307e\u3059\u3002\n")
    corpus = read_corpus(path, text=TextOptions(segment="japanese"))
    assert "\u6771\u4eac" in corpus.vocabulary
    assert len(corpus.vocabulary) > 1


def test_a_tokenizer_of_ones_own(tmp_path):
    path = write(tmp_path / "a.txt", "a-b c.d a-b\n")
    options = TextOptions(tokenizer=str.split, stop_words=None)
    assert read_corpus(path, text=options).vocabulary == ("a-b", "c.d")
    kept = json.loads(json.dumps(options.kept()))
    assert kept["tokenizer"] == "str.split"
    again = TextOptions.for_words(("a-b", "c.d"), kept)
    with pytest.raises(ValueError, match=r"tokeniser of its maker's own \(str\.split\), which a file cannot hold"):
        read_corpus(path, text=again)
    again = TextOptions.for_words(("a-b", "c.d"), kept, tokenizer=str.split)
    assert dense(read_corpus(path, text=again)).tolist() == [[2, 1]]
    for wrong in (lambda text: text, lambda text: [1, 2]):
        with pytest.raises(ValueError, match="which is no list of words"):
            read_corpus(path, text=TextOptions(tokenizer=wrong))


def test_it_is_known_why_words_went(tmp_path):
    lines = ["all cat", "all cat dog", "all cat dog bird", "all sun"]
    path = write(tmp_path / "a.txt", "\n".join(lines))
    corpus = read_corpus(path, text=TextOptions(stop_words=None, min_df=2, max_df=0.9, max_features=1))
    assert corpus.vocabulary == ("cat",)
    assert corpus.words == WordFacts(found=5, rare=2, frequent=1, beyond=1, kept=1)
    assert read_corpus(path, text=TextOptions(vocabulary=("cat",))).words is None


def test_words_of_a_vocabulary_that_are_never_found_are_told_of(tmp_path, recwarn):
    path = write(tmp_path / "a.txt", "USA cat")
    corpus = read_corpus(path, text=TextOptions(vocabulary=("USA", "cat")))
    assert dense(corpus).tolist() == [[0, 1]]
    assert "1 words of the vocabulary, such as 'USA', have capital letters and are never found" in corpus.notes[0]
    exact = read_corpus(path, text=TextOptions.for_words(("USA", "cat")))  # a model that has capital letters
    assert (dense(exact).tolist(), exact.notes) == ([[1, 1]], ())
    assert not recwarn.list


@pytest.mark.parametrize(
    "options",
    [
        {"segment": "klingon"},
        {"segment": "chinese", "tokenizer": str.split},
        {"stop_words": "klingon"},
    ],
)
def test_options_that_make_no_sense(options):
    with pytest.raises(ValueError, match=r"segment|stop_words"):
        TextOptions(**options)


def test_what_is_done_does_not_change_the_counts_of_the_rest(tmp_path):
    """The ways round CountVectorizer's own give its counts where they have nothing to do."""
    rng = np.random.default_rng(0)
    words = [f"w{i}x" for i in range(60)]
    path = write(tmp_path / "a.txt", "\n".join(" ".join(rng.choice(words, 30)) for _ in range(50)))
    plain = read_corpus(path, text=TextOptions(ngram_range=(1, 2), min_df=2))
    for other in ({"strip_html": True}, {"numbers": False}, {"tokenizer": str.split}):
        corpus = read_corpus(path, text=TextOptions(ngram_range=(1, 2), min_df=2, **other))
        assert corpus.vocabulary == plain.vocabulary
        np.testing.assert_array_equal(dense(corpus), dense(plain))


def test_the_share_of_words_that_another_text_would_have_is_told():
    """Without a document, its words are in one document less: "tea" is in two others then, "oil" in one."""
    texts = ["tea oil", "tea oil", "tea", "sea"]
    counted = count_words("texts", iter(texts), TextOptions(min_df=2, max_df=1.0))
    assert counted.vocabulary == ("oil", "tea")
    assert counted.known == 3 / 6


def test_pieces_of_contractions_and_numbers_are_words_unless_they_are_not_wanted():
    text = ["we don't know, they didn't: 10,000 ships won at 9:00 o'clock"]
    counted = [count_words("text", iter(text), TextOptions(pieces=pieces)).vocabulary for pieces in (True, False)]
    assert set(counted[0]) - set(counted[1]) == {"don", "didn", "000", "00"}
    assert set(counted[1]) == {"10", "clock", "know", "ships", "won"}
    without = TextOptions(stop_words=None, pieces=False).words_to_leave_out()
    assert without == {"00", "000"}, "contractions belong to a language"


def test_models_keep_whether_pieces_are_words():
    """What is kept does not change where they are: earlier models read text as before."""
    assert "no_pieces" not in TextOptions().kept()
    kept = TextOptions(pieces=False).kept()
    assert kept["no_pieces"] is True
    assert not TextOptions.from_kept(kept).pieces
    assert "don" not in TextOptions.for_words(("don", "ship"), kept).words_to_leave_out()
    with pytest.raises(ValueError, match="text options make no sense"):
        TextOptions.from_kept(kept | {"no_pieces": "yes"})
