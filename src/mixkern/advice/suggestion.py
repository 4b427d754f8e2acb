"""A table of rows to label next, with reasons."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixkern.advice.source import LabelSource
from mixkern.advice.suggest import (
    audited_rows,
    check_count,
    check_n_suggestions,
    labels_so_far,
    learned_structure,
    similarity,
)
from mixkern.defaults import AUDIT
from mixkern.density import Rows
from mixkern.encoding import Labels
from mixkern.encoding.frame import frame_kind, make_frame
from mixkern.errors import OptionError, hint
from mixkern.estimators import MixtureSVC
from mixkern.estimators.novelty import Novelty
from mixkern.kernels import BlendKernel
from mixkern.sampling import check_random_state
from mixkern.typing import Ints, Positions, RandomState
from mixkern.validation import FRACTION
from mixkern.wording import counted, percent

BLOCK = 4_096  # rows compared at a time
NARROW = 0.2  # margin below which a row is called undecided
DRAWN = "drawn at random, to measure the accuracy"
SPARSE = 0.95  # novelty above which a row is reported to lie in a sparse region


def suggestion_table(
    X: Any, n: int, y: Any = None, *, model: Any = None, audit: float = AUDIT, random_state: Any = None
) -> Any:
    """Choose rows to label next, and give reasons.

    Parameters
    ----------
    X, n, y, model, audit, random_state
        As in :func:`mixkern.advice.suggest`, which returns the same rows for the same integer ``random_state``. With
        labels of two classes or more, a model that is not fitted is trained to predict labels.

    Returns
    -------
    frame
        Of the library of ``X``: pandas, polars or pyarrow; pandas for an array. One row per suggestion, the most
        important one first, those that are drawn at random last; ``rank``, the index in pandas, counts from 1.

        - ``position``: position of the row in ``X``,
        - ``source``: how the row was chosen, ``"suggested"`` or ``"random"``; record it with the label, for
          :func:`~mixkern.advice.estimated_accuracy`,
        - ``component``: the component of the density that is most responsible for it,
        - ``stands_for``: number of rows that are more similar to it than to any other suggested or labelled row,
        - ``share``: the same as a share of all rows,
        - ``novelty``: share of all rows that lie in denser regions,
        - ``prediction``, ``margin``: the most probable label, and the difference of its probability to that of the
          next one; only with labels of two classes or more,
        - ``reason``: a sentence.

    Examples
    --------
    >>> from mixkern import datasets
    >>> from mixkern.advice import suggestion_table
    >>> X, y = datasets.make_two_rings(random_state=0)
    >>> table = suggestion_table(X, 4, random_state=0)
    >>> list(table.columns)
    ['position', 'source', 'component', 'stands_for', 'share', 'novelty', 'reason']
    >>> int(table["stands_for"].sum()) == len(X)
    True
    """
    check_count(n)
    FRACTION.check(audit, "audit")
    labels = labels_so_far(X, y)
    check_n_suggestions(n, labels.codes)
    estimator, rows = learned_structure(X, y, labels, model, random_state)
    chosen = audited_rows(rows, estimator.mixture_, n, labels.codes, audit, random_state)
    picks = np.concatenate(chosen)
    sources = np.repeat([LabelSource.SUGGESTED.value, LabelSource.RANDOM.value], [len(each) for each in chosen])
    columns = {"position": picks, "source": sources.astype(object)}
    columns |= _density_columns(Rows(rows, estimator.mixture_), picks, labels, check_random_state(random_state))
    if labels.n_classes > 1:
        if estimator is not model:
            estimator = estimator.set_params(probability=True).train(rows, labels.codes)
        columns |= _prediction_columns(estimator, X, picks)
    lines = [
        dict(zip(columns, cells, strict=True)) for cells in zip(*(c.tolist() for c in columns.values()), strict=True)
    ]
    columns["reason"] = np.array([suggestion_reason(line) for line in lines], dtype=object)
    columns.pop("runner_up", None)
    return make_frame(columns, frame_kind(X), index=range(1, n + 1), index_name="rank", purpose="suggestion_table")


def _density_columns(rows: Rows, picks: Positions, labels: Labels, random: RandomState) -> dict[str, NDArray[Any]]:
    """Compute the columns that depend on the density alone."""
    assert rows.mixture is not None
    kernel = similarity(rows.values, rows.mixture, random)
    known = np.append(picks, np.flatnonzero(labels.is_labelled))
    stands_for = represented(kernel, rows, rows[known])[: len(picks)]
    chosen = rows[picks]
    return {
        "component": chosen.responsibilities.argmax(axis=1),
        "stands_for": stands_for,
        "share": stands_for / len(rows),
        "novelty": Novelty.of(rows, random).share_denser(chosen),
    }


def represented(kernel: BlendKernel, rows: Rows, known: Rows) -> Ints:  # (q,)
    """Count, for each suggested or labelled row, the rows that are more similar to it than to any other of these."""
    counts = np.zeros(len(known), dtype=np.intp)
    for start in range(0, len(rows), BLOCK):
        nearest = kernel(rows[start : start + BLOCK], known).argmax(axis=1)
        counts += np.bincount(nearest, minlength=len(known))
    return counts


def _prediction_columns(estimator: MixtureSVC, X: Any, picks: Positions) -> dict[str, NDArray[Any]]:
    """Compute the columns that depend on predictions: the two most probable labels, and the margin between them."""
    if not estimator.probability:
        raise OptionError(
            "The margin is a difference of probabilities, but the model was fitted without them.",
            hint=hint(python="Fit it with probability=True."),
        )
    probabilities = estimator.predict_proba(X)[picks]
    order = np.argsort(-probabilities, axis=1, kind="stable")[:, :2]
    ranked = np.take_along_axis(probabilities, order, axis=1)
    first, second = estimator.classes_[order].T
    return {"prediction": first, "margin": ranked[:, 0] - ranked[:, 1], "runner_up": second}


def suggestion_reason(row: dict[str, Any]) -> str:
    """Write the reason for a suggestion as a sentence, from the columns of :func:`suggestion_table`.

    >>> suggestion_reason(dict(source="suggested", stands_for=812, share=0.081, component=3, novelty=0.2))
    'Stands for 812 rows (8 %), component 3.'
    """
    parts = [DRAWN] if row["source"] == LabelSource.RANDOM else []
    if "prediction" in row:
        is_undecided = row["margin"] < NARROW
        both = f"undecided between {row['prediction']!r} and {row['runner_up']!r}"
        parts.append(both if is_undecided else f"predicted as {row['prediction']!r}")
    region = ", in a sparse region" if row["novelty"] > SPARSE else ""
    share = f"{counted(row['stands_for'], 'row')} ({percent(row['share'])})"
    text = "; ".join([*parts, f"stands for {share}, component {row['component']}{region}"])
    return f"{text[0].upper()}{text[1:]}."
