"""scikit-learn's own callbacks (`set_callbacks`), which are told of a fit and of each of its passes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from ssvi.engine import Callback, Info, State

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
    validation: Any = None  # X_val, or rows of X that were set aside, in the form that steps take
    metadata: dict[str, Any] = field(default_factory=dict)


@contextmanager
def fit_tasks(estimator: Any, given: Given, passes: int, steps_per_pass: int) -> Iterator[list[Callback]]:
    """Open the task of a fit; yield a callback of the engine that opens and closes the tasks of its passes.

    There is none to yield where nobody listens, or where the installed scikit-learn has no such callbacks.
    """
    if not hasattr(estimator, "_init_callback_context"):
        yield []
        return
    root = estimator._init_callback_context(max_subtasks=passes)
    told = {"estimator": estimator, "X": given.X, "y": given.y, "metadata": given.metadata}
    root.call_on_fit_task_begin(**told)
    if hasattr(estimator, "_skl_callbacks"):
        tasks = _Passes(root, told, passes, steps_per_pass)
        yield [tasks]
        tasks.end()
    else:
        yield []
    root.call_on_fit_task_end(**told, reconstruction_attributes=lambda: {"_state": estimator._state})


class _Passes:
    """The tasks of passes, one after another."""

    def __init__(self, root: Any, told: dict[str, Any], passes: int, steps_per_pass: int) -> None:
        self._root, self._told = root, told
        self._steps_per_pass, self._last = steps_per_pass, passes * steps_per_pass
        self._task: Any = self._begin()

    def __call__(self, state: State, info: Info) -> bool:
        """Close the task of a pass that is over and open the next; tell whether the fit is to stop."""
        if info.step % self._steps_per_pass:
            return False
        attributes = {"_state": state, "n_iter_": info.step // self._steps_per_pass}
        stop = self._task.call_on_fit_task_end(**self._told, reconstruction_attributes=lambda: attributes)
        self._task = None if stop or info.step == self._last else self._begin()
        return bool(stop)

    def end(self) -> None:
        """Close a task that is still open, because somebody else has stopped the fit."""
        if self._task is not None:
            self._task.call_on_fit_task_end(**self._told)

    def _begin(self) -> Any:
        return self._root.subcontext(task_name="pass").call_on_fit_task_begin(**self._told)
