"""The estimated accuracy and its interval."""

import json
from copy import copy
from dataclasses import asdict

import numpy as np
import pytest
from scipy.stats import norm

from mixkern import LaplacianSVC, MixtureSVC, datasets
from mixkern.advice import accuracy
from mixkern.advice.accuracy import AccuracyEstimate, estimated_accuracy
from mixkern.advice.reliability import Reliability
from mixkern.density import VBMixture
from mixkern.encoding.cell import jsonable
from mixkern.errors import LabelError, OneClassError, OptionError
from mixkern.estimators.left_out import left_out
from mixkern.sampling import class_subsample

pytestmark = pytest.mark.filterwarnings("ignore::mixkern.errors.ColumnChoiceWarning")

HEART = datasets.load("heart")
RANDOM = np.random.RandomState(0)


@pytest.fixture(scope="module")
def y():
    return HEART.few_labels(per_class=10, random_state=0)


@pytest.fixture(scope="module")
def model(y):
    return MixtureSVC(random_state=0).fit(HEART.X, y)


@pytest.mark.slow
def test_the_estimate_of_twenty_labels(model, y):
    estimate = estimated_accuracy(model, HEART.X, y)
    assert estimate.interval[0] < estimate.value < estimate.interval[1]
    assert (estimate.n_labels, estimate.n_tested, estimate.n_folds, estimate.n_repeats) == (20, 20, 5, 20)
    assert 0.5 < estimate.value < 1
    assert list(estimate.labels.values()) == [10, 10]
    assert np.mean(list(estimate.per_class.values())) == pytest.approx(estimate.balanced)
    assert all(low < estimate.per_class[label] < high for label, (low, high) in estimate.class_intervals.items())
    assert estimate.balanced_interval[0] < estimate.balanced < estimate.balanced_interval[1]
    assert estimate.gain_interval[0] < estimate.gain < estimate.gain_interval[1]
    assert 0.5 < estimate.baseline < 0.7  # 56 %


@pytest.mark.slow
def test_it_is_the_mean_over_rows_without_a_label(model, y):
    """By the parts: left-out decisions, their posterior, and the decisions of the model."""
    estimate = estimated_accuracy(model, HEART.X, y)
    own = copy(model).set_params(probability=False)
    codes, _ = own.read_labels(HEART.X, y, None)
    rows = own.rows_of(HEART.X)
    own.train(rows, codes)
    others, random = np.flatnonzero(codes < 0), np.random.RandomState(0)
    class_subsample(codes[codes >= 0], 1_000, random)
    found = left_out(own, rows, codes, others, 20, random)
    reliability = Reliability.of(found.values, codes[codes >= 0], np.zeros(20, dtype=bool), 2)
    shares = reliability.shares(own.decide(rows[others]))
    assert estimate.value == pytest.approx(reliability.mean(shares.overall))
    assert estimate.interval == pytest.approx(reliability.interval(shares.overall, 0.95))
    assert estimate.baseline == pytest.approx(max(reliability.mean(shares.classes[..., at]) for at in (0, 1)))
    final = own.decide(rows[others])[:, 0] < 0
    changed = np.mean(found.predicted != final)
    assert estimate.gain == pytest.approx(0.17 * changed)
    half = norm.ppf(0.975) * 2.5 * np.sqrt(changed + 0.01) / 20
    assert estimate.gain_interval == pytest.approx((estimate.gain - half, estimate.gain + half))


@pytest.mark.slow
def test_suggested_labels_count_in_their_own_way(model, y):
    plain = estimated_accuracy(model, HEART.X, y)
    source = np.where(np.asarray(y, dtype=object) == -1, None, "suggested")
    suggested = estimated_accuracy(model, HEART.X, y, source=source)
    assert (plain.n_suggested, suggested.n_suggested) == (0, 20)
    assert suggested.value > plain.value
    assert np.diff(suggested.interval) > np.diff(plain.interval)
    assert estimated_accuracy(model, HEART.X, y, source=["random"] * len(HEART.y)) == plain


@pytest.mark.slow
def test_labels_of_whole_components_are_no_evidence(model, y):
    """Mistaken labels that were given by one answer do not raise the estimate, which counts the others alone."""
    plain = estimated_accuracy(model, HEART.X, y)
    more, source = np.array(y, dtype=object), np.full(len(y), None, dtype=object)
    classes = set(HEART.y)
    rows = np.array([i for i, label in enumerate(more) if label not in classes][:100])
    more[rows], source[rows] = model.predict(HEART.X)[rows], "component"  # all agree with the classifier
    counted = estimated_accuracy(model, HEART.X, more)
    untested = estimated_accuracy(model, HEART.X, more, source=source)
    assert (untested.n_labels, untested.n_tested) == (plain.n_labels, plain.n_tested)
    assert counted.n_labels == plain.n_labels + 100
    assert np.diff(untested.interval) > np.diff(counted.interval)
    assert abs(untested.value - plain.value) < abs(counted.value - plain.value)


def test_all_rows_labelled(model):
    estimate = estimated_accuracy(model, HEART.X, HEART.y)
    assert 0.75 < estimate.value < 0.95
    assert estimate.gain is None
    assert len(estimate.sentences) == 3
    assert estimate.is_complete
    assert estimate.baseline == HEART.y.value_counts(normalize=True).max()
    assert "% of further rows like these are predicted correctly" in str(estimate)


@pytest.mark.slow
def test_the_baseline_is_that_of_the_table_and_not_of_the_labels():
    """Nine in ten rows are of one class, and the classes have the same number of labels."""
    random = np.random.RandomState(0)
    y = np.repeat([0, 1], [270, 30])
    X = random.standard_normal((300, 2)) + 6 * y[:, None]
    few = np.where(np.isin(np.arange(300), [*range(6), *range(270, 276)]), y, -1)
    estimate = estimated_accuracy(None, X, few)
    assert estimate.labels == {0: 6, 1: 6}
    assert 0.75 < estimate.baseline < (y[few == -1] == 0).mean() + 0.05


