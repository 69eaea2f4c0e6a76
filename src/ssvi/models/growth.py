"""The concentration of shared weights: how many components there are, as far as the tables of their guests tell."""

from __future__ import annotations

import numpy as np

from ssvi.numerics.special import digamma_array
from ssvi.typing import Array


def likeliest_growth(growth: float, tables: Array) -> float:
    """Return gamma of w ~ Dirichlet(gamma / K), after a step of Minka's fixed point, w integrated out.

    `tables` says how often each of K components was drawn from w. m of them are as many guests, and their expected
    number of tables, a level higher, is (gamma / K) (psi(m + gamma / K) - psi(gamma / K)).
    """
    share = np.array([growth / tables.size])
    upper = share * (digamma_array(tables + share) - digamma_array(share)).sum()
    ends = digamma_array(np.array([tables.sum() + growth, growth]))
    return float(upper[0] / (ends[0] - ends[1]))
