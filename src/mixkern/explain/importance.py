"""Which columns matter to a classifier: how far its predictions change when the cells of a column are exchanged."""

from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from mixkern.density import Rows
from mixkern.encoding.frame import frame_kind, make_frame
from mixkern.errors import OptionError
from mixkern.explain.column_contrast import column_names
from mixkern.sampling import check_random_state
from mixkern.typing import Floats, Ints
from mixkern.validation import COUNT, NONE
from mixkern.wording import shown

MOST_ROWS = 500  # drawn at random
FEWEST_ROWS = 25  # of a wide table
MOST_CELLS = 2**24  # cells of all rows that are predicted once; a table of 200 columns has fewer rows


def column_importance(
    model: Any, X: Any, *, n_rows: int | None = None, n_repeats: int = 2, random_state: Any = 0
) -> Any:
    r"""Return the importance of each column of a table to a classifier.

    The importance of a column is the mean change of the predicted probabilities when each row gets the column's cell
    of another row, drawn at random:

    .. math:: \frac{1}{n} \sum_i \frac{1}{2} \sum_c |p_c(x_i) - p_c(x_i')|

    It is 0 for a column that the classifier does not use, and at most 1. No label is needed. Of columns with nearly the
    same content each may be important, or one for the others.

    Parameters
    ----------
    model : classifier
        A fitted classifier of mixkern. Fitted with ``probability=False``, the importance is the share of rows whose
        predicted class changes.
    X : frame or array-like of shape (n, n_columns)
        Rows, such as those that it was fitted on.
    n_rows : int, default=None
        Number of rows to use, drawn at random; ``None`` is 500, or fewer where the table is wide.
    n_repeats : int, default=2
        Number of other rows that each row gets cells of, one after the other.
    random_state : int, RandomState or None, default=0
        Seed of the draws.

    Returns
    -------
    frame
        Of the library of ``X``, pandas for an array, with the columns ``column`` and ``importance``, the most important
        first. Dates and texts, which are encoded as several columns, have one line.

    Examples
    --------
    >>> from mixkern import MixtureSVC, datasets
    >>> from mixkern.explain import column_importance
    >>> iris = datasets.load("iris")
    >>> model = MixtureSVC(random_state=0).fit(iris.X, iris.few_labels(per_class=8, random_state=0))
    >>> column_importance(model, iris.X).round(2)
             column  importance
    0   petal_width        0.41
    1  petal_length        0.38
    2  sepal_length        0.11
    3   sepal_width        0.05
    """
    if not is_classifier(model) or not hasattr(model, "mixture_"):
        raise OptionError(f"model must be a fitted classifier of mixkern, but it is {shown(model)}.")
    check_is_fitted(model)
    (COUNT | NONE).check(n_rows, "n_rows")
    COUNT.check(n_repeats, "n_repeats")
    names, changes = importances(model, model.rows_of(X), n_rows, n_repeats, random_state)
    order = np.argsort(-changes, kind="stable")
    columns = {"column": [names[j] for j in order], "importance": changes[order]}
    return make_frame(columns, frame_kind(X), purpose="column_importance")


def importances(
    model: Any, rows: Rows, n_rows: int | None = None, n_repeats: int = 2, random_state: Any = 0
) -> tuple[list[str], Floats]:
    """Return the names of the table's columns in its order, and their importances, from encoded rows."""
    random = check_random_state(random_state)
    groups = column_positions(model)
    if n_rows is None:
        n_rows = int(np.clip(MOST_CELLS // max(1, rows.shape[1] * len(groups)), FEWEST_ROWS, MOST_ROWS))
    values = rows.values[random.permutation(len(rows))[:n_rows]]
    before = _predicted(model, values)
    changes = np.zeros(len(groups))
    for others in _partners(len(values), n_repeats, random):
        for j, positions in enumerate(groups.values()):
            exchanged = values.copy()
            exchanged[:, positions] = values[others][:, positions]
            changes[j] += np.abs(_predicted(model, exchanged) - before).sum(axis=1).mean() / 2
    return list(groups), changes / n_repeats


def column_positions(model: Any) -> dict[str, list[int]]:
    """Return the positions of the encoded columns of each column of the table."""
    names = column_names(model)
    if model.encoder_ is None:
        return {name: [j] for j, name in enumerate(names)}
    places = {name: j for j, name in enumerate(names)}
    return {column.name: [places[part.name] for part in column.parts] for column in model.encoder_.columns_}


def _partners(n: int, n_repeats: int, random: np.random.RandomState) -> list[Ints]:
    """Return another row for each of n rows, several times; a row is its own partner only where it is alone."""
    order = random.permutation(n)
    found = []
    for _ in range(n_repeats):
        others = np.empty(n, dtype=np.intp)
        others[order] = np.roll(order, random.randint(1, max(2, n)))
        found.append(others)
    return found


def _predicted(model: Any, values: Floats) -> Floats:  # (n, c)
    """Return the probabilities of the classes; without them, 1 for the predicted class."""
    rows = Rows(values, model.mixture_)
    if model.probability and model.slope_ is not None:
        return np.asarray(model.predict_proba(rows), dtype=float)
    scores = np.asarray(model.decision_function(rows))
    codes = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
    return np.eye(len(model.classes_))[codes]
