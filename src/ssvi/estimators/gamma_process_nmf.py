"""Poisson factorisation that finds its number of components, in the form of scikit-learn's NMF."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import repeat
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted

from ssvi import engine
from ssvi.batches.frames import Frames
from ssvi.batches.matrices import canonical_rows, check_sparse
from ssvi.batches.sources import Mapped, Source
from ssvi.checks import AUTO, is_auto, is_integer, positive_or_auto, require, require_count
from ssvi.engine import Problem
from ssvi.estimators.choices import (
    check_counts,
    check_data,
    make_global_step,
    make_local_step,
    make_seed,
    unchanged_on_error,
)
from ssvi.estimators.convergence import settling_of
from ssvi.estimators.open_ended import OpenEndedEstimator
from ssvi.estimators.parameters import changed, optional, parameter, with_parameters
from ssvi.estimators.plan import Plan
from ssvi.estimators.scikit_learn_callbacks import Given, with_callbacks
from ssvi.estimators.streamed import as_frames, by_chunks, take_columns
from ssvi.global_steps.mean_field import MeanField as GlobalMeanField
from ssvi.local_steps.base import LocalStep
from ssvi.local_steps.gamma_process_nmf.mean_field import MeanField
from ssvi.models.gamma_process_nmf import GammaProcessNMF as Model
from ssvi.numerics.random import derive_keys
from ssvi.progress import Progress
from ssvi.schedules import ConstantSchedule
from ssvi.typing import Array

_THOROUGH = MeanField(max_rounds=500, tolerance=1e-5)  # for new frames, which are met once


@with_parameters
class GammaProcessNMF(ClassNamePrefixFeaturesOutMixin, TransformerMixin, OpenEndedEstimator):
    """Non-negative factors of counts or magnitudes, as many as the data need: GaP-KL-NMF.

    X is about `transform(X) @ components_`, with Poisson noise. It has the ways of `sklearn.decomposition.NMF` with the
    Kullback-Leibler loss, and a gamma process prior of the components' weights that lets go of those not needed.
    Samples (frames of a spectrogram, cells, users) are rows. Dense and sparse data come as they are; the time of a step
    grows with the entries that are not zero, times K.

    A value x counts as x events. Real values are taken as they are: the Poisson likelihood with Gamma(x + 1) for x!.
    So the scale of X says how much evidence it holds: magnitudes are to be divided by their quantum (the smallest
    difference that means something), as the paper's are, and twice the values are twice the evidence.

    Attributes
    ----------
    components_ : (K, F)
        E_q[W], the dictionary.
    weights_ : (K,)
        E_q[theta]; `transform` has them in its result.
    dictionary_shape_, activation_shape_, inverse_scale_ : float
        a, b and c, as they were given or learned.

    Examples
    --------
    >>> import numpy as np
    >>> from ssvi import GammaProcessNMF
    >>> rng = np.random.default_rng(0)
    >>> spectra = np.array([[9.0, 9, 0, 0, 0, 0], [0, 0, 9, 9, 0, 0], [0, 0, 0, 0, 9, 9]])
    >>> counts = rng.poisson(rng.gamma(0.3, 3.0, (200, 3)) @ spectra)
    >>> model = GammaProcessNMF(10, max_iter=100, random_state=0).fit(counts)
    >>> model.n_active_
    3

    """

    n_components: int = parameter(
        default=50,
        kind="int",
        words="K, the most components there can be. Those that are not needed fade (`n_active_`).",
        check=require_count,
        kw_only=False,
    )
    dictionary_shape: float | str = parameter(
        default=0.25,
        kind='float or "auto"',
        words="""a of the prior Gamma(a, a) of the dictionary; smaller is sparser. "auto" learns it in the fit, as it
        does b, alpha and c (docs/hyperparameters.md).""",
        check=positive_or_auto,
    )
    activation_shape: float | str = parameter(
        default=0.2,
        kind='float or "auto"',
        words="b of the prior Gamma(b, b) of the activations; smaller is sparser.",
        check=positive_or_auto,
    )
    weight_concentration_prior: float | str = changed(
        OpenEndedEstimator,
        "weight_concentration_prior",
        default=1.0,
        words="alpha, the concentration of the gamma process: the weights are Gamma(alpha / K, alpha c).",
    )
    inverse_scale: float | str | None = parameter(
        default=None,
        kind='float or "auto", optional',
        words="""c, one over the mean that the prior expects of an entry; one over the mean of the first data by
        default, and to begin with if it is "auto".""",
        check=optional(positive_or_auto),
    )
    local_step: str | LocalStep = parameter(
        default="gibbs",
        kind='{"gibbs", "mean_field"} or LocalStep',
        words="How each frame's activations are found: drawn, or by coordinate ascent.",
    )
    max_iter: int | str | None = changed(
        OpenEndedEstimator,
        "max_iter",
        default=None,
        words="""Passes over the data; by default 500 where every step sees all rows, else 20. "auto" goes on until the
        fit has converged, for ten times as many at most.""",
    )
    merge: float | None = parameter(
        default=0.9,
        kind="float or None",
        words="""After a fit by a `global_step` that draws, make one of all components whose spectra have at least
        this correlation: draws can split a component in two, and do not join it again. None for never, which is right
        where spectra that differ in small features only are to be told apart.""",
        check=optional(
            lambda name, value: require(name, value, lambda v: 0 < v <= 1, "above 0 and at most 1, or None")
        ),
    )
    polish: int = parameter(
        default=10,
        kind="int",
        words="""After a fit by a `global_step` that draws, at most so many mean-field steps over all rows, of size 1.
        A few clear away components that the draws kept half alive; very many would undo what draws are good for
        (docs/experiments/nmf.md). 0 for none.""",
        check=lambda name, value: require(name, value, lambda v: is_integer(v) and v >= 0, "an integer of 0 or more"),
    )
    tol: float = changed(
        OpenEndedEstimator,
        "tol",
        default=1e-4,
        words="""Mean-field steps over all rows end when they change q's parameters by less than this share of their
        mean, in the mean. (The ELBO need not grow in each: weights and dictionary move together, each given the
        other's last value.)""",
    )
    active_share: float = changed(
        OpenEndedEstimator,
        "active_share",
        default=1e-3,
        words="""A component is active if it accounts for this share of the data's total, and for half a unit at the
        least.""",
    )

    _default_passes: ClassVar[tuple[int, int]] = (20, 500)
    _learnable: ClassVar[Mapping[str, tuple[str, Any]]] = {
        "dictionary_shape": ("dictionary_shape", 0.25),
        "activation_shape": ("activation_shape", 0.2),
        "weight_concentration_prior": ("concentration", 1.0),
        "inverse_scale": ("inverse_scale", AUTO),  # by the data
    }

    name = Model.name
    nouns = ("Factors", "factor", "feature")
    has_spectra = True
    saved_attributes = (*OpenEndedEstimator.saved_attributes, "_fitted", "inverse_scale_")

    @with_callbacks
    def fit(self, X: Any, y: Any = None, *, mask: Any = None, X_val: Any = None) -> Self:
        """Fit a dictionary to rows x features, from a fresh start.

        Rows `X_val` (which may be a masked array) are scored as the fit goes on (`scores_`); see also `early_stopping`.
        `mask` is true where an entry is missing, whatever value X has there; X may also be a masked array of NumPy.
        """
        with unchanged_on_error(self):
            frames = self._frames(X, mask, reset=True, where="fit")
            validation = None if X_val is None else self._frames(X_val, None, reset=False, where="score")
            metadata = {} if mask is None else {"mask": mask}
            self._run(frames, Given(make_seed(self.random_state), X, y, validation, metadata))
            self.inverse_scale_ = self._model().inverse_scale
        return self

    def partial_fit(self, X: Any, y: Any = None, *, mask: Any = None) -> Self:
        """Go on with further rows: a step for each `batch_size` of them (1,000 by default) at most, in the order given.

        Every row counts as a new one, unless `total_samples` tells how many there are. There is no polish.
        """
        first = not self.__sklearn_is_fitted__()
        with unchanged_on_error(self):
            frames = self._frames(X, mask, reset=first, where="partial_fit")
            self._run_further(frames, first=first)
            self.inverse_scale_ = self._model().inverse_scale
        return self

    def fit_transform(self, X: Any, y: Any = None, *, mask: Any = None, X_val: Any = None) -> Array:
        """Fit, then return the same rows' activations."""
        return self.fit(X, y, mask=mask, X_val=X_val).transform(X, mask=mask)

    def transform(self, X: Any, *, mask: Any = None) -> Array:
        """Return each row's activations times the weights, rows x K: times `components_` they are the row's mean."""
        check_is_fitted(self)
        if isinstance(X, Source):
            return by_chunks(self.transform, X)
        frames = self._frames(X, mask, reset=False, where="transform")
        activations: Array = self._mean_field(frames).local["activations"] * self.weights_
        return activations.astype(np.float32) if frames.values.counts.dtype == np.float32 else activations

    def inverse_transform(self, X: Any) -> Array:
        """Return the means that activations stand for, rows x features."""
        check_is_fitted(self)
        if sparse.issparse(X):
            check_sparse(X)
        X = check_array(X, accept_sparse=("csr", "csc"), dtype=[np.float64, np.float32])
        if X.shape[1] != len(self.components_):
            raise ValueError(f"X has {X.shape[1]} columns, and there are {len(self.components_)} components.")
        result: Array = X @ self.components_
        return result

    def score(self, X: Any, y: Any = None, *, mask: Any = None) -> float:
        """Return a lower bound of the log probability of X per known entry, given `components_` and `weights_`.

        It is the mean-field bound of each row's activations: higher is better.
        """
        check_is_fitted(self)
        return self._score(self._frames(X, mask, reset=False, where="score"))

    def _score(self, data: Frames | Source) -> float:
        if isinstance(data, Source):
            return sum(len(own) * self._score(own) for _, own in data.chunks()) / len(data)
        bound = self._mean_field(data).bound
        return bound / data.n_known if data.n_known else float("nan")

    @property
    def components_(self) -> Array:
        """E_q[W]."""
        check_is_fitted(self)
        return self._model().mean_dictionary(self._state.estimate)

    @property
    def weights_(self) -> Array:
        """E_q[theta]."""
        check_is_fitted(self)
        return self._model().mean_weights(self._state.estimate)

    @property
    def weight_concentration_prior_(self) -> float:
        """alpha, as it was given or learned."""
        check_is_fitted(self)
        return self._model().concentration

    @property
    def dictionary_shape_(self) -> float:
        """The dictionary's a, as it was given or learned."""
        check_is_fitted(self)
        return self._model().dictionary_shape

    @property
    def activation_shape_(self) -> float:
        """The activations' b, as it was given or learned."""
        check_is_fitted(self)
        return self._model().activation_shape

    def summarize_components(self) -> tuple[Array, Array, Array]:
        """Return each component's share of the total, its spectrum with a sum of 1, and its deviations under q."""
        return self._model().summarize(self._state.estimate)

    def explain_score(self, score: float) -> str:
        """Return what a held-out score means, in a sentence."""
        return f"Higher is better: the mean log probability of an entry the fit did not see is {score:.4g} or more."

    def component_weights(self, X: Any) -> Array:
        """Return what `transform` does."""
        return np.asarray(self.transform(X))

    def _held(self) -> Array:
        return self._model().counts_held(self._state.estimate)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _posterior_data(self, X: Any, mask: Any = None) -> Any:
        return self._frames(X, mask, reset=False, where="score")

    def _frames(self, X: Any, mask: Any, *, reset: bool, where: str) -> Any:
        """Check parameters and data; return the data as frames."""
        self._check_parameters()
        if isinstance(X, Source):
            if mask is not None:
                raise ValueError("a corpus on disk has no missing entries: leave out `mask`.")
            empty = where in ("transform", "score") or not reset
            take_columns(self, X, f"{type(self).__name__}.{where}", reset=reset, allow_empty=empty)
            return Mapped(X, as_frames)
        hidden = np.ma.getmaskarray(X) if np.ma.isMaskedArray(X) else None
        X = np.ma.getdata(X) if hidden is not None else X
        X = check_data(self, X, reset=reset, ensure_all_finite=mask is None and hidden is None)
        frames = Frames.from_matrix(X, _mask(mask, hidden, X.shape))
        if not np.isfinite(frames.values.counts).all():
            raise ValueError("X contains NaN or infinity where the mask does not say that an entry is missing.")
        allow_empty = where in ("transform", "score") or not reset
        check_counts(frames.values, f"{type(self).__name__}.{where}", allow_empty=allow_empty)
        return frames

    def _wanted(self) -> dict[str, Any]:
        """Return the parameters that a fit cannot change later."""
        names = ("dictionary_shape", "activation_shape", "weight_concentration_prior", "inverse_scale")
        scale = self.inverse_scale_ if self.inverse_scale is None else self.inverse_scale
        given = {**self.get_params(deep=False), "inverse_scale": scale}
        return {
            "n_components": int(self.n_components),
            **{name: positive_or_auto(name, given[name]) for name in names},
        }

    def _fix_model(self, data: Frames | Source) -> None:
        total = data.total_length() if isinstance(data, Source) else data.values.tight().counts.sum(dtype=np.float64)
        known = self._observed(data) / float(total)
        given = self.inverse_scale
        self.inverse_scale_ = known if given is None or is_auto(given) else float(given)
        self._fitted = self._wanted()

    def _model(self) -> Model:
        values, learned = self._started()
        if is_auto(values["inverse_scale"]):
            values["inverse_scale"] = self.inverse_scale_
        return self._with_learned(replace(Model(self.n_features_in_, *values.values()), learned=learned))

    def _local_step(self, frames: Any) -> LocalStep:
        step = make_local_step(self.local_step, Model.name)
        if not isinstance(frames, Source):
            step.check(frames)
        return step

    def _mean_field(self, frames: Frames) -> Any:
        """Return what coordinate ascent finds on each frame, at `weights_` and `components_`."""
        model = self._model()
        views = model.statistics(self.weights_, self.components_)
        with self._open_backend() as backend:
            return backend.map_reduce(_THOROUGH, model, views, frames, derive_keys(0, len(frames)))

    def _observed(self, data: Frames | Source) -> float:
        return float(len(data) * data.n_words if isinstance(data, Source) else data.n_known)

    def _fit_step(self, data: Frames, plan: Plan) -> LocalStep:
        return self._local_step(data)

    def _stream_step(self, data: Frames) -> LocalStep:
        return self._local_step(data)

    def _finish(self, data: Any) -> bool:
        """Join what draws have split, and go on by mean-field steps over all rows, if these are in memory."""
        if not make_global_step(self.global_step).stochastic:
            return False
        if self.merge is not None:
            merged = self._model().merged(self._state.estimate, self.merge, self.active_share)
            self._state = replace(self._state, parameters=merged, averages={})
        if not self.polish or isinstance(data, Source):  # all rows of a corpus on disk are not seen at once
            return self.merge is not None
        with self._open_backend() as backend, Progress(self._state.step + self.polish, f"{Model.name} polish") as bar:
            problem = Problem(
                self._model(), MeanField(), GlobalMeanField(), ConstantSchedule(), len(data), backend=backend
            )
            before = self._state.step
            callbacks = [*self._callbacks(bar), settling_of(self)]
            self._state = engine.follow(problem, self._state, repeat(data, self.polish), callbacks)
        self.n_iter_ += self._state.step - before
        self.bound_ = self._bound(data)
        return True


def _mask(given: Any, hidden: Any, shape: tuple[int, ...]) -> Any:
    """Return where entries are missing, by a mask, by a masked array's own, or by either; None if there is neither."""
    if given is None:
        return hidden
    given = canonical_rows(given) if sparse.issparse(given) else given
    mask = check_array(given, accept_sparse="csr", dtype=bool, input_name="mask", ensure_min_samples=0)
    if mask.shape != shape:
        raise ValueError(f"mask has shape {mask.shape}, and X has {shape}: there must be one for each entry.")
    return mask if hidden is None else sparse.csr_array(mask) + sparse.csr_array(hidden)
