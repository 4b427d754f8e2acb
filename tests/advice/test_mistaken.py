"""Labels that others contradict, against trainings without each label and Bayes' rule."""

import re

import numpy as np
import polars as pl
import pytest
from scipy.special import softmax

from mixkern import LaplacianSVC, MixtureSVC, datasets, mistaken_labels
from mixkern.advice.mistaken import LEAST_RATE, RATES, SLOPES, Doubts, _most_probable
from mixkern.errors import LabelError, MixkernError, OneClassError, OptionError
from mixkern.kernels import RBFKernel
from mixkern.svm.gaussian_process import LABEL_NOISE, evidence_noise, left_out_targets, log_evidence, posterior_mean

IRIS = datasets.load("iris")
RANDOM = np.random.RandomState(0)
CODES = np.repeat([0, 1, 2], 8)
X = RANDOM.standard_normal((24, 2)) + 2.5 * CODES[:, None]
K = RBFKernel(0.3)(X)


def with_slips(data, per_class, n, seed):
    random = np.random.RandomState(seed)
    y = data.few_labels(per_class=per_class, random_state=seed)
    labelled = np.flatnonzero([label in set(data.classes) for label in y])
    wrong = random.choice(labelled, n, replace=False)
    for at in wrong:
        y[at] = random.choice([label for label in data.classes if label != y[at]])
    return y, set(wrong.tolist())


def test_left_out_targets_are_those_of_regressions_without_the_label():
    found = left_out_targets(K, CODES, LABEL_NOISE)
    means = np.bincount(CODES) / len(CODES)
    for i in range(len(CODES)):
        kept = np.delete(np.arange(len(CODES)), i)
        A = K[np.ix_(kept, kept)] + LABEL_NOISE * np.eye(len(kept))
        targets = (CODES[kept, None] == np.arange(3)) - means  # the prior mean is that of all labels
        expected = means + K[i, kept] @ np.linalg.solve(A, targets)
        np.testing.assert_allclose(found[i], expected, atol=1e-10)
    assert posterior_mean(K, K, CODES).shape == found.shape


def test_the_noise_has_the_best_evidence_of_all():
    noise = evidence_noise(K, CODES)
    others = 10 ** np.arange(-2.5, 0.8, 0.25)
    assert log_evidence(K, CODES, noise=noise) == pytest.approx(max(log_evidence(K, CODES, noise=n) for n in others))


def log_posterior(targets, codes, slope, rate):
    """The formula, one label at a time."""
    total = 20 * np.log(1 - rate) - 0.5 * np.log(slope / 4) ** 2
    for f, code in zip(targets, codes, strict=True):
        share = softmax(slope * f)[code]
        total += np.log((1 - rate) * share + rate * (1 - share) / (len(f) - 1))
    return total


def test_slope_and_rate_are_the_most_probable_ones():
    codes = np.repeat([0, 1, 2], 20)
    rows = np.random.RandomState(1).standard_normal((60, 2)) + 6.0 * codes[:, None]
    codes[[0, 25, 50]] = [2, 0, 1]
    targets = left_out_targets(RBFKernel(0.3)(rows), codes, 0.3)
    slope, rate = _most_probable(targets, codes)
    best = max(log_posterior(targets, codes, s, r) for s in SLOPES for r in RATES)
    assert log_posterior(targets, codes, slope, rate) == pytest.approx(best)
    assert rate > 0


def test_probabilities_are_bayes_rule():
    codes = CODES.copy()
    codes[3] = 2
    doubts = Doubts.of(K, codes)
    targets = left_out_targets(K, codes, evidence_noise(K, codes))
    slope, rate = _most_probable(targets, codes)
    rate = max(rate, LEAST_RATE)
    for i, code in enumerate(codes):
        share = softmax(slope * targets[i])[code]
        mistaken, right = rate * (1 - share) / 2, (1 - rate) * share
        assert doubts.probability[i] == pytest.approx(mistaken / (mistaken + right))
    assert doubts.probability.argmax() == 3
    assert doubts.likely[3] == 0


def test_a_slip_is_found_and_explained():
    y = IRIS.few_labels(per_class=20, random_state=0)
    slip = next(i for i in range(50) if y[i] == "setosa")
    y[slip] = "virginica"
    found = mistaken_labels(IRIS.X, y)
    assert found.n_standing_out == 1
    assert found.n_examined == found.n_labels == 60
    first = found.table.iloc[0]
    assert (first["position"], first["label"], first["likely"]) == (slip, "virginica", "setosa")
    assert first["probability"] > 0.5
    assert "others predict 'setosa' with" in first["reason"]
    assert str(found).startswith(
        f"1 of 60 labels stands out as mistaken:\n  position {slip}, 'virginica': others predict 'setosa'"
    )
    assert list(found.table["probability"]) == sorted(found.table["probability"], reverse=True)


def test_numbers_are_written_as_those_of_python():
    y = datasets.load("wine").few_labels(per_class=20, random_state=0)
    y[slip := int((y == 1).argmax())] = 3
    assert f"\n  position {slip}, 3: others predict 1 with" in str(mistaken_labels(datasets.load("wine").X, y, n=1))


