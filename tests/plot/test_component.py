import numpy as np
import pytest

from mixkern import Mixture
from mixkern.plot.component import CENTRES, around_centres, ellipses, grey_components
from mixkern.plot.style import new_figure

COVARIANCES = [[[2.0, 0.8], [0.8, 1.0]], [[0.5, 0.0], [0.0, 0.1]]]
PLANE = Mixture([0.7, 0.3], [[0.0, 0.0], [3.0, 1.0]], COVARIANCES)


def test_ellipses_are_at_mahalanobis_distance_one_and_look_as_asked():
    drawn = ellipses(PLANE, linewidth=7)
    assert [each.get_linewidth() for each in drawn] == [7, 7]
    for ellipse, mean, covariance in zip(drawn, PLANE.means, COVARIANCES, strict=True):
        edge = ellipse.get_patch_transform().transform(np.array([[1, 0], [0, 1], [-0.6, 0.8]])) - mean
        np.testing.assert_allclose(np.einsum("ij,ij->i", edge @ np.linalg.inv(covariance), edge), 1)


def test_coordinates_reach_from_each_centre_as_far_as_asked():
    found = around_centres(PLANE, 1, 3.0, n_each=5)
    assert found.shape == (2, 5)
    np.testing.assert_allclose(found[:, 2], PLANE.means[:, 1])
    np.testing.assert_allclose(np.ptp(found, axis=1), 6 * np.sqrt([1.0, 0.1]))


def test_grey_components_have_one_label():
    ax = new_figure().subplots()
    grey_components(PLANE, ax)
    (centres,) = ax.collections
    assert centres.get_offsets().tolist() == PLANE.means.tolist()
    assert ax.get_legend_handles_labels() == ([centres], [CENTRES])
    assert len(ax.patches) == 2
    red, green, blue, _ = ax.patches[0].get_edgecolor()
    assert red == green == blue == pytest.approx(0.5, abs=0.01)
