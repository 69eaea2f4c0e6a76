"""scikit-learn's own callbacks (`set_callbacks`), which are told of a fit and of each of its passes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from ssvi.engine import Callback, Info, State
from ssvi.estimators.plan import Plan

try:
    from sklearn.callback import CallbackSupportMixin
    from sklearn.callback import with_callbacks as _with_callbacks
except ImportError:  # they came with scikit-learn 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing: the installed version has no such callbacks."""

    _with_callbacks = None

__all__ = ["CallbackSupportMixin", "Given", "fit_tasks", "with_callbacks"]

Method = TypeVar("Method", bound=Callable[..., Any])


def with_callbacks(method: Method) -> Method:
    """Let a method called `fit` close scikit-learn's callbacks when it is over, however it ends."""
    return cast(Method, _with_callbacks(method)) if _with_callbacks else method


@dataclass(frozen=True)
class Given:
    """What `fit` was called with, for those who are told of it."""

    seed: int
    X: Any
    y: Any = None
    validation: Any = None  # X_val, in the form that steps take
    metadata: dict[str, Any] = field(default_factory=dict)
    start: Any = None  # what another model has found, to begin with


@contextmanager
def fit_tasks(estimator: Any, given: Given, plan: Plan) -> Iterator[Callable[[list[Callback]], list[Callback]]]:
    """Open the task of a fit; yield what adds to callbacks of the engine one that has a task for each pass.

    It adds nothing where nobody listens, or where the installed scikit-learn has no such callbacks.
    """
    if not hasattr(estimator, "_init_callback_context"):
        yield list
        return
    root = estimator._init_callback_context(max_subtasks=plan.passes)
    told = {"estimator": estimator, "X": given.X, "y": given.y, "metadata": given.metadata}
    root.call_on_fit_task_begin(**told)
    is_over = estimator._ended or estimator._state.step == plan.total  # a checkpoint may be of the end
    if hasattr(estimator, "_skl_callbacks") and not is_over:
        passes = _Passes(root, told, plan)
        yield passes.after
        passes.end()
    else:
        yield list
    root.call_on_fit_task_end(**told, reconstruction_attributes=lambda: {"_state": estimator._state})


class _Passes:
    """The tasks of passes, one after another."""

    def __init__(self, root: Any, told: dict[str, Any], plan: Plan) -> None:
        self._root, self._told, self._plan = root, told, plan
        self._task: Any = self._begin()

    def after(self, callbacks: list[Callback]) -> list[Callback]:
        """Return a callback that asks these, and then scikit-learn's: they are told of no pass that is not made."""

        def ask(state: State, info: Info) -> bool:
            answers = [callback(state, info) for callback in callbacks]  # all are asked
            stop = any(answers)
            return self._passed(state, info, stop) or stop

        return [ask]

    def _passed(self, state: State, info: Info, stop: bool) -> bool:
        """Close the task of a pass that is over and open the next; tell whether the fit is to stop."""
        if info.step % self._plan.steps_per_pass:
            return False
        # Arrays of its own, made if they are asked for: the snapshot of a fit under way cannot be pickled.
        asked = self._task.call_on_fit_task_end(
            **self._told,
            reconstruction_attributes=lambda: {
                "_state": state.complete(),
                "n_iter_": info.step // self._plan.steps_per_pass,
            },
        )
        self._task = None if stop or asked or info.step == self._plan.total else self._begin()
        return bool(asked)

    def end(self) -> None:
        """Close a task that is still open, because somebody has stopped the fit in the middle of a pass."""
        if self._task is not None:
            self._task.call_on_fit_task_end(**self._told)

    def _begin(self) -> Any:
        return self._root.subcontext(task_name="pass").call_on_fit_task_begin(**self._told)
