"""What every estimator must do, whatever its model: the life that scikit-learn, files and checkpoints give it."""

from __future__ import annotations

import inspect
import pickle
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ssvi.engine import Info, State
from ssvi.estimators import registry
from ssvi.files.checkpoints import Checkpoints
from ssvi.files.models import load
from ssvi.numerics.random import derive_key
from ssvi.testing.require import require
from ssvi.typing import Array

_ROWS, _COLUMNS = 60, 6
_STEPS = 6  # of a fit that is checked, by minibatches
_METHODS = ("transform", "predict", "predict_proba", "score_samples", "score")


@dataclass(frozen=True)
class Case:
    """An estimator, its data, a seed, and y for an estimator that needs one."""

    estimator: Any
    data: Any
    seed: int
    target: Any = None

    @classmethod
    def of(cls, estimator: Any, data: Any, seed: int) -> Case:
        """Take some rows of zeros and ones for data if there are none, and whether a row has many ones for y."""
        if data is None:
            rng = np.random.default_rng(derive_key(seed, "check_estimator"))
            data = (rng.random((_ROWS, _COLUMNS)) < rng.random(_COLUMNS)).astype(int)
        needs_target = _needs_target(estimator)
        ones = np.asarray(data.sum(axis=1)).ravel() if needs_target else None
        return cls(estimator, data, seed, None if ones is None else (ones > np.median(ones)).astype(int))

    @property
    def given(self) -> tuple[Any, ...]:
        """What `fit` takes: X, and y if that is needed."""
        return (self.data,) if self.target is None else (self.data, self.target)

    @property
    def held_out(self) -> dict[str, Any]:
        """The same as rows to score by."""
        return dict(zip(("X_val", "y_val"), self.given, strict=False))

    def fresh(self, **parameters: Any) -> Any:
        """Return an estimator that is not fitted, for a short fit by minibatches."""
        rows = self.data.shape[0]
        usual = {"max_iter": 2, "batch_size": -(-rows * 2 // _STEPS), "learning_method": "online"}
        return _clone(self.estimator).set_params(**usual, random_state=self.seed, verbose=0, **parameters)

    @cached_property
    def fitted(self) -> Any:
        """A fit, which nothing but this has touched."""
        return self.fresh().fit(*self.given)

    def __str__(self) -> str:
        return type(self.estimator).__name__


def check_estimator(estimator: Any, data: Any = None, *, seed: int = 0) -> None:
    """Raise an `AssertionError` that names the fault if an estimator does not live as the others do.

    `data` is what it is fitted to, some dozens of rows; by default 60 rows of 6 zeros and ones. scikit-learn has a
    suite of its own (`sklearn.utils.estimator_checks.check_estimator`), which is not repeated here.

    >>> from ssvi import BernoulliMixture
    >>> check_estimator(BernoulliMixture(3))
    """
    case = Case.of(estimator, data, seed)
    for check in CHECKS:
        check(case)


def _check_parameters(case: Case) -> None:
    """Want parameters and nothing else in a clone."""
    again = _clone(case.estimator)
    require(
        not set(vars(again)) - set(again.get_params(deep=False)), f"{case}: the constructor sets more than parameters"
    )
    fitted = case.fitted
    lost = set(fitted.get_params(deep=False)) - set(vars(fitted))
    require(not lost, f"{case}: fit takes away the parameters {', '.join(sorted(lost))}")
    left = _clone(fitted)
    same = left.get_params().keys() == fitted.get_params().keys() and not set(vars(left)) - set(left.get_params())
    require(same, f"{case}: a clone of a fitted estimator has other parameters, or something of the fit")


def _check_fit(case: Case) -> None:
    """`fit` gives back the estimator, with all that files want of it."""
    model = case.fresh()
    require(model.fit(*case.given) is model, f"{case}: fit does not return the estimator")
    for name in ("n_features_in_", "n_iter_", "history_", "scores_", "random_state_"):
        require(hasattr(model, name), f"{case}: there is no {name} after a fit")
    blocks, parameters = model._model().blocks(), model._state.parameters
    require(set(blocks) == set(parameters), f"{case}: the state has blocks {sorted(parameters)}, not {sorted(blocks)}")


def _check_same_seed(case: Case) -> None:
    """Want the same bits from the same seed, on any number of threads."""
    require(
        _same_state(case.fitted, case.fresh().fit(*case.given)), f"{case}: a second fit with the same seed is another"
    )
    threads = case.fresh(n_jobs=2).fit(*case.given)
    require(_same_state(case.fitted, threads), f"{case}: a fit on two threads is another than on one")


def _check_methods(case: Case) -> None:
    """Ask all that can be asked of a fitted estimator: answers are finite, one for each row, and change nothing."""
    before = pickle.dumps(case.fitted._state)
    for name, values in _answers(case.fitted, case).items():
        require(np.isfinite(values).all(), f"{case}: {name} is not finite")
        rows = () if name == "score" else case.data.shape[:1]
        require(values.shape[:1] == rows, f"{case}: {name} of {case.data.shape[0]} rows has the shape {values.shape}")
    require(pickle.dumps(case.fitted._state) == before, f"{case}: asking a fitted estimator changes it")


def _check_draws(case: Case) -> None:
    """Want draws of the global parameters that are finite, the same for the same seed, and change nothing."""
    before, count = pickle.dumps(case.fitted._state), 7
    draws, again = case.fitted.posterior_draws(count), case.fitted.posterior_draws(count)
    other = case.fitted.posterior_draws(count, random_state=case.seed + 1)
    require(len(draws) > 0, f"{case}: posterior_draws has nothing")
    for name, values in draws.items():
        require(len(values) == count, f"{case}: {count} draws of {name} have the shape {values.shape}")
        require(np.isfinite(values).all(), f"{case}: draws of {name} are not finite")
        require(np.array_equal(values, again[name]), f"{case}: draws of {name} are others for the same seed")
        fixed = values.size == 0 or name.endswith("correlations") or not np.ptp(values)
        require(fixed or not np.array_equal(values, other[name]), f"{case}: draws of {name} do not mind the seed")
    _check_sampled(case, draws)
    require(pickle.dumps(case.fitted._state) == before, f"{case}: drawing from q changes a fitted estimator")


def _check_sampled(case: Case, draws: Mapping[str, Array]) -> None:
    """Want what samplers draw to be what q has draws of, and the same for the same seed; not every model has one."""
    known = inspect.signature(case.fitted._posterior_data).parameters
    X, *others = case.given
    how = dict(zip([name for name in known if name != "X"], others, strict=False))
    try:
        found, again = (case.fitted.sample_posterior(X, 6, chains=2, burn=1, thin=1, **how).draws for _ in range(2))
    except ValueError as error:
        if "there is no sampler" not in str(error):
            raise
        return
    require(set(found) == set(draws), f"{case}: sample_posterior has {sorted(found)}, not {sorted(draws)}")
    for name, values in found.items():
        require(values.shape == (6, *draws[name].shape[1:]), f"{case}: {name} has the shape {values.shape}")
        require(np.isfinite(values).all(), f"{case}: what was sampled of {name} is not finite")
        require(np.array_equal(values, again[name]), f"{case}: sampling {name} again gives other draws")


def _check_partial_fit(case: Case) -> None:
    """`partial_fit` begins, and goes on from a fit."""
    model = case.fresh().partial_fit(*case.given)
    steps = model.n_batch_iter_
    require(steps > 0, f"{case}: partial_fit takes no step")
    model.partial_fit(*case.given)
    require(model.n_batch_iter_ == 2 * steps, f"{case}: a second partial_fit does not go on from the first")


def _check_validation(case: Case) -> None:
    """Held-out rows are scored, and a fit can stop by them."""
    model = case.fresh(early_stopping=True).fit(*case.given, **case.held_out)
    require(len(model.scores_) > 0, f"{case}: X_val is not scored")


def _check_file(case: Case) -> None:
    """Want the same estimator back from a file, and that it can go on."""
    with tempfile.TemporaryDirectory() as folder, _registered(case):
        path = Path(folder) / "model.ssvi"
        case.fitted.save(path)
        again = load(path)
    require(type(again) is type(case.fitted), f"{case}: a file gives back a {type(again).__name__}")
    require(_same_state(case.fitted, again), f"{case}: a file gives back another state")
    wanted, found = _answers(case.fitted, case), _answers(again, case)
    for name in wanted:
        require(
            np.array_equal(found[name], wanted[name]),
            f"{case}: {name} of what a file gives back is other than before: add what it needs to saved_attributes",
        )
    again.partial_fit(*case.given)


def _check_checkpoints(case: Case) -> None:
    """Want a fit that was stopped to go on from its checkpoint, and to end with the same bits."""
    with tempfile.TemporaryDirectory() as folder:
        keeper = Checkpoints(folder, every=1)

        def stop(state: State, info: Info) -> bool:
            if info.step == _STEPS // 2:
                keeper.stop_after_this_step()
            return False

        case.fresh(callbacks=[stop, keeper]).fit(*case.given)
        resumed = Checkpoints(folder, every=1)
        model = case.fresh(callbacks=[resumed]).fit(*case.given)
        require(resumed.resumed_at == _STEPS // 2, f"{case}: a fit does not go on from its checkpoint")
    require(_same_state(case.fitted, model), f"{case}: a fit that was interrupted ends with other numbers")
    wanted, found = _answers(case.fitted, case), _answers(model, case)
    for name in wanted:
        require(np.array_equal(found[name], wanted[name]), f"{case}: {name} is other after a fit that was interrupted")


def _check_callbacks(case: Case) -> None:
    """Callbacks see every step, and can keep what they see."""
    kept: list[bytes] = []
    model = case.fresh(callbacks=[lambda state, info: kept.append(pickle.dumps(state))]).fit(*case.given)
    require(len(kept) == model.n_batch_iter_, f"{case}: callbacks see {len(kept)} of {model.n_batch_iter_} steps")
    last: State = pickle.loads(kept[-1])
    require(last.step == model.n_batch_iter_, f"{case}: the last state that a callback sees is of step {last.step}")


def _check_bad_data(case: Case) -> None:
    """Want data of another width to be refused, and to change nothing."""
    before = pickle.dumps(case.fitted._state)
    for name in (*_METHODS, "partial_fit"):
        if hasattr(case.fitted, name):
            try:
                getattr(case.fitted, name)(case.data[:, :-1], *_asked(name, case)[1:])
            except ValueError:
                continue
            raise AssertionError(f"{case}: {name} takes data with another number of columns than the fit had")
    require(pickle.dumps(case.fitted._state) == before, f"{case}: data that is refused changes a fitted estimator")


CHECKS: tuple[Callable[[Case], None], ...] = (
    _check_parameters,
    _check_fit,
    _check_same_seed,
    _check_methods,
    _check_draws,
    _check_partial_fit,
    _check_validation,
    _check_file,
    _check_checkpoints,
    _check_callbacks,
    _check_bad_data,
)


def _clone(estimator: Any) -> Any:
    """Return an estimator with the same parameters."""
    from sklearn.base import clone  # here, since the other suites do without scikit-learn

    return clone(estimator)


def _needs_target(estimator: Any) -> bool:
    from sklearn.utils import get_tags

    return bool(get_tags(estimator).target_tags.required)


def _answers(model: Any, case: Case) -> dict[str, Any]:
    """Return what each method says of the data."""
    methods = [name for name in _METHODS if hasattr(model, name)]
    return {name: np.asarray(getattr(model, name)(*_asked(name, case))) for name in methods}


def _asked(name: str, case: Case) -> tuple[Any, ...]:
    """Return what a method is asked: a score compares with y, if there is one."""
    return case.given if name in ("score", "partial_fit") else (case.data,)


def _same_state(first: Any, second: Any) -> bool:
    """Tell whether two fits ended with the same bits."""
    one: Mapping[str, Any] = first._state.parameters
    other: Mapping[str, Any] = second._state.parameters
    return one.keys() == other.keys() and all(np.array_equal(one[name], other[name]) for name in one)


@contextmanager
def _registered(case: Case) -> Iterator[None]:
    """Let files know the class for a while, if nobody has registered it."""
    kind = type(case.estimator)
    known = registry.is_known(kind)
    if not known:
        registry.register(kind)
    try:
        yield
    finally:
        if not known:
            registry.unregister(kind)
