"""Progress of long work, by scikit-learn's callbacks."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from sklearn.callback import CallbackSupportMixin

Step = Callable[[], bool]


class Progress(CallbackSupportMixin):
    """Lets users follow a fit, and stop it: ``machine.set_callbacks(sklearn.callback.ProgressBar())``."""

    @contextmanager
    def _progress(self, task: str, n_steps: int | None, X: Any, y: Any) -> Iterator[Step]:
        """Announce work; what is given is to be called after each step, and says whether a callback wants to stop."""
        whole = self._init_callback_context(max_subtasks=n_steps)
        whole.call_on_fit_task_begin(estimator=self, X=X, y=y)

        def step() -> bool:
            part = whole.subcontext(task_name=task).call_on_fit_task_begin(estimator=self)
            return bool(part.call_on_fit_task_end(estimator=self))

        yield step
        whole.call_on_fit_task_end(estimator=self, X=X, y=y)
