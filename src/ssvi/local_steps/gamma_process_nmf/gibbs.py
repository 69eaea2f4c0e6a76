"""Gibbs local step of GaP-KL-NMF: each frame's activations are drawn, and how its counts split if that is wanted."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.batches.frames import Frames
from ssvi.checks import require_count, require_one_of
from ssvi.local_steps.gamma_process_nmf.factors import (
    FactorisationStep,
    Prepared,
    add_missing,
    count_frame_tables,
    frame_rates,
    scaled_activity,
)
from ssvi.local_steps.splits import add_shares, gather, most_entries, pull_towards
from ssvi.models.gamma_process_nmf import GammaProcessNMF
from ssvi.numerics.binomial import room_for, split_count
from ssvi.numerics.compile import kernel
from ssvi.numerics.gamma_variates import log_gamma_variate
from ssvi.numerics.poisson import poisson
from ssvi.numerics.random import Keys, uniform
from ssvi.typing import Array

_SPLITS = ("expected", "poisson", "drawn")
_POISSON = 1
_DRAWN: Any = np.int64(2)  # no literal, for which numba compiles `_tally` once more
_TINY = 1e-300
Room = tuple[npt.NDArray[Any], npt.NDArray[np.float64]]


@kernel
def _split(
    value: float, row: npt.NDArray[Any], activity: npt.NDArray[Any], room: Room, tallies: npt.NDArray[Any],
    state: np.uint64,
) -> np.uint64:  # fmt: skip
    """Add to `tallies` a draw of how a value splits; one that is not whole is first rounded at random, up or down."""
    products, sums = room
    for k in range(row.size):
        products[k] = row[k] * activity[k]
    count = int(value)
    if value > count:
        chance, state = uniform(state)
        count += chance < value - count
    return split_count(count, products, sums, tallies, state)


@kernel
def _tally(
    rows: npt.NDArray[Any], counts: npt.NDArray[Any], activity: npt.NDArray[Any], how: int, room: Room,
    pull: npt.NDArray[Any], tallies: Array, state: np.uint64,
) -> np.uint64:  # fmt: skip
    """Fill in how much of a frame each component accounts for."""
    if how == _DRAWN:
        tallies[:] = 0.0
        for i in range(counts.size):
            state = _split(counts[i], rows[i], activity, room, tallies, state)
        return state
    pull_towards(rows, counts, activity, pull)
    for k in range(tallies.size):
        tallies[k] = activity[k] * pull[k]
        if how == _POISSON:
            tallies[k], state = poisson(tallies[k], state)
    return state


@kernel
def gibbs_frames(
    indptr: npt.NDArray[np.int64],
    columns: npt.NDArray[Any],
    counts: npt.NDArray[Any],
    missing_indptr: npt.NDArray[np.int64],
    missing_columns: npt.NDArray[Any],
    weights: npt.NDArray[Any],
    means: Array,
    whole_rates: Array,
    b: float,
    sweeps: int,
    how: int,
    keys: Keys,
    activations: Array,
    shares: npt.NDArray[Any],
    missed: Array,
    tables: Array,
) -> None:
    """Handle each frame of a shard: fill in a draw of H, add to shares, missed and (if it has any) tables."""
    size = whole_rates.size
    buffer = np.empty((most_entries(indptr), size), weights.dtype)
    activity, pull = np.empty(size, weights.dtype), np.empty(size, weights.dtype)
    rates, tallies = np.empty(size), np.empty(size)
    room = (np.empty(size, weights.dtype), room_for(size))
    for n in range(indptr.size - 1):
        own, here = counts[indptr[n] : indptr[n + 1]], columns[indptr[n] : indptr[n + 1]]
        absent = missing_columns[missing_indptr[n] : missing_indptr[n + 1]]
        rows, state, current = gather(here, weights, buffer), keys[n], activations[n]
        frame_rates(absent, means, whole_rates, rates)
        current[:] = (b + own.sum() / size) / rates
        for _ in range(sweeps):
            scaled_activity(current, activity)
            state = _tally(rows, own, activity, how, room, pull, tallies, state)
            for k in range(size):
                log_value, state = log_gamma_variate(b + tallies[k], state)
                # A small b makes draws that underflow; if all of them did, there would be nothing to split by.
                current[k] = max(math.exp(log_value), _TINY) / rates[k]
        scaled_activity(current, activity)
        if tables.size:
            # Poisson numbers scatter more than counts that are split, and would make b too small; means, too large.
            state = _tally(rows, own, activity, _DRAWN, room, pull, tallies, state)
            count_frame_tables(b, b + tallies, rates, tables)
        add_missing(absent, current, missed)
        if how == _DRAWN:
            for i in range(own.size):
                state = _split(own[i], rows[i], activity, room, shares[here[i]], state)
        else:
            add_shares(rows, here, own, activity, shares)


@dataclass(frozen=True)
class Gibbs(FactorisationStep):
    """A draw of H_n by Gibbs sampling of H_n and the split z_n of its counts, from equal activations.

    Each frame starts afresh: activations kept from one step to the next hold on to what they explained before.

    Parameters
    ----------
    sweeps : int
        Draws of H_n in turn, the last of which is used.
    split : {"poisson", "expected", "drawn"}
        How much of a frame each component accounts for, between two draws of H_n. "drawn" splits every count at random
        (one that is not whole is first rounded at random, up or down); the sweeps are then a Gibbs sampler, exact in
        the limit, and their time grows with the counts. "expected" takes the mean. "poisson" takes Poisson numbers
        around the means, as if the frame had been observed again; that costs little more than the means and explores
        almost as "drawn" does, with a little more noise.
    precision : {"float32", "float64"}
        The arithmetic of the inner loops.

    """

    sweeps: int = 20
    split: str = "poisson"
    precision: str = "float32"

    name = "gibbs"

    def __post_init__(self) -> None:
        super().__post_init__()
        require_count("sweeps", self.sweeps)
        require_one_of("split", self.split, _SPLITS)

    @property
    def _share_type(self) -> str:
        return "float64" if self.split == "drawn" else self.precision  # single precision stops counting at 2^24

    def _counts(self, prepared: Prepared, shares: Array) -> Array:
        return shares if self.split == "drawn" else super()._counts(prepared, shares)

    def _handle(
        self, model: GammaProcessNMF, prepared: Prepared, frames: Frames, keys: Keys, activations: Array,
        shares: npt.NDArray[Any], missed: Array, tables: Array,
    ) -> None:  # fmt: skip
        values, absent = frames.values, frames.missing
        gibbs_frames(
            values.indptr, values.words, values.counts, absent.indptr, absent.words, prepared.weights, prepared.means,
            prepared.rates, model.activation_shape, self.sweeps, _SPLITS.index(self.split), keys,
            activations, shares, missed, tables,
        )  # fmt: skip
