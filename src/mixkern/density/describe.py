"""A description of a mixture's components in the units of the table that it was fitted on."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mixkern.density.mixture import Mixture
from mixkern.encoding import CategoricalColumn, TableEncoder, TextColumn
from mixkern.encoding.cell import python_cells
from mixkern.encoding.frame import PANDAS, make_frame
from mixkern.errors import MixtureError, hint
from mixkern.typing import Floats
from mixkern.validation import COUNT

LEAST = 0.05  # deviations: anything less would be printed as +0.0
UNITS = {"days": 86_400, "hours": 3_600, "minutes": 60}  # in seconds


def component_table(mixture: Mixture, encoder: TableEncoder | None = None, *, n_columns: int = 3) -> Any:
    """Describe each component by its weight and the columns in which it differs most from the whole table.

    A continuous column is described by the component's mean and its distance from the mean of all components, in
    standard deviations of the whole mixture: ``age 63 (+1.8)``. A categorical column is described by the category
    whose share exceeds that in the whole table most: ``town = Kassel (82 % against 35 %)``. A column of texts is
    described by parts of words that are frequent in the component: ``note with deliver, late``. Columns are
    ranked by these differences; that of two shares is taken in standard deviations of the category's indicator.

    Parameters
    ----------
    mixture : Mixture
        The density, as in :attr:`VBMixture.mixture_`.
    encoder : TableEncoder, default=None
        The fitted encoder of the rows, for names, units and categories. Without it, columns are called x0, x1, ... and
        numbers are in the units of the mixture.
    n_columns : int, default=3
        Number of columns to describe a component by; fewer where the rest differs by less than 0.05 deviations.

    Returns
    -------
    frame
        Of the library of the table that the encoder was fitted to; pandas without one. The heaviest component first;
        its number in the mixture is the index in pandas, otherwise the column ``component``. Then ``weight``, and
        ``distinct_1``, ``distinct_2``, ...: texts, empty where no further column differs.

    Examples
    --------
    >>> from mixkern import Mixture
    >>> from mixkern.density import component_table
    >>> mixture = Mixture([0.3, 0.7], [[4.0, 0.0], [-1.0, 0.0]], [[1.0, 1.0], [2.0, 1.0]], "diag")
    >>> component_table(mixture, n_columns=1)
               weight      distinct_1
    component
    1             0.7  x0 -1.0 (-0.6)
    0             0.3   x0 4.0 (+1.3)
    """
    table = described_components(mixture, encoder, n_columns)
    kind, index = (PANDAS if encoder is None else encoder.frame_kind_), table.pop("component")
    return make_frame(table, kind, index=index, index_name="component", purpose="component_table")


def described_components(mixture: Mixture, encoder: TableEncoder | None, n_columns: int) -> dict[str, Any]:
    """Return the columns of :func:`component_table`, with the number of the component first."""
    mixture = as_mixture(mixture)
    COUNT.check(n_columns, "n_columns", MixtureError)
    columns = [*_continuous(mixture, encoder), *_categorical(mixture, encoder)]
    width = min(n_columns, len(columns))
    heaviest_first = np.argsort(-mixture.weights, kind="stable")
    texts = [_most_distinct(columns, int(k), width) for k in heaviest_first]
    table = {f"distinct_{rank + 1}": [row[rank] for row in texts] for rank in range(width)}
    return {"component": heaviest_first, "weight": mixture.weights[heaviest_first], **table}


def as_mixture(given: Any) -> Mixture:
    """Check that an argument is a mixture; for an estimator, the error names its attribute."""
    if isinstance(given, Mixture):
        return given
    step = "Pass its mixture: density.mixture_." if hasattr(given, "mixture_") else "Fit one: VBMixture().fit(X)."
    raise MixtureError(f"Expected a Mixture, but got a {type(given).__name__}.", hint=hint(python=step))


@dataclass(frozen=True)
class _Column:
    """Difference of each component from the whole mixture in one column, as a number and as a text."""

    differences: Floats  # (k,), in deviations of the whole mixture
    texts: Sequence[str]  # k of them


def _most_distinct(columns: Sequence[_Column], component: int, width: int) -> list[str]:
    """Give the texts of the columns in which a component differs most, padded to a given width."""
    ranked = sorted(columns, key=lambda column: -abs(column.differences[component]))
    texts = [c.texts[component] for c in ranked if abs(c.differences[component]) >= LEAST]
    return [*texts, *[""] * width][:width]


def _continuous(mixture: Mixture, encoder: TableEncoder | None) -> list[_Column]:
    centre, deviation = _overall(mixture)
    differences = (mixture.means - centre) / deviation  # (k, d)
    landmarks = np.vstack([mixture.means, centre, centre + deviation])
    if encoder is None:
        named: list[tuple[str, Any]] = [(f"x{j}", landmarks[:, j]) for j in range(mixture.n_continuous)]
    else:
        named = _decoded(landmarks, mixture, encoder)
    columns = []
    for (name, (*values, middle, above)), scores in zip(named, differences.T, strict=True):
        pairs = zip(values, scores, strict=True)
        texts = [f"{name} {value_text(value, above - middle)} ({score:+.1f})" for value, score in pairs]
        columns.append(_Column(scores, texts))
    return columns if encoder is None else _with_texts(columns, named, encoder)


def _with_texts(columns: list[_Column], named: list[tuple[str, Any]], encoder: TableEncoder) -> list[_Column]:
    """Describe each column of texts once, by parts of words instead of the numbers that encode them."""
    places = {name: j for j, (name, _) in enumerate(named)}
    for column in encoder.columns_:
        if not isinstance(column, TextColumn):
            continue
        at = [places.pop(part.name) for part in column.parts]
        values = np.array([named[j][1] for j in at], dtype=float).T[:-2]  # (k, parts), without the landmarks
        texts = [f"{column.name} with {words}" for words in column.typical_words(values)]
        columns = [*columns, _Column(np.max([np.abs(columns[j].differences) for j in at], axis=0), texts)]
    return [columns[j] for j in [*places.values(), *range(len(named), len(columns))]]


def _overall(mixture: Mixture) -> tuple[Floats, Floats]:  # (d,), (d,)
    """Mean and standard deviation of each continuous column in the mixture as a whole."""
    centre = mixture.weights @ mixture.means
    # Differences before squares: E[x^2] - E[x]^2 loses its digits far from the origin.
    variance = mixture.weights @ (mixture.variances + (mixture.means - centre) ** 2)
    return centre, np.sqrt(variance)


def _decoded(landmarks: Floats, mixture: Mixture, encoder: TableEncoder) -> list[tuple[str, Any]]:
    """Put values of the continuous columns into the table's own units."""
    _check_fit(mixture, encoder)
    gaps = np.full((len(landmarks), len(mixture.categories)), np.nan)
    columns = encoder.decoded(np.hstack([landmarks, gaps]))
    return [(name, python_cells(columns[name])) for name in encoder.continuous_]


