"""From what `fit` is given to rows in groups, and what a first table decides: columns, units and priors."""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import validate_data

from ssvi.batches.groups import Groups
from ssvi.checks import is_auto
from ssvi.estimators.hierarchical import formulas
from ssvi.estimators.hierarchical.results import HierarchicalResults
from ssvi.estimators.hierarchical.tables import Design, Names, check_groups, design_of
from ssvi.models.hierarchical.units import WEAK, WEAK_ODDS, Units, usual_scales
from ssvi.typing import Array


@dataclass(frozen=True)
class Table:
    """Rows in the form that fits take, and the labels of their groups, None where there are none."""

    data: Groups
    names: Names | None


class HierarchicalRows(HierarchicalResults):
    """Checks rows, and settles what a fit cannot change later."""

    varying: Any
    coefficient_scale: Any
    deviation_prior: str
    deviation_scale: Any
    deviation_degrees: float

    _has_units: ClassVar[bool] = True
    """Whether y has units of its own."""

    @abstractmethod
    def _target(self, y: Any, weights: Any, *, reset: bool) -> tuple[Array, Any]:
        """Check y; return it as numbers, and weights, checked too."""

    def _row_weights(self, weights: Array) -> Array:
        """Return the weights of rows in the form that the model takes."""
        return weights

    def _target_checks(self) -> dict[str, Any]:
        """Return what scikit-learn is to check of y."""
        return {}

    def _more_fields(self, units: Units) -> dict[str, Any]:
        """Return further fields of the model."""
        return {}

    def _require_target(self, y: Any) -> None:
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None: give X, y and groups, or a "
                "formula and a table."
            )

    def _table(self, X: Any, y: Any, groups: Any, weights: Any, *, reset: bool) -> Table:
        """Check rows; a first table decides on columns, units and priors."""
        if self.formula is not None:
            if y is not None or groups is not None:
                raise ValueError(
                    "with a formula fit takes one table that has y and the groups: leave out y and groups."
                )
            parsed, (X, y, groups, weights) = self._parsed_formula(X, reset=reset)
        else:
            parsed = None
        self._require_target(y)
        grouped = groups is not None
        if parsed is None:
            X, y = self._checked(X, y, reset=reset)
            design = self._plain_design(X.shape[1], grouped=grouped)
        else:
            y, design = self._checked_formula(X, y, parsed, reset=reset)
        y, weights = self._target(y, weights, reset=reset)
        inputs = self._with_intercept(np.asarray(X, dtype=np.float64), parsed is None)
        labels = None if groups is None else check_groups(groups, len(inputs))
        if reset:
            self._formula_parts = parsed
            self._design_parts = dataclasses.asdict(design)
            self._settle(inputs, y, design)
        elif design.varying and not self._design.varying:
            raise ValueError("groups are given, and this model was fitted without any: leave out groups.")
        elif self._design.varying and not design.varying:
            raise ValueError("groups are missing: this model was fitted with groups.")
        units = self._measures
        scaled, outputs = inputs / units.columns, y / units.output
        weights = weights if weights is None else self._row_weights(weights)
        if labels is None:
            return Table(Groups.from_rows(scaled, outputs, weights), None)
        names, data = Groups.from_table(scaled, outputs, labels, weights)
        return Table(data, np.asarray(names))

    def _checked(self, X: Any, y: Any, *, reset: bool) -> tuple[Array, Any]:
        """Let scikit-learn check plain rows."""
        checked = validate_data(self, X, y, reset=reset, dtype=np.float64, **self._target_checks())
        return checked[0], checked[1]

    def _parsed_formula(self, X: Any, *, reset: bool) -> tuple[dict[str, Any], tuple[Any, Any, Any, Any]]:
        known = None if reset else self._formula_parts
        return formulas.read(str(self.formula), X, known)

    def _checked_formula(self, X: Array, y: Any, parsed: dict[str, Any], *, reset: bool) -> tuple[Any, Design]:
        design = Design(tuple(parsed["names"]), tuple(parsed["fixed"]), tuple(parsed["varying"]))
        if reset:
            self.n_features_in_ = len(design.names)
            self.__dict__.pop("feature_names_in_", None)
        return np.asarray(y), design

    def _plain_design(self, width: int, *, grouped: bool) -> Design:
        names = getattr(self, "feature_names_in_", None)
        columns = [f"x{i}" for i in range(width)] if names is None else [str(name) for name in names]
        return design_of(columns, self.varying, fit_intercept=self.fit_intercept, grouped=grouped)

    def _settle(self, inputs: Array, y: Array, design: Design) -> None:
        """Decide on units and priors, which a fit cannot change later."""
        scaled_by = y if self._has_units else None
        units, scales = Units.of(inputs, scaled_by), usual_scales(inputs, scaled_by, design.intercept)
        self._unit_parts = dataclasses.asdict(units)
        fixed, varying = list(design.fixed), list(design.varying)
        is_learned = is_auto(self.coefficient_scale)
        coefficient = _numbers("coefficient_scale", None if is_learned else self.coefficient_scale, scales[fixed])
        slopes = tuple(place for place, column in enumerate(fixed) if column != design.intercept)
        if is_learned:
            coefficient[list(slopes)] /= WEAK if scaled_by is not None else WEAK_ODDS
        deviation = _numbers("deviation_scale", self.deviation_scale, scales[varying])
        self._fields = {
            "n_features": inputs.shape[1],
            "fixed": design.fixed,
            "varying": design.varying,
            "coefficient_scale": tuple((coefficient / units.factors(fixed)).tolist()),
            "deviation_prior": self.deviation_prior,
            "deviation_scale": tuple((deviation / units.factors(varying)).tolist()) or 1.0,
            "deviation_degrees": float(self.deviation_degrees),
            "spreads": slopes if is_learned else (),
            "learned": ("spread",) if is_learned and slopes else (),
            **self._more_fields(units),
        }


def _numbers(name: str, given: Any, usual: Array) -> Array:
    """Return the positive numbers that a parameter says, one for each column, or the usual ones."""
    if given is None:
        return usual
    numbers = np.asarray(given, dtype=object)
    try:
        values = np.broadcast_to(numbers.astype(float), usual.shape)
        met = bool((np.isfinite(values) & (values > 0)).all()) and numbers.ndim <= 1
    except (TypeError, ValueError):
        met = False
    if not met:
        others = ', or "auto"' if name == "coefficient_scale" else ""
        raise ValueError(
            f"{name} must be a positive number, or one for each of {len(usual)} columns{others}, not {given!r}."
        )
    return np.array(values)
