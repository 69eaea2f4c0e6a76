"""An estimator for any model: its author names the model and its local steps, and writes nothing else."""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ssvi.backends.base import Backend
from ssvi.batches.rows import DenseRows
from ssvi.estimators.base import StochasticEstimator
from ssvi.estimators.choices import check_data, make_seed, unchanged_on_error
from ssvi.estimators.parameters import changed, parameter, with_parameters
from ssvi.estimators.plan import Plan
from ssvi.estimators.scikit_learn_callbacks import Given, with_callbacks
from ssvi.local_steps.base import LocalStep
from ssvi.models.base import Model
from ssvi.numerics.random import Keys, derive_keys
from ssvi.typing import Array

_FROM_DATA = "n_features"  # a field of models that no parameter sets: it is the number of columns


@with_parameters
class ModelEstimator(ClassNamePrefixFeaturesOutMixin, TransformerMixin, StochasticEstimator):
    """A model as an estimator. A subclass has a `name`, a `model_class` and its `local_steps`.

    The parameters are those of every fit and the fields of the model, which is a dataclass whose fields have defaults;
    a field `n_features` is the number of columns of the data. For reports and `ssvi topics` a subclass can be a
    `ComponentsMixin` as well.
    """

    max_iter: int | str | None = changed(
        StochasticEstimator,
        "max_iter",
        default=None,
        words="""Passes over the data in `fit`; by default 100 where every step sees all rows, else 20.
        "auto" goes on until the fit has converged, for ten times as many at most.""",
    )

    _default_passes: ClassVar[tuple[int, int]] = (20, 100)

    model_class: ClassVar[type[Any]]
    """The model: a subclass of `ssvi.models.Model`, and a dataclass."""
    local_steps: ClassVar[tuple[type[Any], ...]]
    """Its local steps; the first is the one that a fit takes by default."""
    batch_class: ClassVar[type[Any]] = DenseRows
    """What a matrix becomes: one of `ssvi.batches` with `from_matrix`."""
    allow_missing: ClassVar[bool] = False
    """Whether entries may be NaN."""
    saved_attributes = (*StochasticEstimator.saved_attributes, "_model_fields", "_n_features_out")

    def __init_subclass__(cls, **options: Any) -> None:
        """Give a subclass the fields of its model as parameters."""
        super().__init_subclass__(**options)
        if "model_class" not in vars(cls):
            return
        own = vars(cls).get("__annotations__", {})
        # What is annotated and no parameter, as `name: str` may be, is an attribute of the class.
        annotations = {name: kind for name, kind in own.items() if isinstance(vars(cls).get(name), dataclasses.Field)}
        for field in _settable(cls.model_class):
            if field.name not in vars(cls):
                annotations[field.name] = Any
                setattr(cls, field.name, _as_parameter(cls, field))
        cls.__annotations__ = annotations
        with_parameters(cls)

    @property
    @abstractmethod
    def name(self) -> str:  # type: ignore[override]
        """What commands and files call the model."""

    def to_batch(self, X: Any) -> Any:
        """Return checked data in the form that the local steps take."""
        dense = sparse.issparse(X) and self.batch_class is DenseRows
        return self.batch_class.from_matrix(X.toarray() if dense else X)

    @with_callbacks
    def fit(self, X: Any, y: Any = None, *, X_val: Any = None) -> Self:
        """Fit the model to rows x columns, from a fresh start.

        Rows `X_val` are scored as the fit goes on (`scores_`); see also `early_stopping`.
        """
        with unchanged_on_error(self):
            data = self._data(X, reset=True)
            validation = None if X_val is None else self._data(X_val, reset=False)
            self._run(data, Given(make_seed(self.random_state), X, y, validation))
            self._note_width(data)
        return self

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Go on with further rows: a step for each `batch_size` (1,000 by default) at most, in the order given."""
        first = not self.__sklearn_is_fitted__()
        with unchanged_on_error(self):
            data = self._data(X, reset=first)
            self._run_further(data, first=first)
            self._note_width(data)
        return self

    def transform(self, X: Any) -> Array:
        """Return what the local step finds on each row, at the point estimate: one row of numbers each."""
        check_is_fitted(self)
        return self._found(self._data(X, reset=False))

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean log probability of a row at the point estimate, or a lower bound of it."""
        check_is_fitted(self)
        return self._score(self._data(X, reset=False))

    @property
    def parameters_(self) -> dict[str, Array]:
        """Lambda of each block: the parameters of q."""
        check_is_fitted(self)
        return {name: np.array(lam) for name, lam in self._state.parameters.items()}

    def _score(self, data: Any) -> float:
        """Return the mean local bound, by the first local step that has one."""
        model, views = self._learned_model(), self._point_views()
        with self._open_backend() as backend:
            for kind in self.local_steps:
                bound = backend.map_reduce(kind(), model, views, data, self._keys(data)).bound
                if bound is not None:
                    return bound / len(data)
        raise ValueError(
            f"no local step of {type(self).__name__} has a bound, so there is nothing to score by: give it one, or fit "
            "without held-out rows (--held-out 0)."
        )

    def _found(self, data: Any) -> Array:
        step, model = self._local_step(), self._learned_model()
        with self._open_backend() as backend:
            found = backend.map_local(step, model, self._point_views(), data, self._keys(data))
        if not found:
            raise ValueError(f"local_step {step.name!r} finds nothing on a row that could be shown.")
        return np.concatenate([values.reshape(len(data), -1) for values in found.values()], axis=1)

    def _note_width(self, data: Any) -> None:
        """Remember how many numbers `transform` gives, for the names of its columns."""
        with self._open_backend() as backend:
            self._n_features_out: int = self._width(backend, data.slice(0, 1))

    def _width(self, backend: Backend, row: Any) -> int:
        found = backend.map_local(self._local_step(), self._learned_model(), self._point_views(), row, self._keys(row))
        return sum(int(np.prod(values.shape[1:])) for values in found.values())

    def _point_views(self) -> dict[str, Array]:
        """Return t at the mode of q, which for probabilities and rates is their mean."""
        blocks = self._learned_model().blocks()
        return {name: block.family.mode_stats(self._state.parameters[name]) for name, block in blocks.items()}

    def _keys(self, data: Any) -> Keys:
        """Return a random stream for each row, by its content where the batch can tell."""
        keys: Keys = data.content_keys(0) if hasattr(data, "content_keys") else derive_keys(0, len(data))
        return keys

    def _posterior_data(self, X: Any) -> Any:
        return self._data(X, reset=False)

    def _own_local_steps(self) -> Sequence[type[LocalStep]]:
        return self.local_steps

    def _data(self, X: Any, *, reset: bool) -> Any:
        """Check parameters and data; return them as a batch."""
        self._check_parameters()
        finite: bool | str = "allow-nan" if self.allow_missing else True
        data = self.to_batch(check_data(self, X, reset=reset, ensure_all_finite=finite))
        self._local_step().check(data)
        return data

    def _local_step(self) -> LocalStep:
        """Return the local step that the parameter names or is."""
        if isinstance(self.local_step, LocalStep):
            if type(self.local_step) not in self.local_steps:
                raise ValueError(f"local_step {self.local_step!r} is none of {type(self).__name__}'s local steps.")
            return self.local_step
        known = {kind.name: kind for kind in self.local_steps}
        if self.local_step != "auto" and self.local_step not in known:
            names = ", ".join(map(repr, ["auto", *known]))
            raise ValueError(f"local_step {self.local_step!r} is not known; the known ones are {names}.")
        step: LocalStep = known.get(str(self.local_step), self.local_steps[0])()
        return step

    def _fit_step(self, data: Any, plan: Plan) -> LocalStep:
        return self._local_step()

    def _stream_step(self, data: Any) -> LocalStep:
        return self._local_step()

    def _wanted(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in _settable(self.model_class)}

    def _fix_model(self, data: Any) -> None:
        self._model_fields: dict[str, Any] = self._wanted()

    @property
    def _fixed(self) -> Mapping[str, Any]:
        return self._model_fields

    def _model(self) -> Model:
        fields = {field.name: field for field in dataclasses.fields(self.model_class)}
        given = {
            name: value for name, value in self._model_fields.items() if value is not None or not _is_made(fields[name])
        }
        size = {_FROM_DATA: self.n_features_in_} if _FROM_DATA in fields else {}
        model: Model = self.model_class(**size, **given)
        return model

    def _learned_model(self) -> Model:
        """Return the model with the hyperparameters that the fit has learned, if it learns any."""
        return self._model().at(self._state.hyperparameters)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.allow_missing
        return tags


def _settable(model_class: type[Any]) -> list[dataclasses.Field[Any]]:
    """Return the fields of a model that are parameters of its estimator."""
    return [field for field in dataclasses.fields(model_class) if field.init and field.name != _FROM_DATA]


def _is_made(field: dataclasses.Field[Any]) -> bool:
    """Tell whether a field's default is made anew for each model, as arrays and lists are."""
    return field.default_factory is not dataclasses.MISSING


def _as_parameter(cls: type[Any], field: dataclasses.Field[Any]) -> Any:
    """Return the declaration of a parameter that is a field of the model."""
    words, default = f"`{field.name}` of the model, {cls.model_class.__name__}", field.default
    if _is_made(field):
        words, default = f"{words}; None is what the model has by default", None
    elif default is dataclasses.MISSING:
        raise TypeError(
            f"{cls.__name__}: the field {field.name!r} of {cls.model_class.__name__} needs a default, since "
            "estimators are made without arguments."
        )
    kind = field.type if isinstance(field.type, str) else getattr(field.type, "__name__", str(field.type))
    return parameter(default=default, kind=kind, words=f"{words}.")
