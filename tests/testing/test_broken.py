"""Deliberately broken models and steps are caught, each with a message that names the fault.

Families have their own in test_families.py; here they come by way of a model. All are variants of the model of
docs/your_own_model.md.
"""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from tests.pages import code_blocks

from ssvi.families.gamma import Gamma
from ssvi.families.learned import Usual
from ssvi.local_steps import LocalResult
from ssvi.models import Block
from ssvi.testing import check_estimator, check_local_step, check_model

PAGE: dict = {"__name__": "page"}
exec(code_blocks("your_own_model.md")[0], PAGE)
ExcessZeros, Exact, ExcessZerosModel = PAGE["ExcessZeros"], PAGE["Exact"], PAGE["ExcessZerosModel"]
MODEL = ExcessZeros.example()


@dataclass(frozen=True)
class Gibbs(Exact):
    """Absences drawn, as they should be."""

    name = "gibbs"

    def group(self, model, views, group, rng):
        _, _, found = super().group(model, views, group, rng)
        absent = (rng.random(group.shape) < found["absent"]).astype(float)
        statistics = {
            "absent": np.stack([absent, 1 - absent], axis=-1),
            "rate": np.stack([(1 - absent) * group, 1 - absent], axis=-1),
        }
        return statistics, None, {"absent": absent}


class WrongSign(Exact):
    def group(self, model, views, group, rng):
        statistics, bound, found = super().group(model, views, group, rng)
        return {**statistics, "rate": statistics["rate"] * [1, -1]}, bound, found


class WrongFactor(Exact):
    def group(self, model, views, group, rng):
        statistics, bound, found = super().group(model, views, group, rng)
        return {**statistics, "rate": statistics["rate"] * [0.5, 1]}, bound, found


class WrongOrder(Gibbs):
    def group(self, model, views, group, rng):
        statistics, bound, found = super().group(model, views, group, rng)
        return {**statistics, "absent": statistics["absent"][:, ::-1]}, bound, found


class MeanForSum(Exact):
    def finish(self, model, prepared, result):
        return replace(result, scale=1.0 / len(prepared.batch))


class WritesIntoViews(Exact):
    def prepare(self, model, views, batch, each=map):
        views["rate"][:, 0] -= 1e-9
        return super().prepare(model, views, batch, each)


class WritesIntoViewsOfAGroup(Exact):
    def group(self, model, views, group, rng):
        views["rate"][:, 0] -= 1e-9
        return super().group(model, views, group, rng)


class WritesIntoData(Exact):
    def group(self, model, views, group, rng):
        group += 1
        return super().group(model, views, group, rng)


class IgnoresItsKey(Gibbs):
    def group(self, model, views, group, rng):
        return super().group(model, views, group, np.random.default_rng(0))


class DrawsFromElsewhere(Gibbs):
    stream = np.random.default_rng(0)

    def group(self, model, views, group, rng):
        return super().group(model, views, group, self.stream)


class TooLarge(Exact):
    """As if absences had not been normalised."""

    def group(self, model, views, group, rng):
        statistics, bound, found = super().group(model, views, group, rng)
        return statistics, bound + 0.7, found


class EntropyTwice(Exact):
    def group(self, model, views, group, rng):
        statistics, bound, found = super().group(model, views, group, rng)
        p = np.clip(found["absent"], 1e-12, 1 - 1e-12)
        return statistics, bound - (p * np.log(p) + (1 - p) * np.log1p(-p)).sum(), found


class OneStreamAShard(Gibbs):
    def run(self, model, prepared, start, stop, keys):
        return super().run(model, prepared, start, stop, np.full_like(keys, keys[0]))


class CountsItsShard(Exact):
    def run(self, model, prepared, start, stop, keys):
        result = super().run(model, prepared, start, stop, keys)
        return LocalResult({**result.eta_hat, "rate": result.eta_hat["rate"] + 1.0}, result.local, result.bound)


class ForgetsABlock(Exact):
    def finish(self, model, prepared, result):
        return LocalResult({"absent": result.eta_hat["absent"]}, result.local, result.bound)


STEPS = [
    (WrongSign, "prior \\+ eta-hat of 'rate' leaves the domain .* wrong sign"),
    (WrongFactor, "eta-hat of 'rate' is not the slope of the bound .* wrong sign or factor"),
    (WrongOrder, "eta-hat of 'absent' is not what the model's simulation says"),
    (MeanForSum, "statistics do not add up over groups"),
    (WritesIntoViews, "writes into the views"),
    (WritesIntoViewsOfAGroup, "writes into the views"),
    (WritesIntoData, "writes into the data"),
    (IgnoresItsKey, "its draws ignore their keys"),
    (DrawsFromElsewhere, "randomness from elsewhere"),
    (TooLarge, "its bound is none: .* log p\\(y \\| beta\\) is about"),
    (EntropyTwice, "is not the slope of the bound"),
    (OneStreamAShard, "depends on the shard that a group is in"),
    (CountsItsShard, "depends on the shard that a group is in"),
    (ForgetsABlock, "returns no statistics of the block 'rate'"),
]


@pytest.mark.parametrize(("step", "fault"), STEPS, ids=lambda value: getattr(value, "__name__", ""))
def test_a_broken_local_step_is_caught(step, fault):
    with pytest.raises(AssertionError, match=fault) as caught:
        check_local_step(step(), MODEL)
    assert str(caught.value).startswith(f"{step()}: ")


class PullbackOffByAFactor(Gamma):
    def pullback(self, lam, draw, x):
        return 1.1 * super().pullback(lam, draw, x)


