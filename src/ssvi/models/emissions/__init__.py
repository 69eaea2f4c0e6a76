"""How the states of a sequence show themselves: one file a kind of emission."""

from ssvi.models.emissions.base import Emission, Tables
from ssvi.models.emissions.bernoulli import BernoulliEmission
from ssvi.models.emissions.categorical import CategoricalEmission
from ssvi.models.emissions.gaussian import GaussianEmission
from ssvi.models.emissions.multinomial import MultinomialEmission
from ssvi.models.emissions.poisson import PoissonEmission

__all__ = [
    "EMISSIONS",
    "BernoulliEmission",
    "CategoricalEmission",
    "Emission",
    "GaussianEmission",
    "MultinomialEmission",
    "PoissonEmission",
    "Tables",
]

EMISSIONS: dict[str, type[Emission]] = {
    kind.kind: kind
    for kind in (GaussianEmission, CategoricalEmission, BernoulliEmission, PoissonEmission, MultinomialEmission)
}
