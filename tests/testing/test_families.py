"""Deliberately broken families are caught, with a message that names the fault."""

import numpy as np
import pytest

from ssvi.families.base import ExponentialFamily
from ssvi.families.dirichlet import Dirichlet
from ssvi.families.draws import Draw
from ssvi.families.gamma import Gamma
from ssvi.families.wishart import Wishart
from ssvi.testing import check_family


class PullbackOffByAFactor(Gamma):
    def pullback(self, lam, draw, x):
        return 2.0 * super().pullback(lam, draw, x)


class SolvesTheWrongMatrix(Gamma):
    def fisher_solve(self, lam, x):
        return x / self.mean_stats(lam) ** 2


class ProjectionLeavesTheDomain(Gamma):
    def project(self, candidate, current, prior):
        return np.maximum(candidate, -1e-3), int((candidate < -1e-3).sum())


class ProjectionForgetsToCount(Gamma):
    def project(self, candidate, current, prior):
        return super().project(candidate, current, prior)[0], 0


class ProjectionHidesNan(Gamma):
    def project(self, candidate, current, prior):
        projected, moved = super().project(np.nan_to_num(candidate), current, prior)
        return projected, moved


class DrawIgnoresItsKey(Gamma):
    def draw(self, lam, keys):
        return super().draw(lam, np.arange(len(keys), dtype=np.uint64))


class DrawIsTheSameForAllKeys(Gamma):
    def draw(self, lam, keys):
        return super().draw(lam, np.full_like(keys, 5))


class DrawFromAnotherShape(Gamma):
    def draw(self, lam, keys):
        return super().draw(lam * [1.1, 1.0], keys)


class MeanIsNotTheGradient(Gamma):
    def mean_stats(self, lam):
        return super().mean_stats(lam) + 0.01


class ModeIsTheMean(Gamma):
    def mode_stats(self, lam):
        return self.mean_stats(lam)


class DomainByCoordinate(Gamma):
    def in_domain(self, lam):
        return np.isfinite(lam) & (lam > 0)


class DomainTakesInfinity(Gamma):
    def in_domain(self, lam):
        return (lam > 0).all(axis=-1)


class ForgetsTheRamp(Gamma):
    def corrected(self, lam, draw, x, ramp=1.0, softening=0.0):
        return super().corrected(lam, draw, x, 1.0, softening)


class WrongDivergence(Gamma):
    def negative_divergence(self, lam, prior):
        return 1.01 * super().negative_divergence(lam, prior)


class WrongDistance(Gamma):
    def distance(self, lam, other):
        return 2.0 * super().distance(lam, other)


class RowsLeak(Dirichlet):
    def mean_stats(self, lam):
        return super().mean_stats(lam) + 1e-9 * lam.reshape(-1, lam.shape[-1])[:1].sum() * (lam.ndim > 2)


class WritesIntoLambda(Gamma):
    def mode_stats(self, lam):
        result = super().mode_stats(lam)
        lam *= 1.0 + 1e-9
        return result


class Underflows(Gamma):
    def draw(self, lam, keys):
        good = super().draw(lam, keys)
        return Draw(np.stack([np.log(-good.stats[..., 1]), good.stats[..., 1]], axis=-1), good.hidden)


@pytest.mark.parametrize(
    ("family", "fault"),
    [
        (PullbackOffByAFactor, r"pullback is not \(d t\(R\(u; lambda\)\) / d lambda\)\^T x"),
        (SolvesTheWrongMatrix, "fisher_solve"),
        (ProjectionLeavesTheDomain, "project leaves rows .* outside the domain"),
        (ProjectionForgetsToCount, "project counts 0 moves"),
        (ProjectionHidesNan, "project hides a row of NaN"),
        (DrawIgnoresItsKey, "draw ignores its key: two rows with one key differ"),
        (DrawIsTheSameForAllKeys, "draw ignores its key: 1 different rows"),
        (DrawFromAnotherShape, "the mean of draws' t is not mean_stats"),
        (MeanIsNotTheGradient, "mean_stats is not the gradient of log_normalizer"),
        (ModeIsTheMean, "mode_stats"),
        (DomainByCoordinate, "in_domain must give one truth value a row"),
        (DomainTakesInfinity, "in_domain says yes although .* inf"),
        (ForgetsTheRamp, r"corrected is not x \+ k \(V x - x\)"),
        (WrongDivergence, "negative_divergence is not"),
        (WrongDistance, "distance is not the mean of KL"),
        (RowsLeak, "mean_stats of rows with two leading axes differs"),
        (WritesIntoLambda, "writes into its arguments"),
        (Underflows, "not finite a millionth of the way from the boundary"),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else "",
)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_a_broken_family_is_caught(family, fault):
    with pytest.raises(AssertionError, match=fault) as caught:
        check_family(family())
    assert str(caught.value).startswith(f"{family.__name__}(): ")


def test_a_domain_that_is_too_large_is_caught():
    """nu > 0 where it must be over D - 1 = 1: digamma has a pole between, beyond which E[t] is too large."""

    class DomainIsTooLarge(Wishart):
        def in_domain(self, lam):
            return super().in_domain(lam + np.eye(4)[3])

    with pytest.raises(AssertionError, match="in_domain says yes too far out"):
        check_family(DomainIsTooLarge(2))


def test_a_sound_family_of_ones_own_passes_with_any_seed():
    class Plain(Gamma):
        """Everything that has a general form in the base, in that form."""

        name = "plain"
        project = ExponentialFamily.project

    for seed in (1, 2):
        check_family(Plain(), seed=seed)
