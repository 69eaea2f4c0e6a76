"""Wikipedia dumps (`enwiki-*-pages-articles.xml`, as it is or in bz2), a page at a time.

Dumps are at https://dumps.wikimedia.org. Nothing is unpacked on disk, and no more than a few pages are in memory.
"""

from __future__ import annotations

import bz2
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from xml.parsers import expat

_CHUNK = 1 << 18  # bytes of XML read at a time
_EARLY_ENDS = {
    expat.errors.codes[message]
    for message in (
        expat.errors.XML_ERROR_NO_ELEMENTS,
        expat.errors.XML_ERROR_UNCLOSED_TOKEN,
        expat.errors.XML_ERROR_PARTIAL_CHAR,
        expat.errors.XML_ERROR_UNCLOSED_CDATA_SECTION,
    )
}
_REDIRECT = re.compile(r"\s*#redirect", re.IGNORECASE)


@dataclass(frozen=True)
class Article:
    """A page of the encyclopedia: its title, and its text in wiki markup."""

    title: str
    text: str


def articles(path: str | Path, *, report: Callable[[int], None] | None = None) -> Iterator[Article]:
    """Yield the articles of a dump: the pages of namespace 0 that are no redirects and not empty.

    A damaged or incomplete dump raises an error where the damage is found, so after the articles before it.

    Parameters
    ----------
    path : str or Path
        An XML dump of any export version, as it is or in bz2 (one stream or many). Of several revisions of a page the
        last one counts.
    report : function, optional
        Called now and then with the number of bytes of the file read so far.

    """
    path = Path(path)
    pages = _Pages(path)
    with path.open("rb") as file:
        stream = _decompressed(file, path)
        chunk = _read(stream, path)
        if not chunk:
            raise ValueError(f"{path} is empty: download the dump again.")
        while True:
            yield from pages.feed(chunk)
            if report is not None:
                report(file.tell())
            if not chunk:
                return
            chunk = _read(stream, path)


class _Pages:
    """Reads XML in chunks and keeps one page at a time: not its tree, and of its revisions only the last."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._elements: list[str] = []  # the open ones, outermost first
        self._content: list[str] = []
        self._page: dict[str, str] = {}
        self._other_namespaces: set[str] = set()
        self._found: list[Article] = []
        # With a separator, names are "address name" whatever the address and prefix of the export's version.
        self._parser = expat.ParserCreate("utf-8", " ")
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._content.append
        self._parser.StartDoctypeDeclHandler = self._refuse_declarations

    def feed(self, chunk: bytes) -> list[Article]:
        """Read a chunk, b"" at the end; return the articles that end in it."""
        self._found = []
        try:
            self._parser.Parse(chunk, not chunk)
        except expat.ExpatError as error:
            if error.code in _EARLY_ENDS:
                where = f"page {self._page['title']!r}" if "title" in self._page else "dump"
                raise ValueError(
                    f"{self._path} ends at line {error.lineno} in the middle of the {where}: download the dump again."
                ) from error
            raise ValueError(
                f"{self._path} is not valid XML at line {error.lineno} ({expat.ErrorString(error.code)}): "
                "download the dump again."
            ) from error
        return self._found

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._elements.append(tag.rpartition(" ")[2])
        self._content.clear()
        match self._elements:
            case [root] if root != "mediawiki":
                raise ValueError(f"{self._path} starts with <{root}> and not with <mediawiki>: give a Wikipedia dump.")
            case [_, "page", "redirect"]:
                self._page["redirect"] = ""
            case [_, "page", "revision"]:
                self._page.pop("text", None)

    def _end(self, tag: str) -> None:
        content = "".join(self._content)
        self._content.clear()
        match self._elements:
            case [_, "page", "title" | "ns" as field] | [_, "page", "revision", "text" as field]:
                self._page[field] = content
            case [_, "siteinfo", "namespaces", "namespace"]:
                self._other_namespaces.add(content)
            case [_, "page"]:
                if self._is_article():
                    self._found.append(Article(self._page.get("title", ""), self._page["text"]))
                self._page = {}
        self._elements.pop()

    def _is_article(self) -> bool:
        prefix, colon, _ = self._page.get("title", "").partition(":")
        if "ns" in self._page:
            in_main_namespace = self._page["ns"].strip() == "0"
        else:  # exports before version 0.6
            in_main_namespace = not (colon and prefix in self._other_namespaces)
        text = self._page.get("text", "")
        return in_main_namespace and "redirect" not in self._page and bool(text.strip()) and not _REDIRECT.match(text)

    def _refuse_declarations(self, *declaration: object) -> None:
        raise ValueError(
            f"{self._path} has a <!DOCTYPE> at line {self._parser.CurrentLineNumber}, so it is no Wikipedia dump but "
            "perhaps a web page, or made to fill your memory: download the dump again."
        )


def _decompressed(file: BufferedReader, path: Path) -> BufferedReader | bz2.BZ2File:
    start = file.peek(3)[:3]
    if start == b"BZh":
        return bz2.BZ2File(file)
    if start and path.suffix == ".bz2":
        raise ValueError(f"{path} is not a bz2 file though it is named one: download it again or rename it.")
    return file


def _read(stream: BufferedReader | bz2.BZ2File, path: Path) -> bytes:
    try:
        return stream.read(_CHUNK)
    except EOFError as error:
        raise ValueError(f"{path} ends in the middle of its bz2 data: download the dump again.") from error
    except OSError as error:
        if error.errno is not None:  # the disk's error, not the decompressor's
            raise
        raise ValueError(f"{path} has corrupt bz2 data: download the dump again.") from error