@pytest.mark.slow
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


@pytest.mark.slow
def test_labels_that_mean_nothing_are_predicted_by_chance(model):
    noise = np.where(RANDOM.uniform(size=len(HEART.y)) < 0.2, RANDOM.randint(2, size=len(HEART.y)), -1)
    estimate = estimated_accuracy(model, HEART.X, noise)
    assert estimate.interval[0] < 0.5 < estimate.interval[1]


@pytest.mark.slow
def test_a_label_that_cannot_be_left_out_is_not_tested(model, y):
    codes = np.array([{HEART.classes[0]: 0, HEART.classes[1]: 1}.get(each, -1) for each in y])
    codes[np.flatnonzero(codes == -1)[:1]] = 2
    single = estimated_accuracy(model, HEART.X, codes)
    assert single.per_class[2] is single.class_intervals[2] is None
    assert (single.n_labels, single.n_tested) == (21, 20)


@pytest.mark.slow
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
        "The accuracy cannot be estimated from 2 labels: two labels or more in at least two classes are needed. Label "
        "about 8 rows drawn at random."
    )
    assert estimate.n_helpful == 8


@pytest.mark.parametrize(("n_left", "n_sentences"), [(9, 3), (10, 4)])
def test_fewer_than_ten_rows_without_a_label_have_no_gain_of_ten_labels(model, n_left, n_sentences):
    some = np.asarray(HEART.y, dtype=object)
    some[:n_left] = None
    estimate = estimated_accuracy(model, HEART.X, some)
    assert not estimate.is_complete
    assert (estimate.gain is None, estimate.gain_interval is None) == (n_left < 10, n_left < 10)
    assert len(estimate.sentences) == n_sentences


@pytest.mark.slow
def test_an_estimate_is_restored_from_a_file(model, y):
    estimate = estimated_accuracy(model, HEART.X, y)
    kept = json.loads(json.dumps(jsonable(asdict(estimate))))
    restored = AccuracyEstimate.restored({**kept, "in_words": list(estimate.sentences)})
    assert restored.sentences == estimate.sentences
    assert (restored.interval, restored.baseline) == (estimate.interval, estimate.baseline)
    assert list(restored.per_class.values()) == list(estimate.per_class.values())


@pytest.mark.parametrize(
    "wrong",
    [
        {"value": 7.0},
        {"baseline": 1.5},
        {"baseline": "most"},
        {"value": "0.8"},
        {"interval": [0.1]},
        {"interval": 3},
        {"n_labels": -1},
        {"n_labels": None},
        {"confidence": None},
        {"per_class": {"a": [1]}},
        {"per_class": 5},
        {"gain": float("nan")},
        {"value": 10**400},
        {"value": None},
        {"interval": [3, -2]},
        {"interval": [0.9, 0.7]},
        {"interval": [0.7, 1.1]},
        {"is_complete": "no"},
        {"per_class": {"a": 0.5}},
    ],
)
def test_a_record_that_is_no_estimate(wrong):
    record = {"value": 0.8, "interval": [0.7, 0.9], "confidence": 0.95, "n_labels": 25}
    assert AccuracyEstimate.restored(record) is not None
    assert AccuracyEstimate.restored({**record, **wrong}) is None
    assert AccuracyEstimate.restored({"value": 0.8}) is None
    assert AccuracyEstimate.restored([0.8]) is None


def test_the_text():
    shares = {"gain": 0.012, "gain_interval": (-0.03, 0.051), "baseline": 0.553}
    estimate = AccuracyEstimate(0.84, (0.76, 0.93), 0.95, 25, **shares)
    assert estimate.sentences == (
        "About 84 % of the rows without a label are predicted correctly (95 % interval 76 to 93 %).",
        "Always predicting the most frequent class would be correct for about 55 %.",
        "This is based on 25 labels, taken as drawn at random.",
        "Ten more labels are expected to change the accuracy by +1 point (95 % interval -3 to +5).",
    )
    assert str(estimate) == " ".join(estimate.sentences[:3])


def test_an_estimate_in_a_file_of_an_earlier_version_has_no_baseline():
    record = {"value": 0.8, "interval": [0.7, 0.9], "confidence": 0.95, "n_labels": 25}
    restored = AccuracyEstimate.restored(record)
    assert restored.baseline is None
    assert len(restored.sentences) == 2
    assert not any("most frequent class" in sentence for sentence in restored.sentences)


@pytest.mark.parametrize(
    ("n_suggested", "words"),
    [
        (0, "This is based on 25 labels, taken as drawn at random; about "),
        (25, "This is based on 25 labels of suggested rows, none drawn at random; about "),
        (20, "This is based on 25 labels, 20 of suggested rows and 5 at random; about "),
    ],
)
def test_the_text_names_the_sources_and_what_would_help(n_suggested, words):
    estimate = AccuracyEstimate(0.75, (0.55, 0.9), 0.95, 25, n_suggested=n_suggested)
    _, basis = estimate.sentences
    assert basis.startswith(words)
    assert basis.endswith(f" {estimate.n_helpful} more at random would narrow the interval to 10 points to each side.")
    assert 40 < estimate.n_helpful < 120


def test_so_many_labels_help_as_the_width_says():
    wide, narrow = (AccuracyEstimate(0.75, interval, 0.95, 25) for interval in ((0.5, 0.95), (0.62, 0.86)))
    assert wide.n_helpful > narrow.n_helpful > 0
    assert AccuracyEstimate(0.75, (0.66, 0.84), 0.95, 25).n_helpful == 0


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
