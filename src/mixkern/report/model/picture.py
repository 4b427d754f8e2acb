"""The pictures of a model's report, for light and dark pages; names of classes stand beside them."""

from functools import partial
from typing import Any

import numpy as np

from mixkern.plot.confidence import confidence, told_classes
from mixkern.plot.projection import MOST_ROWS, projection
from mixkern.plot.theme import DARK, LIGHT, Theme
from mixkern.report.block import Mark, Picture
from mixkern.report.mark import OTHERS
from mixkern.report.model.component import shown_components
from mixkern.report.model.fact import ModelFacts
from mixkern.report.model.word import number

MOST_MARKS = 49  # that differ


def map_picture(facts: ModelFacts) -> Picture:
    """Draw the table in its first two principal components."""
    some = " " if facts.n_rows <= MOST_ROWS else f" ({number(MOST_ROWS)} of them, drawn at random) "
    caption = (
        f"Small points are rows{some}in the colour of their predicted label, large ones the labelled rows. Grey lines "
        "hold 20, 50, 80 and 95 % of the rows that the density expects; numbers are those of components. The ground "
        "has the colour of most predictions nearby, paler where they differ. The machine decides by all columns, and "
        "this is their shadow on two directions: a row may lie on the ground of another label without being an error."
    )
    key = tuple(Mark(i, name) for i, name in enumerate(facts.classes[:MOST_MARKS]))
    light, dark = (partial(_map, facts, theme) for theme in (LIGHT, DARK))
    return Picture("map", "The table seen from its widest side", caption, light, draw_dark=dark, key=key)


def _map(facts: ModelFacts, theme: Theme) -> Any:
    named = shown_components(facts)
    return projection(
        facts.model.mixture_, facts.rows, facts.predicted, facts.codes, named_components=named, theme=theme
    )


def confidence_picture(facts: ModelFacts) -> Picture:
    """Draw how probable the predicted labels are."""
    caption = (
        "How many rows have a predicted label of which probability, stacked by label. With few labels, take the "
        "probabilities for a ranking rather than for frequencies."
    )
    own, others = told_classes(facts.predicted, len(facts.settings.classes_))
    key = tuple(Mark(int(code), facts.classes[code]) for code in own)
    key += (Mark(OTHERS, f"{len(others)} others"),) if len(others) else ()
    light, dark = (partial(_confidence, facts, theme) for theme in (LIGHT, DARK))
    return Picture("confidence", "How sure the predictions are", caption, light, True, dark, key)


def _confidence(facts: ModelFacts, theme: Theme) -> Any:
    assert facts.probabilities is not None  # there is no picture without
    return confidence(np.asarray(facts.probabilities), theme=theme, legend=False)
