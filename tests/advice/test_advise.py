"""Advice on tables with known gains, and on tables with few labels."""

import numpy as np
import pandas as pd
import pytest

from mixkern import LaplacianSVC, MixtureSVC, VBMixture, datasets
from mixkern.advice import Advice, Verdict, advise, estimated_accuracy
from mixkern.advice import gain as gain_module
from mixkern.errors import LabelError, NoLabelsError, OneClassError, OptionError

MOONS, SIDES = datasets.make_two_moons(300, random_state=0)


def few(y, counts, seed=0):
    """Hide all labels but some of each class."""
    random, hidden = np.random.RandomState(seed), np.full(len(y), -1)
    for label, count in enumerate(counts):
        hidden[random.permutation(np.flatnonzero(y == label))[:count]] = label
    return hidden


def islands(n=300, k=6, seed=0):
    """Round clusters, far from each other."""
    random = np.random.RandomState(seed)
    which = np.arange(n) % k
    angle = 2 * np.pi * np.arange(k) / k
    return 6 * np.column_stack([np.cos(angle), np.sin(angle)])[which] + random.standard_normal((n, 2)), which


def stripes(n=300, k=6, seed=0):
    """Long thin clusters side by side, the classes by turns: Euclidean distances mislead."""
    random, which = np.random.RandomState(seed), np.arange(n) % k
    return np.column_stack([random.standard_normal(n), which + 0.1 * random.standard_normal(n)]), which % 2


@pytest.fixture
def quick(monkeypatch):
    """Two rounds of folds instead of ten."""
    monkeypatch.setattr(gain_module, "N_REPEATS", 2)


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
def test_unlabelled_rows_help_where_classes_are_made_of_clusters():
    estimates = [advise(MOONS, few(SIDES, [6, 6], seed)).estimate for seed in range(8)]
    assert np.mean(estimates) > 0.02


@pytest.mark.slow
def test_a_large_gain_is_a_clear_one():
    X, y = stripes()
    found = advise(X, few(y, [20, 20]))
    assert found.verdict is Verdict.HELPS
    assert 0 < found.interval[0] < found.estimate < found.interval[1]
    assert found.accuracies["all_rows"] - found.accuracies["labels_only"] == pytest.approx(found.estimate)
    assert found.next_steps[0] == "Use all rows: MixtureSVC().fit(X, y)."
    assert advise(MOONS, few(SIDES, [20, 20])).purity.lift > 0.5 > found.purity.lift  # there it is the shapes


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
def test_labels_that_ignore_the_clusters_have_no_purity_and_no_gain():
    X, _ = islands()
    found = [
        advise(X, few(np.random.RandomState(seed).randint(0, 2, len(X)), [20, 20], seed), random_state=seed)
        for seed in range(6)
    ]
    assert all(each.verdict is not Verdict.HELPS for each in found)
    assert abs(np.mean([each.purity.overall - each.purity.chance for each in found])) < 0.04
    assert abs(np.mean([each.estimate for each in found])) < 0.1


@pytest.mark.slow
def test_components_are_described_one_by_one():
    X, which = islands()
    y = np.where(which % 2, "odd", "even").astype(object)
    y[(which == 4) | (np.arange(len(X)) >= 60)] = None  # one island is never labelled
    found = advise(X, y)
    table = found.components
    assert len(table) == 6
    np.testing.assert_allclose(table["share"], 1 / 6, atol=0.02)
    empty = table[table["labels"] < 0.5]
    assert len(empty) == 1
    assert empty["majority"].tolist() == [None]
    assert empty["purity"].isna().all()
    full = table.drop(empty.index)
    np.testing.assert_allclose(full["labels"], 10, atol=0.5)
    assert set(full["majority"]) == {"odd", "even"}
    assert full["purity"].between(0.85, 0.99).all()  # ten labels of one class, and a prior
    share = f"{100 * empty['share'].item():.0f} %"
    assert f"1 of 6, with {share} of all rows, has none: component {empty.index[0]}." in " ".join(found.reasons)
    assert "mixkern.suggest" in found.next_steps[-1]


@pytest.mark.parametrize("counts", [(1, 1), (2, 1), (1, 9)])
def test_too_few_labels_are_no_estimate(counts):
    found = advise(MOONS, few(SIDES, counts))
    assert (found.verdict, found.estimate, found.interval, found.accuracies) == (Verdict.UNKNOWN, None, None, {})
    assert "nan" not in str(found).lower()
    assert "Too few labels to tell." in str(found)


@pytest.mark.usefixtures("quick")
def test_four_labels_are_called_few():
    found = advise(MOONS, few(SIDES, [2, 2]))
    assert found.verdict is Verdict.UNCLEAR
    assert found.interval[1] - found.interval[0] > 0.6
    assert "The interval is wide because 4 labels are few: each is 25 points of accuracy." in found.reasons


@pytest.mark.usefixtures("quick")
@pytest.mark.slow
def test_the_only_label_of_a_class_is_mentioned():
    y = few(SIDES, [5, 5])
    y[np.flatnonzero(y < 0)[0]] = 7
    found = advise(MOONS, y)
    assert found.labels == {0: 5, 1: 5, 7: 1}
    assert found.gain.n_tested == 10
    assert (
        "The only label of a class cannot be left out, so the estimate is about the classes other than 7."
        in found.reasons
    )


