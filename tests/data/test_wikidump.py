import bz2
import tracemalloc
from contextlib import suppress

import pytest

from ssvi.data.wikidump import Article, articles

NAMESPACE = "http://www.mediawiki.org/xml/export-0.11/"


def page(title, text, *, ns="<ns>0</ns>", redirect=""):
    return (
        f"<page><title>{title}</title>{ns}<id>1</id>{redirect}<revision><id>2</id><contributor><username>u</username>"
        f'</contributor><comment>c</comment><text xml:space="preserve">{text}</text></revision></page>\n'
    )


def dump(*pages, namespace=NAMESPACE, namespaces=""):
    start = f'<mediawiki xmlns="{namespace}"><siteinfo><namespaces>{namespaces}</namespaces></siteinfo>\n'
    return (start + "".join(pages) + "</mediawiki>\n").encode()


THREE = dump(page("A", "one two"), page("B", "three &lt;b&gt; naïve"), page("C", "four"))
ARTICLES = [Article("A", "one two"), Article("B", "three <b> naïve"), Article("C", "four")]


def streams(content, length):
    return b"".join(bz2.compress(content[start : start + length]) for start in range(0, len(content), length))


def write(tmp_path, content, name="dump.xml"):
    path = tmp_path / name
    path.write_bytes(content)
    return path


def error(path):
    """Read a dump that must not be read without an error; return the articles before it, and its message."""
    before = []
    with pytest.raises(ValueError, match=r"(?s)^.*[.]$") as caught:
        before.extend(articles(path))
    return before, str(caught.value)


@pytest.mark.parametrize("name", ["dump.xml", "dump.xml.bz2"])
@pytest.mark.parametrize("form", [bz2.compress, lambda content: streams(content, 100)])
def test_compression_is_found_by_content(tmp_path, form, name):
    assert list(articles(write(tmp_path, form(THREE), name))) == ARTICLES
    assert list(articles(str(write(tmp_path, THREE)))) == ARTICLES


@pytest.mark.parametrize("namespace", ["", "http://www.mediawiki.org/xml/export-0.3/", "urn:other"])
def test_every_export_version(tmp_path, namespace):
    path = write(tmp_path, THREE.replace(NAMESPACE.encode(), namespace.encode()))
    assert list(articles(path)) == ARTICLES


def test_prefixed_names(tmp_path):
    content = (
        THREE.replace(b"xmlns=", b"xmlns:w=").replace(b"</", b"</w:").replace(b"<", b"<w:").replace(b"<w:/w:", b"</w:")
    )
    assert list(articles(write(tmp_path, content))) == ARTICLES


def test_pages_that_are_no_articles_are_left_out(tmp_path):
    pages = [
        page("Talk:A", "one", ns="<ns>1</ns>"),
        page("A", "one", redirect='<redirect title="B" />'),
        page("A", "#REDIRECT [[B]]"),
        page("A", " \n#Redirect[[B]]"),
        page("A", ""),
        page("A", " \n"),
        "<page><title>A</title><ns>0</ns></page>",
        '<page><title>A</title><ns>0</ns><revision><text deleted="deleted" /></revision></page>',
        page("Kept: A", "# a list"),
    ]
    assert list(articles(write(tmp_path, dump(*pages)))) == [Article("Kept: A", "# a list")]


def test_old_exports_name_the_namespace_in_the_title_only(tmp_path):
    namespaces = '<namespace key="0" /><namespace key="1">Talk</namespace>'
    pages = [page(title, "one", ns="") for title in ("Talk:A", "Talk", "Alien: B", "C")]
    found = [article.title for article in articles(write(tmp_path, dump(*pages, namespaces=namespaces)))]
    assert found == ["Talk", "Alien: B", "C"]


def test_the_last_revision_counts(tmp_path):
    older = page("A", "old").replace("</page>", "<revision><text>new</text></revision></page>")
    emptied = page("B", "old").replace("</page>", "<revision><text /></revision></page>")
    assert list(articles(write(tmp_path, dump(older, emptied)))) == [Article("A", "new")]


