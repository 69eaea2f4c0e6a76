"""Local steps by the recursions of `ssvi.local_steps.hmm.chains`: all states of a sequence at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ssvi.local_steps.hmm.chains import smooth_windows
from ssvi.local_steps.hmm.states import ChainStep, Prepared, Totals, add_up, core_rows, shifted
from ssvi.local_steps.hmm.windows import Windows
from ssvi.numerics.random import Keys

_TOLERANCE = 1e-6  # of shares of states at the edges of a core, when its window grows


class RecursiveStep(ChainStep):
    """Forwards through a window, and backwards through its core."""

    def _run_windows(
        self,
        prepared: Prepared,
        windows: Windows,
        keys: Keys,
        totals: Totals,
        places: npt.NDArray[np.int64],
        *,
        last: bool,
    ) -> npt.NDArray[np.bool_]:
        emitted, shifts = shifted(prepared.emissions.scores(windows.values))
        shares, expected = np.empty(emitted.shape), np.ones(len(emitted))
        chain, settled = prepared.chain, np.empty(len(windows.places), np.bool_)
        smooth_windows(
            emitted, shares, expected, chain.start, chain.transitions, chain.transposed, windows.places, windows.ends,
            keys, self.sampled, np.inf if last else _TOLERANCE, totals.start, totals.counts, settled,
        )  # fmt: skip
        kept = Windows(windows.values, np.where(settled[:, None], windows.places, windows.places[:, 3:]), windows.ends)
        if not self.sampled:
            totals.bound += float(np.log(expected).sum() + shifts[core_rows(kept)].sum())
            totals.bound += _constants(prepared, kept)
        add_up(prepared, windows, shares, keys, totals, places, self.sampled)
        return settled


def _constants(prepared: Prepared, windows: Windows) -> float:
    """Return what the view's own scale adds: once for each first state, and once for each transition."""
    begins, firsts, lasts, _ = windows.places.T
    opens = windows.ends[:, 0] & (begins == firsts) & (lasts > firsts)
    points = int((lasts - firsts).sum())
    return float(opens.sum() * prepared.chain.start_shift + (points - opens.sum()) * prepared.chain.shift)
