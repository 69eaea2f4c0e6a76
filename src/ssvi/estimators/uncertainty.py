"""What is known of the global parameters, and how well: draws from q, or from the posterior by a sampler."""

from __future__ import annotations

import inspect
import sys
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, ClassVar

from sklearn.utils.validation import check_is_fitted

from ssvi.backends.base import Backend
from ssvi.batches.sources import Source
from ssvi.checks import is_integer, require, require_count
from ssvi.engine import State
from ssvi.estimators.choices import make_seed
from ssvi.estimators.draws import PosteriorDraws, interval_ends
from ssvi.evaluation.posterior import draws_of_q
from ssvi.local_steps.base import LocalStep
from ssvi.models.base import Model
from ssvi.models.quantities import Quantities
from ssvi.progress import Progress
from ssvi.typing import Array


class UncertaintyMixin:
    """Draws and intervals of the global parameters of a fitted model, under q or of the posterior itself."""

    _state: State
    random_state_: int
    verbose: Any
    name: ClassVar[str]

    @abstractmethod
    def _model(self) -> Model:
        """Return the model as the fit has left it."""

    @abstractmethod
    def _open_backend(self) -> AbstractContextManager[Backend]:
        """Yield where local steps run."""

    _posterior_data: Callable[..., Any]
    """Returns data that is given in the way of `fit`, checked and in the form that steps take."""

    def posterior_draws(self, n: int = 1_000, *, random_state: Any = None) -> dict[str, Array]:
        """Return `n` draws of the global parameters from q, by name: arrays with a row a draw, in the data's units.

        Names are those of the attributes, without the underscore at the end (`means_`: "means"), as far as there are
        attributes. Draws of one row belong together. `random_state` is the estimator's own by default.
        """
        return self._drawn(n, random_state).draws

    def posterior_intervals(self, level: float = 0.9, *, n: int = 4_000, random_state: Any = None) -> Any:
        """Return mean, deviation, median and an interval of each global parameter under q, as a pandas data frame.

        They are those of `n` draws. Rows are called "means[2, height]": component 2, column height.
        """
        interval_ends(level)
        return self._drawn(n, random_state).intervals(level)

    def to_arviz(self, n: int = 1_000, *, random_state: Any = None) -> Any:
        """Return `n` draws of the global parameters from q as ArviZ's `InferenceData`, one chain of independent draws.

        It needs the package ArviZ (`pip install ssvi[arviz]`).
        """
        return self._drawn(n, random_state).to_arviz()

    def sample_posterior(
        self,
        X: Any,
        n: int = 1_000,
        *,
        chains: int = 4,
        burn: int = 200,
        thin: int = 10,
        random_state: Any = None,
        **how: Any,
    ) -> PosteriorDraws:
        """Return `n` draws (or up to `chains` more) from the posterior, by Gibbs samplers that begin at the fit's end.

        `X` is the data that the model was fitted to, with all else that `fit` was given (`lengths`, `groups`, `inputs`,
        `mask`, `y`) by name. Each of `chains` starts at a draw of q, takes `burn` sweeps over all data, then keeps a
        draw after every `thin` sweeps. Where q's intervals are too narrow, as in factorisations, these are not; the
        fit is what spares a sampler its long way to the data. Hyperparameters stay as the fit has left them.

        The result has the `draws` by name, `intervals(level)` with R-hat of each number, and `to_arviz()`.
        """
        from ssvi.sampling.chains import Chain
        from ssvi.sampling.posterior import can_sample, sample_from_q

        check_is_fitted(self)
        for name, value in {"n": n, "chains": chains, "thin": thin}.items():
            require_count(name, value)
        require("burn", burn, lambda v: is_integer(v) and v >= 0, "an integer of 0 or more")
        model, steps = self._model(), self._own_local_steps()
        if not can_sample(model, steps):
            raise ValueError(
                f"there is no sampler of the posterior of this {type(self).__name__}: posterior_draws() has draws of q."
            )
        known = inspect.signature(self._posterior_data).parameters
        for name in how:
            require("what sample_posterior is given", name, known.__contains__, f"among {', '.join(known)}")
        data = self._posterior_data(X, **how)
        if isinstance(data, Source):
            raise ValueError(
                "a sampler sees all data in every sweep: load the corpus first, if there is memory for it."
            )
        chain, seed = Chain(burn, -(-n // chains), thin), self._seed(random_state)
        with self._open_backend() as backend, Progress(chains * chain.sweeps, f"{self.name} sampler") as progress:
            values = sample_from_q(
                model, self._state.estimate, data, chain, chains, seed, backend,
                local_steps=steps, after_sweep=progress.advance if self._shows_progress() else lambda: None,
            )  # fmt: skip
        return PosteriorDraws(self._quantities(values), self._names_of(), chains)

    def _shows_progress(self) -> bool:
        return sys.stderr.isatty() if self.verbose == "auto" else bool(self.verbose)

    def _own_local_steps(self) -> Iterable[type[LocalStep]] | None:
        """Return the local steps of a model that is not the package's."""
        return None

    def _seed(self, random_state: Any) -> int:
        return self.random_state_ if random_state is None else make_seed(random_state)

    def _drawn(self, n: int, random_state: Any) -> PosteriorDraws:
        """Draw from q; return quantities in the data's units."""
        check_is_fitted(self)
        require_count("n", n)
        values = draws_of_q(self._model(), self._state.estimate, n, self._seed(random_state), "posterior")
        return PosteriorDraws(self._quantities(values), self._names_of())

    def _quantities(self, values: Mapping[str, Array]) -> Quantities:
        """Return quantities in the data's units, given draws of the blocks."""
        return self._model().quantities(values)

    def _names_of(self) -> Mapping[str, Sequence[Any]]:
        """Return the names of what axes count, where there are any; others are numbered from 0."""
        columns = getattr(self, "vocabulary_", None)
        columns = getattr(self, "feature_names_in_", None) if columns is None else columns
        return {} if columns is None else {"feature": list(columns), "word": list(columns)}
