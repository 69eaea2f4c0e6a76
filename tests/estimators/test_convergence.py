"""How far q moves in a pass, fits that end by it, and what is said of those that have not converged."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from tests.kinds import WITH_COMPONENTS

import ssvi
from ssvi import (
    BernoulliMixture,
    GammaProcessNMF,
    LatentDirichletAllocation,
    LinearDynamicalSystem,
)
from ssvi.files import Checkpoints
from ssvi.global_steps.ssvi import Ssvi
from ssvi.models.lda import LDA
from ssvi.schedules import PowerSchedule

RNG = np.random.default_rng(0)
ROWS = (RNG.random((120, 12)) < RNG.random((2, 12))[RNG.integers(0, 2, 120)]).astype(int)
_, DOCUMENTS = LDA(30, np.full(3, 0.2), 0.1).simulate(np.random.default_rng(1), 90, length=20.0)
COUNTS = DOCUMENTS.to_matrix()
USUAL = {"batch_size": 30, "learning_method": "online", "random_state": 1}


def _divergence(model, before, after):
    """Return the mean of both Kullback-Leibler divergences, by the formula that needs A."""
    total = 0.0
    for name, block in model.blocks().items():
        one, other = before[name], after[name]
        total -= 0.5 * float(block.family.negative_divergence(one, other).sum())
        total -= 0.5 * float(block.family.negative_divergence(other, one).sum())
    return total


def _after_passes(steps, kept):
    return lambda state, info: kept.append(state.complete()) if info.step % steps == 0 else None


def test_the_number_is_how_far_the_average_over_the_path_moved_in_the_last_pass():
    states = []
    model = LatentDirichletAllocation(
        3, global_step=Ssvi(averaging=7.0), max_iter=5, callbacks=[_after_passes(3, states)], **USUAL
    ).fit(COUNTS)
    moved = _divergence(model._model(), states[-2].averages, states[-1].averages)
    assert model.convergence_ == pytest.approx(moved / COUNTS.sum(), rel=1e-6)


def test_a_fit_without_an_average_is_measured_by_one_over_its_passes():
    states = []
    model = BernoulliMixture(3, max_iter=4, callbacks=[_after_passes(4, states)], **USUAL).fit(ROWS)
    averages = [states[0].parameters]
    for number, state in enumerate(states[1:], 2):
        averages.append({
            name: averages[-1][name] + 8.0 / (number + 7.0) * (lam - averages[-1][name])
            for name, lam in state.parameters.items()
        })  # fmt: skip
    moved = _divergence(model._model(), averages[-2], averages[-1])
    assert model.convergence_ == pytest.approx(moved / len(ROWS), rel=1e-6)


BY_DISTANCE = {name: kind for name, kind in WITH_COMPONENTS.items() if not kind._ends_by_gain}  # others: test_gains


@pytest.mark.parametrize("kind", BY_DISTANCE.values(), ids=list(BY_DISTANCE))
def test_auto_ends_at_the_first_pass_that_moves_little_and_is_a_fit_of_so_many_passes(kind):
    # What depends on the passes that were planned, or comes after them, is left out.
    without = {GammaProcessNMF: {"polish": 0, "merge": None}}
    settings, numbers = USUAL | without.get(kind, {}), []
    model = kind(3, max_iter="auto", **settings)
    steps = model._plan(len(ROWS)).steps_per_pass
    note = lambda state, info: numbers.append(model.convergence_) if info.step % steps == 0 else None  # noqa: E731
    model.set_params(callbacks=[note]).fit(ROWS)
    assert model.converged_
    assert model.convergence_ == numbers[-1] < model.convergence_tol
    assert np.isnan(numbers[:2]).all()
    assert all(number >= model.convergence_tol for number in numbers[2:-1])
    assert model.n_iter_ == len(numbers) < model.total_steps(len(ROWS)) / steps
    if kind is LinearDynamicalSystem:  # whose start is made by as many passes as were planned
        return
    fixed = kind(3, max_iter=model.n_iter_, **settings).fit(ROWS)
    for name, lam in fixed._state.parameters.items():
        np.testing.assert_array_equal(model._state.parameters[name], lam)
    assert fixed.convergence_ == model.convergence_
    assert fixed.converged_


def test_whole_data_is_not_looked_at_while_it_explores():
    model = BernoulliMixture(3, max_iter="auto", random_state=0).fit(ROWS)
    plan = model._plan(len(ROWS))
    assert plan.planned == 1_500
    assert model.n_iter_ % 30 == 0
    assert plan.first_average <= model.n_iter_ - 2 * 30 < plan.total
    assert model.converged_


class PowerCutError(Exception):
    """The process ends here."""


@pytest.mark.parametrize("kind", [LatentDirichletAllocation, BernoulliMixture])
def test_a_fit_that_is_taken_up_again_ends_where_it_would_have(kind, tmp_path):
    def cut(state, info):
        if info.step == 14:
            raise PowerCutError

    settings = USUAL | {"max_iter": "auto", "convergence_tol": 1e-4, "learning_rate": "adaptive"}
    whole = kind(3, **settings).fit(ROWS)
    assert whole.n_batch_iter_ > 14
    with pytest.raises(PowerCutError):
        kind(3, callbacks=[Checkpoints(tmp_path, 5), cut], **settings).fit(ROWS)
    resumed = kind(3, callbacks=[Checkpoints(tmp_path, 5)], **settings).fit(ROWS)
    assert (resumed.n_batch_iter_, resumed.convergence_) == (whole.n_batch_iter_, whole.convergence_)
    for name, lam in whole._state.parameters.items():
        np.testing.assert_array_equal(resumed._state.parameters[name], lam)
    assert not hasattr(resumed, "_last_look")


def _far_from_converged(**changes):
    return LatentDirichletAllocation(3, **(USUAL | {"max_iter": 4, "convergence_tol": 1e-9} | changes))


def test_a_fit_far_from_converged_says_so_and_what_to_do():
    model = _far_from_converged()
    with pytest.warns(ConvergenceWarning, match=r"in the last of 4 passes q moved by .*set `max_iter` to about \d+"):
        model.fit(COUNTS)
    assert not model.converged_
    with pytest.warns(ConvergenceWarning, match="or to auto") as caught:
        model.fit(COUNTS)
    advised = int(str(caught[0].message).split("about ")[1].split(",")[0])
    assert advised >= 4 * (model.convergence_ / 1e-9) ** 0.5 > 0.9 * advised
    with pytest.warns(ConvergenceWarning, match=r"about \d+\.$"):  # ten times the usual passes were not enough either
        BernoulliMixture(3, max_iter="auto", convergence_tol=1e-9, **USUAL).fit(ROWS)


def test_no_word_where_it_does_no_harm():
    quiet = [
        _far_from_converged(max_iter=2),  # not meant to converge
        _far_from_converged(early_stopping=True),  # ends by another rule
        _far_from_converged(callbacks=[lambda state, info: info.step == 10]),  # stopped by somebody
    ]
    number = LatentDirichletAllocation(3, max_iter=4, **USUAL).fit(COUNTS).convergence_
    quiet.append(_far_from_converged(convergence_tol=number / 3.9))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for model in quiet:
            model.fit(COUNTS)
            assert not model.converged_
    with pytest.warns(ConvergenceWarning):
        _far_from_converged(convergence_tol=number / 4.1).fit(COUNTS)


def test_the_number_is_kept_in_files_and_not_through_partial_fit(tmp_path):
    model = LatentDirichletAllocation(3, max_iter=3, **USUAL).fit(COUNTS)
    model.save(tmp_path / "model.ssvi")
    loaded = ssvi.load(tmp_path / "model.ssvi")
    assert (loaded.convergence_, loaded.converged_) == (model.convergence_, model.converged_)
    assert np.isfinite(loaded.convergence_)
    loaded.partial_fit(COUNTS)
    assert np.isnan(loaded.convergence_)
    assert not loaded.converged_


def test_coordinate_ascent_is_ended_by_its_own_tolerance():
    ascent = {"global_step": "mean_field", "learning_method": "batch", "random_state": 0}
    model = BernoulliMixture(3, max_iter="auto", tol=1e-3, **ascent).fit(ROWS)
    assert model.converged_
    assert model.n_iter_ < 1_500
    unsettled = BernoulliMixture(3, max_iter=60, tol=0.0, convergence_tol=100.0, **ascent).fit(ROWS)
    assert unsettled.convergence_ < 100.0
    assert not unsettled.converged_
    without = LatentDirichletAllocation(3, max_iter="auto", local_step="mean_field", **ascent).fit(COUNTS)
    assert without.converged_  # it has no tolerance but this


def test_step_sizes_of_ones_own_and_adaptive_ones_are_parameters(tmp_path):
    own = LatentDirichletAllocation(3, learning_rate=PowerSchedule(0.7, 2.0), max_iter=2, **USUAL).fit(COUNTS)
    same = LatentDirichletAllocation(3, learning_decay=0.7, learning_offset=2.0, max_iter=2, **USUAL).fit(COUNTS)
    np.testing.assert_array_equal(own.components_, same.components_)
    adaptive = LatentDirichletAllocation(3, learning_rate="adaptive", max_iter=3, **USUAL).fit(COUNTS)
    sizes = [info.step_size for info in adaptive.history_]
    assert len(set(sizes)) == len(sizes)
    for model in (own, adaptive):
        model.save(tmp_path / "model.ssvi")
        loaded = ssvi.load(tmp_path / "model.ssvi")
        model.partial_fit(COUNTS)
        np.testing.assert_array_equal(loaded.partial_fit(COUNTS).components_, model.components_)


@pytest.mark.parametrize(
    "given", [{"max_iter": "always"}, {"max_iter": 0}, {"max_iter": 2.5}, {"learning_rate": "quick"},
              {"learning_rate": 0.1}, {"learning_rate": None}, {"convergence_tol": 0.0}],
)  # fmt: skip
def test_parameters_that_will_not_do_are_refused(given):
    with pytest.raises(ValueError, match=next(iter(given))):
        LatentDirichletAllocation(3, **given).fit(COUNTS)