def test_the_ranking_is_printed_where_no_label_stands_out():
    y = IRIS.few_labels(per_class=4, random_state=0)
    slip = int((y == "setosa").to_numpy().argmax())
    y[slip] = "versicolor"
    found = mistaken_labels(IRIS.X, y, n=3)
    assert found.n_standing_out == 0
    lines = str(found).splitlines()
    assert lines[0] == "None of 12 labels stands out as mistaken."
    assert re.fullmatch(rf"  position {slip}, 'versicolor': others predict 'setosa' with \d\d %", lines[2])
    assert [int(re.search(r"position (\d+)", line)[1]) for line in lines[2:]] == found.table["position"].tolist()
    assert not found.sentences


def test_labels_below_those_that_stand_out_are_printed_in_short():
    y = IRIS.few_labels(per_class=20, random_state=0)
    y[int((y == "setosa").to_numpy().argmax())] = "virginica"
    found = mistaken_labels(IRIS.X, y, n=4)
    lines = str(found).splitlines()
    assert lines[1:2] == list(found.sentences)
    assert lines[2] == "The most likely ones of the others (mistakes, or unusual rows with the right label):"
    assert lines[3:] == list(found.others)
    assert len(found.others) == 3


def test_a_label_that_the_others_do_not_contradict_is_predicted_by_them():
    doubts = Doubts.of(K, CODES)
    targets = left_out_targets(K, CODES, evidence_noise(K, CODES))
    slope, _ = _most_probable(targets, CODES)
    np.testing.assert_allclose(doubts.agreement, softmax(slope * targets, axis=1)[np.arange(24), CODES])
    lines = str(mistaken_labels(X, CODES, n=24, model=MixtureSVC(RBFKernel(0.3), random_state=0))).splitlines()[2:]
    assert any("others predict the same with" in line for line in lines)


@pytest.mark.slow
def test_most_of_the_top_are_slips_and_without_slips_none_stands_out():
    hits, calm = [], []
    for seed in range(3):
        y, wrong = with_slips(IRIS, 30, 9, seed)
        hits.append(sum(at in wrong for at in mistaken_labels(IRIS.X, y).table["position"]))
        clean = IRIS.few_labels(per_class=30, random_state=seed)
        calm.append(mistaken_labels(IRIS.X, clean).n_standing_out == 0)
    assert np.mean(hits) > 7
    assert all(calm)


def test_labels_at_random_do_not_stand_out():
    random = np.random.RandomState(0)
    found = mistaken_labels(random.standard_normal((80, 3)), random.randint(2, size=80))
    assert found.n_standing_out == 0
    first, heading, *others = str(found).splitlines()
    assert first == "None of 80 labels stands out as mistaken."
    assert heading == "The most likely ones (mistakes, or unusual rows with the right label):"
    assert len(others) == len(found.table) == 10


def test_the_only_label_of_a_class_is_not_examined():
    y = IRIS.few_labels(per_class=10, random_state=0)
    lone = [i for i in range(150) if y[i] == "virginica"]
    y[lone[1:]] = None
    found = mistaken_labels(IRIS.X, y, n=100)
    assert (found.n_labels, found.n_examined) == (21, 20)
    assert lone[0] not in set(found.table["position"])


def test_a_model_and_another_frame():
    y = IRIS.few_labels(per_class=10, random_state=0)
    model = MixtureSVC("rwm", random_state=0).fit(IRIS.X, y)
    own, again = (mistaken_labels(IRIS.X, y, n=3, model=each) for each in (model, MixtureSVC("rwm", random_state=0)))
    assert own.table["probability"].tolist() == again.table["probability"].tolist()
    assert isinstance(mistaken_labels(pl.from_pandas(IRIS.X), list(y), n=3, model=LaplacianSVC()).table, pl.DataFrame)


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"n": 0}, OptionError),
        ({"model": 3}, OptionError),
        ({"y": ["a"] * 150}, OneClassError),
        ({"y": ["a", "b"]}, LabelError),
    ],
)
def test_bad_input_is_an_error(changes, error):
    settings = {"y": IRIS.few_labels(per_class=4, random_state=0), **changes}
    with pytest.raises(error) as found:
        mistaken_labels(IRIS.X, **settings)
    assert isinstance(found.value, MixkernError)


def test_many_labels_are_sampled(monkeypatch):
    monkeypatch.setattr("mixkern.advice.mistaken.MAX_LABELS", 30)
    found = mistaken_labels(IRIS.X, IRIS.few_labels(per_class=30, random_state=0))
    assert found.n_labels == 90
    assert 30 <= found.n_examined <= 33


def test_labels_that_are_numbers_are_written_as_numbers():
    iris = datasets.load("iris")
    y = np.full(150, -1)
    y[::5] = np.unique(iris.y, return_inverse=True)[1][::5] + 3
    reasons = mistaken_labels(iris.X, y, 5).table["reason"].tolist()
    assert len(reasons) == 5
    for reason in reasons:
        assert re.match(r"others predict [345] with", reason)
        assert "int64" not in reason
