"""Why these rows should be labelled next."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from mixkern.advice.suggest import check_room, labels_so_far, similarity, structure, suggested_rows
from mixkern.density import Mixture
from mixkern.encoding import Labels
from mixkern.errors import OptionError
from mixkern.estimators import MixtureSVC
from mixkern.estimators.novelty import Novelty
from mixkern.imports import optional
from mixkern.kernels import BlendKernel
from mixkern.typing import Floats, Ints
from mixkern.wording import counted, percent

BLOCK = 4_096  # rows at a time
NARROW = 0.2  # a margin below which a row is called undecided
REMOTE = 0.95  # a novelty above which a row is called unusual


def suggestion_table(X: Any, n: int, y: Any = None, *, model: Any = None, random_state: Any = None) -> Any:
    """Give the rows to label next, and say why.

    Parameters
    ----------
    X, n, y, model, random_state
        As in :func:`mixkern.advice.suggest`, which gives the same rows where ``random_state`` is a number. With labels
        of two classes or more, a model that is not fitted is trained; a fitted one predicts as it is.

    Returns
    -------
    pandas.DataFrame
        One row per suggestion, the most important one first; the index counts from 1.

        - ``position``: of the row in ``X``,
        - ``component``: which component of the density is most responsible for it,
        - ``stands_for``: how many rows are more like it than like any other suggested or labelled row,
        - ``share``: the same as a share of all rows,
        - ``novelty``: share of rows in denser places,
        - ``prediction``, ``margin``: the most probable label, and by how much it is more probable than the next one;
          only with labels of two classes or more,
        - ``reason``: a sentence.

    Examples
    --------
    >>> from mixkern import datasets
    >>> from mixkern.advice import suggestion_table
    >>> X, y = datasets.make_two_rings(random_state=0)
    >>> table = suggestion_table(X, 4, random_state=0)
    >>> list(table.columns)
    ['position', 'component', 'stands_for', 'share', 'novelty', 'reason']
    >>> int(table["stands_for"].sum()) == len(X)
    True
    """
    pandas = optional("pandas", purpose="suggestion_table")
    labels = labels_so_far(X, y)
    check_room(n, labels.codes)
    machine, rows = structure(X, y, labels, model, random_state)
    picks = suggested_rows(rows, machine.mixture_, n, labels.codes, random_state)
    columns = _facts(rows, machine.mixture_, picks, labels, check_random_state(random_state))
    if labels.n_classes > 1:
        if machine is not model:
            machine = machine.set_params(probability=True).train(rows, labels.codes)
        columns |= _opinion(machine, X, picks)
    table = pandas.DataFrame(columns, index=pandas.RangeIndex(1, n + 1, name="rank"))
    rivals = table.pop("rival") if "rival" in table else [None] * n
    table["reason"] = [_reason(row, rival) for row, rival in zip(table.to_dict("records"), rivals, strict=True)]
    return table


def _facts(
    rows: Floats, mixture: Mixture, picks: Ints, labels: Labels, random: np.random.RandomState
) -> dict[str, NDArray[Any]]:
    """Give what the density says about suggested rows."""
    kernel = similarity(rows, mixture, random)
    known = np.append(picks, np.flatnonzero(labels.is_labelled))
    stands_for = _followers(kernel, rows, known)[: len(picks)]
    return {
        "position": picks,
        "component": mixture.responsibilities(rows[picks]).argmax(axis=1),
        "stands_for": stands_for,
        "share": stands_for / len(rows),
        "novelty": Novelty.of(rows, mixture, random).of_rows(rows[picks], mixture),
    }


def _followers(kernel: BlendKernel, rows: Floats, leaders: Ints) -> Ints:
    """Count the rows that are more like one leader than like any other."""
    counts = np.zeros(len(leaders), dtype=np.intp)
    for start in range(0, len(rows), BLOCK):
        nearest = kernel(rows[start : start + BLOCK], rows[leaders]).argmax(axis=1)
        counts += np.bincount(nearest, minlength=len(leaders))
    return counts


def _opinion(machine: MixtureSVC, X: Any, picks: Ints) -> dict[str, NDArray[Any]]:
    """Give what a trained machine takes suggested rows for."""
    if not machine.probability:
        raise OptionError(
            "The margin is one of probabilities, but the model was fitted without: fit it with probability=True."
        )
    probabilities = machine.predict_proba(X)[picks]
    order = np.argsort(-probabilities, axis=1, kind="stable")[:, :2]
    ranked = np.take_along_axis(probabilities, order, axis=1)
    first, second = machine.classes_[order].T
    return {"prediction": first, "margin": ranked[:, 0] - ranked[:, 1], "rival": second}


def _reason(row: dict[str, Any], rival: Any) -> str:
    """Say in a sentence what a label of a row would be good for."""
    stands = f"stands for {counted(row['stands_for'], 'row')} ({percent(row['share'])}), component {row['component']}"
    if row["novelty"] > REMOTE:
        stands += ", in a place where few rows are"
    if rival is None:
        return f"{stands.capitalize()}."
    if row["margin"] < NARROW:
        return f"Undecided between {row['prediction']!r} and {rival!r}; {stands}."
    return f"So far taken for {row['prediction']!r}; {stands}."
