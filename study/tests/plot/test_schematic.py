import numpy as np
from matplotlib.figure import Figure

from mixkern.search.grid import line
from mixkern_study.plot import schematic


def texts(figure):
    return [text.get_text() for panel in figure.axes for text in panel.texts if text.get_text()]


def test_the_line_is_the_one_that_is_searched():
    pairs = line(10**schematic.LINEAR, [0.1, 1.0, 10.0, 100.0], [1e-9, 1e9])
    C, gamma = np.log10(pairs).T
    np.testing.assert_allclose(schematic.log_penalty(gamma), C)


def test_the_line_and_the_settings_on_it_have_slope_minus_one():
    (ax,) = schematic.search_line().axes
    sloped = [each for each in ax.lines if np.ptp(each.get_xdata()) > 0 and np.ptp(each.get_ydata()) > 0]
    assert len(sloped) == 2
    for each in sloped:
        x, y = each.get_data()
        np.testing.assert_allclose(np.diff(y) / np.diff(x), -1)
    assert {"underfitting", "overfitting", "good settings"} <= set(texts(ax.figure))


def test_the_folds_of_the_protocol():
    figure = schematic.protocol()
    assert isinstance(figure, Figure)
    found = texts(figure)
    assert (found.count("L"), found.count("T")) == (4, 1)
    assert (found.count("$L_{train}$"), found.count("$L_{val}$")) == (3, 1)
    assert sum(text.startswith("U") for text in found) == 2
    assert [text.split(":")[0] for text in found if text.startswith("Exp")] == [f"Experiment {i}" for i in (1, 2, 3)]