@pytest.mark.usefixtures("quick")
@pytest.mark.slow
def test_nothing_is_unlabelled_unless_there_are_further_rows():
    complete = advise(MOONS[:60], SIDES[:60])
    assert complete.verdict is Verdict.COMPLETE
    assert "60 rows, all labelled:" in str(complete)
    further = advise(MOONS[:60], SIDES[:60], X_unlabelled=MOONS[60:])
    assert further.verdict is not Verdict.COMPLETE
    assert further.n_rows == 300
    assert sum(further.labels.values()) == 60


@pytest.mark.usefixtures("quick")
@pytest.mark.filterwarnings("ignore::mixkern.errors.ColumnChoiceWarning")
@pytest.mark.slow
def test_frames_with_gaps_categories_and_texts():
    random = np.random.RandomState(0)
    X = pd.DataFrame(MOONS, columns=["east", "north"]).mask(random.uniform(size=MOONS.shape) < 0.1)
    X["colour"] = pd.Series(np.where(random.uniform(size=300) < 0.95, SIDES, 1 - SIDES)).map({0: "red", 1: "blue"})
    X.loc[::7, "colour"] = None
    y = pd.Series(few(SIDES, [6, 6])).map({0: "upper", 1: "lower"})
    found = advise(X, y)
    assert found.labels == {"lower": 6, "upper": 6}
    words = [*found.components["distinct_1"], *found.components["distinct_2"]]
    assert any(text.startswith("colour = ") for text in words)
    assert str(advise(X, y)) == str(found)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("name", ["heart", "vowel"])
@pytest.mark.filterwarnings("ignore::mixkern.errors.ColumnChoiceWarning")
@pytest.mark.slow
def test_the_text_is_short_and_fits_a_terminal(name):
    data = datasets.load(name)
    lines = str(advise(data.X, data.few_labels(per_class=6, random_state=0))).splitlines()
    assert lines[0].startswith("Do unlabelled rows help here? ")
    assert 10 <= len(lines) <= 24
    assert max(map(len, lines)) <= 80


@pytest.mark.usefixtures("quick")
def test_another_estimator_is_named_and_left_as_it_was():
    estimator = LaplacianSVC()
    found = advise(MOONS, few(SIDES, [6, 6]), estimator=estimator)
    assert "LaplacianSVC, all rows" in str(found)
    assert estimator.random_state is None
    assert estimator.probability
    assert not hasattr(estimator, "mixture_")


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
def test_verbose_prints_stages_and_folds(capsys):
    y = few(SIDES, [3, 3])
    plain = advise(MOONS, y)
    assert capsys.readouterr().out == ""
    assert str(advise(MOONS, y, verbose=1)) == str(plain)
    lines = capsys.readouterr().out.splitlines()
    assert "VBMixture: 300 rows" in lines[0]
    assert lines[-2].endswith(f"MixtureSVC: accuracy estimated: {100 * plain.accuracy.value:.0f} %")
    assert lines[-1].endswith(f"MixtureSVC: gain estimated: {100 * plain.estimate:+.0f} points")
    assert len(lines) < 10
    seconds = [float(line.split()[0]) for line in lines]
    assert seconds == sorted(seconds)
    advise(MOONS, y, verbose=2)
    folds = [line for line in capsys.readouterr().out.splitlines() if ": fold " in line]
    assert len(folds) == plain.gain.n_folds * plain.gain.n_repeats
    advise(MOONS, y, estimator=MixtureSVC(verbose=True, unlabelled="ignore"))
    assert "gain estimated" in capsys.readouterr().out
    with pytest.raises(OptionError, match="verbose must be"):
        advise(MOONS, y, verbose=-1)


def test_wrong_parameters():
    y = few(SIDES, [3, 3])
    with pytest.raises(OptionError, match="confidence must be a number between 0 and 1, but it is 95"):
        advise(MOONS, y, confidence=95)
    with pytest.raises(OptionError, match="estimator must be a MixtureSVC or a LaplacianSVC, but it is 3"):
        advise(MOONS, y, estimator=3)
    with pytest.raises(LabelError, match="it depends on those that are left out"):
        advise(MOONS, y, estimator=MixtureSVC(density=VBMixture(use_labels=True)))
    with pytest.raises(OneClassError):
        advise(MOONS, few(SIDES, [3, 0]))
    with pytest.raises(NoLabelsError):
        advise(MOONS, few(SIDES, [0, 0]))


def test_the_short_form_names_the_verdict():
    found = advise(MOONS, few(SIDES, [1, 1]))
    assert isinstance(found, Advice)
    assert repr(found).startswith("Advice(verdict=<Verdict.UNKNOWN: 'cannot be told'>, gain=None, n_rows=300")


@pytest.mark.filterwarnings("ignore::mixkern.errors.ColumnChoiceWarning")
@pytest.mark.slow
def test_the_accuracy_is_that_of_estimated_accuracy():
    heart = datasets.load("heart")
    y = heart.few_labels(per_class=6, random_state=0)
    source = np.where(np.arange(len(y)) % 2, "suggested", "random")
    found = advise(heart.X, y, source=source)
    assert found.accuracy == estimated_accuracy(None, heart.X, y, source=source)
    assert str(found.accuracy) in " ".join(str(found).split("\n"))