class SolvesTheWrongMatrix(Gamma):
    def fisher_solve(self, lam, x):
        return x / self.mean_stats(lam) ** 2


class LeavesTheDomain(Gamma):
    def project(self, candidate, current, prior):
        return np.maximum(candidate, -1e-3), int((candidate < -1e-3).sum())


class _WithFamily(ExcessZeros):
    family: type

    def blocks(self):
        blocks = super().blocks()
        return {**blocks, "rate": Block(self.family(), blocks["rate"].prior, blocks["rate"].shape)}


class WithPullback(_WithFamily):
    family = PullbackOffByAFactor


class WithFisher(_WithFamily):
    family = SolvesTheWrongMatrix


class WithProjection(_WithFamily):
    family = LeavesTheDomain


class AnotherPrior(ExcessZeros):
    """Takes the rate of the gamma prior for its scale."""

    def simulate(self, rng, n, *, values=None):
        if values is None:
            shape, scale = self.rate_prior
            values = {"absent": rng.beta(1, 1, self.n_features), "rate": rng.gamma(shape, scale, self.n_features)}
        return super().simulate(rng, n, values=values)


class AnotherForm(ExcessZeros):
    """Gives the scale where the family takes the rate."""

    def simulate(self, rng, n, *, values=None):
        drawn, data = super().simulate(rng, n, values=values)
        return (drawn if values else {**drawn, "rate": 1.0 / drawn["rate"]}), data


class IgnoresValues(ExcessZeros):
    def simulate(self, rng, n, *, values=None):
        return super().simulate(rng, n)


class PriorOutside(ExcessZeros):
    def blocks(self):
        blocks = super().blocks()
        return {**blocks, "rate": Block(Gamma(), np.array([0.0, 1.0]), blocks["rate"].shape)}


class WrongShape(ExcessZeros):
    def blocks(self):
        return {name: replace(block, shape=(2, self.n_features)) for name, block in super().blocks().items()}


class StartsOutside(ExcessZeros):
    def init(self, rng):
        return {name: lam - 5.0 for name, lam in super().init(rng).items()}


class HasNoFieldForLearning(ExcessZeros):
    def usual_numbers(self):
        return {"n_features": Usual()}


@dataclass(frozen=True)
class LearnsWhatDoesNotMatter(ExcessZeros):
    learned: tuple[str, ...] = ()

    def usual_numbers(self):
        return {"n_features": Usual()}

    def blocks(self):
        return {name: replace(block, shape=(3, 2)) for name, block in super().blocks().items()}


@dataclass(frozen=True)
class LearnsWhatIsNotThere(ExcessZeros):
    learned: tuple[str, ...] = ()

    def usual_numbers(self):
        return {"prior.shape": Usual()}


MODELS = [
    (HasNoFieldForLearning, "HasNoFieldForLearning needs a field `learned`, of names: it has usual_numbers"),
    (LearnsWhatDoesNotMatter, "usual_numbers\\(\\) has 'n_features', and no block's prior follows from it"),
    (LearnsWhatIsNotThere, "usual_numbers\\(\\) has 'prior.shape', which is no attribute of the model"),
    (WithPullback, r"PullbackOffByAFactor\(\): pullback is not \(d t\(R\(u; lambda\)\) / d lambda\)\^T x"),
    (WithFisher, r"SolvesTheWrongMatrix\(\): fisher_solve"),
    (WithProjection, r"LeavesTheDomain\(\): project leaves rows .* outside the domain"),
    (AnotherPrior, "simulate draws 'rate' from another prior than blocks\\(\\) has"),
    (AnotherForm, "simulate draws 'rate' from another prior .* or gives it in another form"),
    (IgnoresValues, "does not simulate with these values"),
    (PriorOutside, "the prior of 'rate' is not in Gamma\\(\\)'s domain"),
    (WrongShape, "has the shape \\(2, 3\\), and one Beta\\(\\) has 2 numbers on the last axis"),
    (StartsOutside, "init starts 'absent' outside of its domain"),
]


@pytest.mark.parametrize(("model", "fault"), MODELS, ids=lambda value: getattr(value, "__name__", ""))
def test_a_broken_model_is_caught(model, fault):
    with pytest.raises(AssertionError, match=fault):
        check_model(model.example())


class ForgetsAnAttribute(ExcessZerosModel):
    """Its score needs something that no file holds."""

    name = "forgets"

    def fit(self, X, y=None, *, X_val=None):
        super().fit(X, y, X_val=X_val)
        self.bonus_ = 1.0
        return self

    def _score(self, data):
        return super()._score(data) + getattr(self, "bonus_", 0.0)


class ChangesItself(ExcessZerosModel):
    name = "changes"

    def transform(self, X):
        self._state = replace(self._state, step=self._state.step + 1)
        return super().transform(X)


@pytest.mark.parametrize(
    ("kind", "fault"),
    [
        (ForgetsAnAttribute, "score of what a file gives back .* saved_attributes"),
        (ChangesItself, "asking a fitted estimator changes it"),
    ],
)
def test_a_broken_estimator_is_caught(kind, fault):
    with pytest.raises(AssertionError, match=fault):
        check_estimator(kind())


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_what_is_sound_passes_with_any_seed(seed):
    check_model(MODEL, seed=seed)
    for step in (Exact(), Gibbs()):
        check_local_step(step, MODEL, seed=seed)
    check_estimator(ExcessZerosModel(), seed=seed)


def test_a_step_of_a_model_that_is_not_of_the_package_needs_one():
    with pytest.raises(AssertionError, match="give check_local_step one"):
        check_local_step(Exact())
