"""The estimated accuracy and its interval."""

import numpy as np
import pytest
from scipy.stats import binomtest

from mixkern import LaplacianSVC, MixtureSVC, datasets
from mixkern.advice import accuracy
from mixkern.advice.accuracy import AccuracyEstimate, estimated_accuracy, wilson
from mixkern.density import VBMixture
from mixkern.errors import LabelError, OneClassError, OptionError

pytestmark = pytest.mark.filterwarnings("ignore::mixkern.errors.ColumnChoiceWarning")

HEART = datasets.load("heart")
RANDOM = np.random.RandomState(0)


@pytest.fixture(scope="module")
def y():
    return HEART.few_labels(per_class=10, random_state=0)


@pytest.fixture(scope="module")
def model(y):
    return MixtureSVC(random_state=0).fit(HEART.X, y)


@pytest.mark.parametrize(("right", "n"), [(0, 5), (3, 8), (20, 20), (70, 100)])
def test_wilson_is_that_of_the_textbook(right, n):
    expected = binomtest(right, n).proportion_ci(0.95, method="wilson")
    assert wilson(right / n, n, 0.95) == pytest.approx((expected.low, expected.high))


def test_the_interval_is_never_narrower_than_the_number_of_labels_allows(model, y):
    estimate = estimated_accuracy(model, HEART.X, y)
    low, high = wilson(estimate.value, 20 - 2, 0.95)  # one label of each class is always needed for training
    assert estimate.interval[0] <= low < estimate.value < high <= estimate.interval[1]
    assert (estimate.n_labels, estimate.n_tested, estimate.n_folds, estimate.n_repeats) == (20, 20, 5, 5)
    assert 0.5 < estimate.value < 1
    assert list(estimate.labels.values()) == [10, 10]
    assert np.mean(list(estimate.per_class.values())) == pytest.approx(estimate.value)


def test_the_density_of_a_fitted_model_is_used_as_it_is(model, y, monkeypatch):
    before = model.predict_proba(HEART.X)

    def learns(*_, **__):
        raise AssertionError("the structure was learned again")

    monkeypatch.setattr(MixtureSVC, "learn_structure", learns)
    first = estimated_accuracy(model, HEART.X, y)
    assert first == estimated_accuracy(model, HEART.X, y)
    assert model.probability
    assert np.array_equal(model.predict_proba(HEART.X), before)


@pytest.mark.slow
def test_without_a_model_the_estimate_is_the_same(model, y):
    assert estimated_accuracy(None, HEART.X, y) == estimated_accuracy(model, HEART.X, y)
    assert estimated_accuracy(MixtureSVC(random_state=0), HEART.X, y) == estimated_accuracy(model, HEART.X, y)


def test_labels_that_mean_nothing_are_predicted_by_chance(model):
    noise = np.where(RANDOM.uniform(size=len(HEART.y)) < 0.2, RANDOM.randint(2, size=len(HEART.y)), -1)
    estimate = estimated_accuracy(model, HEART.X, noise)
    assert estimate.interval[0] < 0.5 < estimate.interval[1]


@pytest.mark.slow
def test_a_label_that_cannot_be_left_out_widens_the_interval(model, y):
    codes = np.array([{HEART.classes[0]: 0, HEART.classes[1]: 1}.get(each, -1) for each in y])
    plain = estimated_accuracy(model, HEART.X, codes)
    more = codes.copy()
    more[np.flatnonzero(codes == -1)[:1]] = 2
    single = estimated_accuracy(model, HEART.X, more)
    assert single.per_class[2] is None
    assert single.n_tested == 20
    right = single.value * 20
    assert single.interval[0] <= wilson(right / 21, 18, 0.95)[0]
    assert single.interval[1] >= wilson((right + 1) / 21, 18, 0.95)[1]
    assert plain.n_labels == 20


def test_a_higher_confidence_is_wider(model, y):
    sure, less = (estimated_accuracy(model, HEART.X, y, confidence=each).interval for each in (0.99, 0.8))
    assert sure[0] < less[0] < less[1] <= sure[1]


def test_of_many_labels_some_are_drawn(model, monkeypatch):
    monkeypatch.setattr(accuracy, "MAX_LABELS", 40)
    estimate = estimated_accuracy(model, HEART.X, HEART.y)
    assert 38 <= estimate.n_tested <= 40  # as many of each class, rounded
    assert estimate.n_labels == 270


def test_too_few_labels_are_no_error(model):
    y = [HEART.classes[0], HEART.classes[1]] + [None] * 268
    estimate = estimated_accuracy(model, HEART.X, y)
    assert not estimate.is_known
    assert estimate.value is estimate.interval is None
    assert str(estimate) == (
        "The accuracy cannot be estimated from 2 labels: two labels or more in at least two classes are needed."
    )


def test_the_text():
    text = str(AccuracyEstimate(0.84, (0.66, 0.93), 0.95, 25))
    assert text == (
        "About 84 % of rows like the labelled ones are predicted correctly (95 % interval 66 to 93 %, from 25 labels)."
    )


def test_laplacian_kernels(y):
    model = LaplacianSVC(random_state=0).fit(HEART.X, y)
    assert estimated_accuracy(model, HEART.X, y).value > 0.5


def test_wrong_parameters(model, y):
    with pytest.raises(OptionError, match="confidence must be a number between 0 and 1, but it is 1"):
        estimated_accuracy(model, HEART.X, y, confidence=1)
    with pytest.raises(OptionError, match="model must be None, a MixtureSVC or a LaplacianSVC"):
        estimated_accuracy("heart", HEART.X, y)
    with pytest.raises(LabelError, match="it depends on those that are left out"):
        estimated_accuracy(MixtureSVC(density=VBMixture(use_labels=True)), HEART.X, y)
    with pytest.raises(OneClassError):
        estimated_accuracy(model, HEART.X, [0] * 5 + [-1] * 265)


def test_sources_are_checked(model, y):
    with pytest.raises(LabelError, match="source holds 'chosen' in row 2"):
        estimated_accuracy(model, HEART.X, y, source=["random", "chosen"] + [None] * 268)
