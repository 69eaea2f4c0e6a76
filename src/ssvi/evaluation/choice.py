"""Which number of components to take: the fewest whose held-out score cannot be told from the best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ssvi.evaluation.held_out import HeldOut

_CLEARLY = 1.1  # times the coherence and stability of another number make one nicer to read
_FEW_ROWS = 50  # held out: differences between fewer say little
_FAR_WITHIN = 0.5  # of the standard error of a difference: below it, nothing was found


@dataclass(frozen=True)
class Option:
    """What was found with one number of components, over seeds; None is what cannot be measured.

    Attributes
    ----------
    n_components : int
        Their number.
    scores : tuple of float
        The held-out score of each seed.
    held_out : HeldOut
        Of each held-out document, the mean over seeds.
    coherence : float, optional
        The mean NPMI of the topics' first words.
    diversity : float, optional
        The share of distinct words among these.
    stability : float, optional
        How well the components of two seeds agree (`evaluation.stability`).
    in_use : float
        How many components hold something.
    seconds : float
        The time of a fit.
    far : int
        How many of the fits were still far from settled when they ended.

    """

    n_components: int
    scores: tuple[float, ...]
    held_out: HeldOut
    coherence: float | None
    diversity: float | None
    stability: float | None
    in_use: float
    seconds: float
    far: int = 0

    @property
    def score(self) -> float:
        """The mean score over seeds."""
        return self.held_out.mean

    @property
    def readable(self) -> float | None:
        """Coherence times stability: whether words of a component belong together, and fits agree on them."""
        if self.coherence is None or self.stability is None:
            return None
        return max(self.coherence, 0.0) * self.stability

    @property
    def seed_variance(self) -> float:
        """The variance of `score` that comes of the seeds; 0 where there is one, since nothing is known of it."""
        count = len(self.scores)
        return float(np.var(self.scores, ddof=1)) / count if count > 1 else 0.0

    @property
    def error(self) -> float:
        """The standard error of `score`, over documents and seeds like these."""
        return float(np.sqrt(self.held_out.standard_error**2 + self.seed_variance))

    def below(self, other: Option) -> tuple[float, float]:
        """Return how far the score is below another's, and the standard error of that.

        Both have scored the same documents, of which some are hard for both: that cancels in the difference.
        """
        gaps = HeldOut(other.held_out.log_probability - self.held_out.log_probability, self.held_out.n_words)
        variance = gaps.standard_error**2 + self.seed_variance + other.seed_variance
        return gaps.mean, float(np.sqrt(variance))


@dataclass(frozen=True)
class Choice:
    """Numbers of components that were tried, in their order, and which of them to take.

    `most` is the largest number worth trying, if there is one; `rows` how many were scored, if that is known.
    """

    options: tuple[Option, ...]
    noun: str = "component"
    most: int | None = None
    rows: int | None = None

    @classmethod
    def of(
        cls, options: Sequence[Option], noun: str = "component", most: int | None = None, rows: int | None = None
    ) -> Choice:
        """Put options in their order."""
        if not options:
            raise ValueError("there is nothing to choose from: try one number of components or more.")
        if not all(np.isfinite(option.score) for option in options):
            raise ValueError("the held-out documents have nothing to score by: hold more of them out.")
        return cls(tuple(sorted(options, key=lambda option: option.n_components)), noun, most, rows)

    @property
    def best(self) -> Option:
        """The option of the best score; the smaller of two that are equal."""
        return max(self.options, key=lambda option: (option.score, -option.n_components))

    @property
    def advised(self) -> Option:
        """The smallest option whose score is within one standard error of the best."""
        best = self.best
        return next(option for option in self.options if option is best or _is_within(option, best))

    @property
    def cannot_tell(self) -> bool:
        """Whether so few rows were scored that `advised` only stands for not knowing."""
        gap, error = self.advised.below(self.best)
        few = self.rows is not None and self.rows < _FEW_ROWS
        return few and self.advised is not self.best and gap < _FAR_WITHIN * error

    def advice(self) -> str:
        """Return which number to take, and why, in a sentence or two."""
        best, advised = self.best, self.advised
        if len(self.options) == 1:
            were = "was" if best.n_components == 1 else "were"
            return f"Only {self._count(best)} {were} tried: give several numbers to choose from."
        if self.cannot_tell:
            return self._too_few() + self._unsettled()
        to_read = self._for_reading()
        take = f"{'To predict, take' if to_read else 'Take'} {self._count(advised)}: "
        if advised is self.options[0] and advised is best:
            what = f"the best held-out score ({best.score:.4f}), and the fewest that were tried."
        elif advised is best:
            what = (
                f"the best held-out score ({best.score:.4f}), and no fewer come within a standard error of the "
                "difference."
            )
        else:
            gap, error = advised.below(best)
            what = (
                f"the fewest whose held-out score is within one standard error of the best, that of "
                f"{best.n_components:,} ({gap:.4f} below it, give or take {error:.4f})."
            )
        return take + what + self._beyond() + to_read + self._unsettled()

    def _count(self, option: Option) -> str:
        """Return a number of components in words."""
        return f"{option.n_components:,} {self.noun}{'' if option.n_components == 1 else 's'}"

    def _too_few(self) -> str:
        """Return what is to be said where too few rows were scored to prefer any number."""
        best, most = self.best, self.options[-1]
        gap, error = self.advised.below(best)
        alike = [option for option in self.options if option is best or _is_within(option, best)]
        rows = "documents" if self.noun == "topic" else "rows"
        used = f" Of {self._count(most)} the fits used {most.in_use:.3g}." if most.in_use < most.n_components else ""
        return (
            f"{self.rows:,} held-out {rows} are too few to tell {_listed(alike)} {self.noun}s apart: "
            f"{best.n_components:,} scored best, and {self.advised.n_components:,} came {gap:.4f} below it, give or "
            f"take {error:.4f}; give more {rows}, or hold more out (--held-out).{used}"
        )

    def _unsettled(self) -> str:
        """Return how many fits have ended too soon to be judged."""
        fits, far = sum(len(option.scores) for option in self.options), sum(option.far for option in self.options)
        if not far:
            return ""
        numbers = ", ".join(f"{option.n_components:,}" for option in self.options if option.far)
        return (
            f" {far:,} of {fits:,} fits ({numbers} {self.noun}s) were still far from settled when they ended: with "
            "more passes they may look better."
        )

    def _for_reading(self) -> str:
        """Return which smaller number may be nicer to read: its words belong together, and fits agree on it."""
        advised = self.advised
        if advised.readable is None:
            return ""
        fewer = [option for option in self.options if option.n_components <= advised.n_components]
        nicest = max(fewer, key=lambda option: option.readable or 0.0)
        if not (nicest.readable or 0.0) > _CLEARLY * advised.readable:
            return ""
        return (
            f" To read, {nicest.n_components:,} may serve better: coherence {nicest.coherence:.2f} and stability "
            f"{nicest.stability:.2f} (words of a {self.noun} that occur together, fits that agree), against "
            f"{advised.coherence:.2f} and {advised.stability:.2f}."
        )

    def _beyond(self) -> str:
        """Return what else to try, where the answer is at an end of what was tried."""
        if self.advised is self.options[-1]:
            more = min(2 * self.advised.n_components, self.most or 2 * self.advised.n_components)
            if more <= self.advised.n_components:
                return ""
            return f" That is the most that was tried, so that more may be better still: try {more:,} as well."
        if self.advised is self.options[0] and self.options[0].n_components > 2:
            return " That is the least that was tried, so that fewer may do: try some."
        return ""


def _is_within(option: Option, best: Option) -> bool:
    """Tell whether a score is within one standard error of the best."""
    gap, error = option.below(best)
    return gap <= error


def _listed(options: Sequence[Option]) -> str:
    """Return numbers of components in words."""
    *first, last = [f"{option.n_components:,}" for option in options]
    return f"{', '.join(first)} and {last}"
