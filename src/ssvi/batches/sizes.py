"""What is known of a corpus before it is read."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ssvi.batches.documents import Documents


@dataclass(frozen=True)
class Sizes:
    """What is known of a corpus before it is read.

    Attributes
    ----------
    entries : int
        How many different words the documents have, added up.
    tokens : float
        How many words they have.
    longest : float
        How many the longest has; or more, where these are a part of a corpus.
    empty : int
        How many documents have none.
    whole : bool
        Whether every count is a whole number.

    """

    entries: int
    tokens: float
    longest: float
    empty: int
    whole: bool

    @classmethod
    def of(cls, documents: Documents) -> Sizes:
        """Return the sizes of documents in memory."""
        lengths = documents.lengths()
        entries, tokens = int(documents.costs().sum()), float(lengths.sum())
        return cls(entries, tokens, float(lengths.max(initial=0.0)), int((lengths == 0).sum()), documents.is_whole())

    def with_more(self, others: Sizes) -> Sizes:
        """Return the sizes of these documents and of others."""
        entries, tokens, empty = self.entries + others.entries, self.tokens + others.tokens, self.empty + others.empty
        return Sizes(entries, tokens, max(self.longest, others.longest), empty, self.whole and others.whole)

    def without(self, others: Sizes) -> Sizes:
        """Return the sizes of what is left if some documents are taken away."""
        return replace(
            self,
            entries=self.entries - others.entries,
            tokens=self.tokens - others.tokens,
            empty=self.empty - others.empty,
        )

    def share(self, of_documents: float) -> Sizes:
        """Return the sizes that a share of the documents has, about."""
        entries, empty = round(of_documents * self.entries), round(of_documents * self.empty)
        return replace(self, entries=entries, tokens=of_documents * self.tokens, empty=empty)
