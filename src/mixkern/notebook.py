"""Show in a notebook what an estimator has learned, beside scikit-learn's diagram."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from sklearn.exceptions import NotFittedError
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted

from mixkern.wording import counted, shortened

MOST_CLASSES = 10  # that are listed with their numbers of labels
LONGEST = 40  # characters of the name of a class
# Colours are inherited, and lines are half transparent: readable on light and on dark pages.
STYLE = """
.mixkern-side {display: flex; flex-wrap: wrap; gap: 0.5em 2em; align-items: flex-start}
.mixkern-learned {border-collapse: collapse; margin: 0.3em 0; font-size: 0.9em; color: inherit; background: none}
.mixkern-learned caption {text-align: left; font-weight: bold; padding: 0 0 0.2em 0; color: inherit; caption-side: top}
.mixkern-learned tr {background: none !important; border: none}
.mixkern-learned th, .mixkern-learned td {
  text-align: left !important; vertical-align: top; padding: 0.2em 1.2em 0.2em 0;
  border: none; border-top: 1px solid rgba(128, 128, 128, 0.4); max-width: 32em; white-space: normal; color: inherit}
.mixkern-learned th {font-weight: normal; opacity: 0.75; white-space: nowrap}
"""


class NotebookMixin:
    """HTML for notebooks: scikit-learn's diagram, and beside it a table of what a fitted estimator has learned."""

    @abstractmethod
    def _learned_facts(self) -> Mapping[str, str]:
        """Return what was learned, as texts by title."""

    def _html_repr(self) -> str:  # read by scikit-learn's ReprHTMLMixin
        diagram = str(estimator_html_repr(self))
        try:
            check_is_fitted(self)
        except NotFittedError:
            return diagram
        return f'<div class="mixkern-side"><div>{diagram}</div>{facts_table(self._learned_facts())}</div>'


def facts_table(facts: Mapping[str, str]) -> str:
    """Return an HTML table of texts by title, which are escaped.

    >>> print(facts_table({"Labels": "<b> 3"}).split("</style>")[1])
    <table class="mixkern-learned"><caption>Learned</caption><tr><th>Labels</th><td>&lt;b&gt; 3</td></tr></table>
    """
    lines = "".join(f"<tr><th>{escape(title)}</th><td>{escape(text)}</td></tr>" for title, text in facts.items())
    return f'<style>{STYLE}</style><table class="mixkern-learned"><caption>Learned</caption>{lines}</table>'


def column_counts(n_continuous: int, n_categorical: int, n_gaps: int = 0) -> str:
    """Return the number of columns in a text.

    >>> column_counts(3, 1, 1200), column_counts(0, 2)
    ('3 continuous, 1 categorical, 1,200 gaps', '2 categorical')
    """
    parts = [(n_continuous, "continuous"), (n_categorical, "categorical")]
    texts = [f"{n:,} {word}" for n, word in parts if n]
    return ", ".join([*texts, counted(n_gaps, "gap")] if n_gaps else texts)


def class_counts(classes: Sequence[Any], counts: Sequence[int] | None) -> str:
    """Return the number of labels of each class in a text; of many classes, the most frequent ones.

    >>> class_counts(["no", "yes"], [3, 1200])
    'no: 3, yes: 1,200'
    """
    given = [0] * len(classes) if counts is None else counts
    n_more = len(classes) - MOST_CLASSES
    pairs = list(zip(classes, given, strict=True))
    if n_more > 0:
        pairs = sorted(pairs, key=lambda pair: -pair[1])[:MOST_CLASSES]
    texts = [shortened(str(label), LONGEST) + (f": {n:,}" if counts is not None else "") for label, n in pairs]
    return ", ".join([*texts, counted(n_more, "other")] if n_more > 0 else texts)


def search_facts(search: Any, settings: Mapping[str, Any]) -> dict[str, str]:
    """Return the settings of the best trial of a search, and what its estimator has learned."""
    best = ", ".join(f"{name} = {_value(value)}" for name, value in settings.items())
    scoring = f" ({search.scoring})" if isinstance(search.scoring, str) else ""
    return {
        "Best trial": best,
        "Score": f"{search.best_score_:.4g}{scoring}",
        "Trials": f"{len(search.cv_results_['params']):,}",
        **search.best_estimator_._learned_facts(),  # noqa: SLF001
    }


def _value(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else shortened(str(value), LONGEST)