@pytest.mark.parametrize("form", [bytes, bz2.compress, lambda content: streams(content, 300_000)])
def test_progress_is_in_bytes_of_the_file(tmp_path, form):
    path = write(tmp_path, form(dump(*(page(f"A{i}", f"{i} " * 500) for i in range(600)))))
    seen = []
    assert len(list(articles(path, report=seen.append))) == 600
    assert len(seen) > 3
    assert seen == sorted(seen)
    assert seen[-1] == path.stat().st_size


def test_every_truncated_dump_is_an_error(tmp_path):
    for length in range(len(THREE.rstrip())):
        error(write(tmp_path, THREE[:length]))
    before, message = error(write(tmp_path, THREE[: THREE.index(b"three")]))
    assert before == ARTICLES[:1]
    assert "in the middle of the page 'B'" in message
    assert "line 3" in message


@pytest.mark.parametrize("form", [bz2.compress, lambda content: streams(content, 200)])
def test_every_truncated_bz2_is_an_error(tmp_path, form):
    content = form(THREE.rstrip())
    for length in (*range(0, len(content) - 30, 7), *range(len(content) - 30, len(content))):
        error(write(tmp_path, content[:length], "dump.xml.bz2"))
    assert "bz2" in error(write(tmp_path, content[:-1]))[1]


@pytest.mark.parametrize("form", [bz2.compress, lambda content: streams(content, 200)])
def test_a_corrupt_bz2_is_an_error_or_whole(tmp_path, form):
    content = form(THREE)
    for position in range(0, len(content), 3):
        path = write(tmp_path, content[:position] + bytes([content[position] ^ 0x14]) + content[position + 1 :])
        found = []
        with suppress(ValueError):
            found.extend(articles(path))
            assert found == ARTICLES  # the header may ask for more memory than is needed
    assert "corrupt bz2" in error(write(tmp_path, content[:20] + b"?" + content[21:]))[1]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("dump.xml", b"", "is empty"),
        ("dump.xml.bz2", b"", "is empty"),
        ("dump.xml.bz2", bz2.compress(b""), "is empty"),
        ("dump.xml", b" \n", "ends at line 2 in the middle of the dump"),
        ("dump.xml.bz2", THREE, "is not a bz2 file"),
        ("dump.xml", b"<feed><page/></feed>", "starts with <feed> and not with <mediawiki>"),
        ("dump.xml", b"\x1f\x8b\x00", r"is not valid XML at line 1 \("),
        ("dump.xml", dump("<page>\n<title>A</text>"), r"is not valid XML at line 3 \(mismatched tag\)"),
        ("dump.xml", dump(page("A", "&nbsp;")), r"is not valid XML at line 2 \(undefined entity\)"),
        ("dump.xml", THREE.replace("ï".encode(), b"\xff"), r"is not valid XML at line 3 \(not well-formed"),
        ("dump.xml", THREE + THREE, r"is not valid XML at line 6 \(junk after document element\)"),
        ("dump.xml", b'<?xml version="1.0"?>\n<!DOCTYPE html>\n<html></html>', "has a <!DOCTYPE> at line 2"),
    ],
)
def test_errors_say_what_and_where(tmp_path, name, content, message):
    path = write(tmp_path, content, name)
    with pytest.raises(ValueError, match=message) as caught:
        list(articles(path))
    assert str(caught.value).startswith(str(path))


def test_entities_are_refused_before_they_grow(tmp_path):
    entities = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' for i in range(1, 12))
    bomb = f'<!DOCTYPE mediawiki [<!ENTITY e0 "lol">{entities}]>'.encode() + dump(page("A", "&e11;"))
    before, message = error(write(tmp_path, bomb))
    assert before == []
    assert "<!DOCTYPE>" in message


def test_files_that_cannot_be_opened_keep_their_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        list(articles(tmp_path / "missing.xml"))
    with pytest.raises(IsADirectoryError):
        list(articles(tmp_path))


def test_a_history_does_not_grow_in_memory(tmp_path):
    revision = f"<revision><text>{'word ' * 1000}</text></revision>"
    peaks = []
    for revisions in (100, 1000):
        history = page("A", "first").replace("</page>", revision * revisions + "</page>")
        path = write(tmp_path, dump(history))
        tracemalloc.start()
        assert [len(article.text) for article in articles(path)] == [5000]
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0]
