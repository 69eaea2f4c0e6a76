"""What multilevel regressions of binary outcomes share as scikit-learn classifiers."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted

from ssvi.estimators.hierarchical.base import HierarchicalEstimator
from ssvi.estimators.hierarchical.tables import check_trials
from ssvi.estimators.parameters import with_parameters
from ssvi.estimators.scikit_learn_callbacks import with_callbacks
from ssvi.typing import Array


@with_parameters
class HierarchicalClassifier(ClassifierMixin, HierarchicalEstimator):
    """A regression of two classes, or of successes out of trials."""

    saved_attributes = (*HierarchicalEstimator.saved_attributes, "classes_")
    _has_units = False
    group_step = "variational"
    first_step = "laplace"

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any = None,
        groups: Any = None,
        *,
        trials: Any = None,
        X_val: Any = None,
        y_val: Any = None,
        groups_val: Any = None,
    ) -> Self:
        """Fit the model to rows from a fresh start.

        y are two classes, numbers or text; or with `trials`, how many of so many were successes. `groups` has a label
        for each row; without it no coefficient varies. Rows `X_val` with `y_val` and `groups_val` are scored as the
        fit goes on (`scores_`), their groups taken for new ones; see also `early_stopping`. With a formula, X is a
        table that has all columns, and so is X_val.
        """
        validation = None if X_val is None else (X_val, y_val, groups_val, None)
        return self._fit(X, y, groups, trials, validation)

    def _posterior_data(self, X: Any, y: Any = None, groups: Any = None, trials: Any = None) -> Any:
        return self._table(X, y, groups, trials, reset=False).data

    def partial_fit(
        self, X: Any, y: Any = None, groups: Any = None, *, trials: Any = None, classes: Any = None
    ) -> Self:
        """Go on with further groups, all rows of a group in one call: steps of `batch_size` groups at most.

        `classes` are the two classes, for a first call whose rows have one of them only.
        """
        if classes is not None:
            self._given_classes = np.unique(np.asarray(classes))
        return self._fit_further(X, y, groups, trials)

    def predict_proba(self, X: Any, groups: Any = None, *, unseen: str = "population") -> Array:
        """Return the probabilities of both classes (of a failure and a success), averaged over what is not known.

        Without `groups` it is that of the average group. A group that the fit has not seen is a draw from the
        population (`unseen="population"`), is taken for the average group ("average"), or is an error ("error").
        """
        eta, variance = self._eta(X, groups, unseen)
        share = self._share(eta, variance)
        return np.stack([1.0 - share, share], axis=1)

    def predict(self, X: Any, groups: Any = None, *, unseen: str = "population") -> Any:
        """Return the more probable class of each row; see `predict_proba`."""
        check_is_fitted(self)
        return self.classes_[(self.predict_proba(X, groups, unseen=unseen)[:, 1] > 0.5).astype(int)]

    @abstractmethod
    def _share(self, eta: Array, variance: Array) -> Array:
        """Return the mean probability of a success over N(eta, variance)."""

    def _target(self, y: Any, weights: Any, *, reset: bool) -> tuple[Array, Any]:
        given = self.__dict__.pop("_given_classes", None)
        if weights is not None:
            counts = np.asarray(y, dtype=np.float64)
            if reset:
                self.classes_: Any = np.array([0, 1])
            return counts, check_trials(counts, weights)
        labels = np.asarray(y)
        check_classification_targets(labels)
        found = np.unique(labels) if given is None else given
        if reset:
            if len(found) != 2:
                kind = type_of_target(labels)
                if kind == "multiclass":
                    raise ValueError(
                        f"Only binary classification is supported. The type of the target is {kind}: y has "
                        f"{len(found)} classes."
                    )
                raise ValueError(f"y has one class only, {found[0]!s}: it takes two to tell apart.")
            self.classes_ = found
        known = self.classes_ if self.classes_.dtype.kind != "O" else self.classes_.astype(str)
        strange = ~np.isin(labels, known)
        if strange.any():
            raise ValueError(
                f"y has the class {labels[strange][0]!s}, and the model knows {', '.join(map(str, known))}."
            )
        return (labels == known[1]).astype(np.float64), None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