def value_text(value: Any, deviation: Any) -> str:
    """Write a number, date or duration with digits down to about a tenth of its column's deviation.

    >>> value_text(63.21, 15.0), value_text(1.2345, 0.5), value_text(1234567.8, 3e5), value_text(3.21e-9, 1e-9)
    ('63', '1.23', '1234568', '3.21e-09')
    """
    if hasattr(value, "total_seconds"):
        return _duration_text(value.total_seconds(), deviation.total_seconds())
    if hasattr(value, "strftime"):
        return str(value.strftime("%Y-%m-%d" if deviation.days else "%Y-%m-%d %H:%M"))
    decimals = 1 - _exponent(deviation)  # down to a tenth of a deviation or a little below
    if decimals <= 6 and abs(value) < 1e7:
        return f"{value:z.{max(0, decimals)}f}"
    return f"{value:.{max(3, decimals + _exponent(value) + 1)}g}"


def _duration_text(seconds: float, deviation: float) -> str:
    """Choose the largest unit that does not hide the differences.

    >>> _duration_text(9000.0, 4000.0), _duration_text(9000.0, 12.0)
    ('2.5 hours', '9000 seconds')
    """
    unit, size = next((pair for pair in UNITS.items() if pair[1] <= deviation), ("seconds", 1))
    return f"{value_text(seconds / size, deviation / size)} {unit}"


def _exponent(value: float) -> int:
    return math.floor(math.log10(abs(value))) if value else 0


def _categorical(mixture: Mixture, encoder: TableEncoder | None) -> list[_Column]:
    if encoder is None:
        names = [f"x{mixture.n_continuous + e}" for e in range(len(mixture.categories))]
        labels = [tuple(str(code) for code in range(table.shape[1])) for table in mixture.categories]
    else:
        _check_fit(mixture, encoder)
        columns = [column for column in encoder.encoded_columns_ if isinstance(column, CategoricalColumn)]
        names, labels = [column.name for column in columns], [column.categories for column in columns]
    triples = zip(names, labels, mixture.categories, strict=True)
    return [_categorical_column(name, categories, table, mixture.weights) for name, categories, table in triples]


def _categorical_column(name: str, categories: Sequence[str], table: Floats, weights: Floats) -> _Column:
    # Without the last slot, which is reserved for categories that come later.
    table = table[:, : len(categories)]  # (k, categories)
    share = weights @ table
    category = np.argmax(table - share, axis=1)  # (k,)
    here, overall = table[np.arange(len(table)), category], share[category]
    deviation = np.sqrt(overall * (1 - overall))
    above = np.maximum(here - overall, 0)  # negative in all of them where the last slot has the rest
    differences = np.divide(above, deviation, out=np.zeros(len(table)), where=deviation > 0)
    texts = [
        f"{name} = {categories[c]} ({100 * p:.0f} % against {100 * q:.0f} %)"
        for c, p, q in zip(category, here, overall, strict=True)
    ]
    return _Column(differences, texts)


def _check_fit(mixture: Mixture, encoder: TableEncoder) -> None:
    check_is_fitted(encoder)
    d, e = len(encoder.continuous_), len(encoder.categorical_)
    if (d, e) != (mixture.n_continuous, len(mixture.categories)):
        raise MixtureError(
            f"The encoder gives {d} continuous and {e} categorical columns, but the mixture has "
            f"{mixture.n_continuous} and {len(mixture.categories)}.",
            hint=hint(
                python=f"Fit it to rows of this encoder: VBMixture(n_categorical={e}).fit(encoder.transform(X))."
            ),
        )
