"""What notebooks show of a fitted estimator."""

import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator

from mixkern import (
    DensitySearch,
    LaplacianSVC,
    Mixture,
    MixtureOneClassSVM,
    MixtureSVC,
    MixtureSVR,
    QuasiNewtonS3VC,
    SVCSearch,
    TransductiveSVC,
    VBMixture,
)
from mixkern.density import BoundRecorder
from mixkern.notebook import NotebookMixin, class_counts, facts_table

SMALL = VBMixture(3, tol=0.01, random_state=0)
RANDOM = np.random.default_rng(0)
TABLE = pd.DataFrame({"size": RANDOM.normal(size=60), "age": RANDOM.normal(size=60), "town": ["Kassel", "Passau"] * 30})
TABLE.loc[3:5, "age"] = np.nan
Y = np.where(np.arange(60) < 20, np.where(TABLE["size"] > 0, "high", "low"), None)
N_HIGH = int((Y == "high").sum())
CLASSIFIERS = [MixtureSVC, LaplacianSVC, TransductiveSVC, QuasiNewtonS3VC]


class Facts(HTMLParser):
    """Reads the table of facts; an element that it does not know is an error."""

    def __init__(self, html):
        super().__init__()
        self.cells, self.depth = [], 0
        self.feed(html)
        assert self.depth == 0

    def handle_starttag(self, tag, attrs):
        assert tag in {"style", "table", "caption", "tr", "th", "td"}
        self.depth += 1
        self.cells.append("") if tag in {"th", "td"} else None

    def handle_endtag(self, tag):
        self.depth -= 1

    def handle_data(self, data):
        if self.cells and self.depth == 3:
            self.cells[-1] += data


def learned(model):
    html = model._repr_html_()
    assert "sk-top-container" in html  # scikit-learn's diagram
    (table,) = re.findall(
        r'<style>\n\.mixkern-side.*?</style><table class="mixkern-learned">.*?</table>', html, re.DOTALL
    )
    assert table in model._repr_mimebundle_()["text/html"]
    cells = Facts(table).cells
    return dict(zip(cells[::2], cells[1::2], strict=True))


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_a_classifier_shows_what_was_learned(kind):
    model = kind(density=SMALL, random_state=0).fit(TABLE, Y)
    facts = learned(model)
    assert facts["Columns"] == "2 continuous, 1 categorical, 3 gaps"
    k = model.mixture_.n_components
    assert facts["Density"] == f"{k} component{'s' * (k > 1)}, full covariances, from 60 rows"
    assert "gamma=" in facts["Kernel"]
    assert float(facts["C"]) == pytest.approx(getattr(model, "C_", model.C), rel=1e-3)
    assert int(facts["Support vectors"].split()[0]) == len(model.support_)
    assert facts["Labels"] == f"high: {N_HIGH}, low: {20 - N_HIGH}"
    assert model.n_labels_.tolist() == [N_HIGH, 20 - N_HIGH]


def test_the_accuracy_is_that_of_labels_which_fit_has_left_out():
    model = MixtureSVC(density=SMALL, random_state=0).fit(TABLE, Y)
    share = model.left_out_accuracy_
    assert share * 20 == pytest.approx(round(share * 20))  # of twenty labels, in one draw of folds
    text = learned(model)["Accuracy"]
    assert text == f"{100 * share:.0f} % of left-out labels; for other rows: estimated_accuracy(model, X, y)"
    model.set_params(probability=False).fit(TABLE, Y)  # leaves no labels out, or only to weigh the S3VM
    assert model.left_out_accuracy_ is None
    assert "Accuracy" not in learned(model)


def test_families_of_covariances():
    model = MixtureSVC(density=VBMixture(2, covariance_type="diag", random_state=0), random_state=0).fit(TABLE, Y)
    assert "diag covariances" in learned(model)["Density"]


def test_the_shares_of_a_blend_add_up():
    shares = re.findall(r"(\d+) %", learned(MixtureSVC(density=SMALL, random_state=0).fit(TABLE, Y))["Kernel"])
    assert len(shares) == 3
    assert sum(map(int, shares)) == pytest.approx(100, abs=1)


def test_other_estimators():
    facts = learned(MixtureSVR(density=SMALL, random_state=0).fit(TABLE, TABLE["size"]))
    assert facts["C"] == "1"
    assert "Labels" not in facts
    assert learned(MixtureOneClassSVM(density=SMALL, nu=0.2).fit(TABLE))["nu"] == "0.2"
    mixture = Mixture([1.0], [[0.0]], [[[1.0]]])
    facts = learned(MixtureOneClassSVM("rbf", density=mixture).fit([[0.0], [1.0], [2.0]]))
    assert (facts["Density"], facts["Columns"]) == ("1 component, full covariances", "1 continuous")


def test_a_density():
    model = VBMixture(3, random_state=0).fit(TABLE[["size"]])
    assert learned(model) == {
        "Components": f"{model.n_components_} (3 at the start)",
        "Covariances": "full",
        "Columns": "1 continuous",
        "Rows": "60",
        "Evidence bound": f"{model.lower_bound_:,.1f}",
        "Iterations": f"{model.n_iter_}, converged",
    }
    model.partial_fit(TABLE[["size"]])
    assert learned(model)["Rows"] == "120"


def test_searches_show_the_best_trial():
    search = SVCSearch(MixtureSVC(density=SMALL), C=[1.0, 2.0], gamma=[0.5], cv=2, random_state=0).fit(TABLE, Y)
    facts = learned(search)
    assert f"C = {search.best_params_['C']:g}" in facts["Best trial"]
    assert facts["Trials"] == f"{len(search.cv_results_['params'])}"
    score, scoring = facts["Score"].split(" ")
    assert (float(score), scoring) == (pytest.approx(search.best_score_, rel=1e-3), "(accuracy)")
    assert facts["Labels"].startswith("high: ")
    search = DensitySearch(SMALL, cv=2, random_state=0).fit(TABLE[["size"]])
    assert learned(search).keys() >= {"Best trial", "Components"}


def test_names_of_classes_are_escaped():
    y = np.where(Y == "high", "<script>alert('x')</script>", Y)
    html = MixtureSVC(density=SMALL, random_state=0).fit(TABLE, y)._repr_html_()
    assert "<script>alert" not in html
    assert "&lt;script&gt;alert(" in html


def test_before_fit_there_is_the_diagram_alone():
    for model in (MixtureSVC(), VBMixture(), SVCSearch(), DensitySearch()):
        assert "mixkern-learned" not in model._repr_html_()
    with config_context(display="text"):
        assert not hasattr(MixtureSVC(), "_repr_html_")
        assert set(MixtureSVC()._repr_mimebundle_()) == {"text/plain"}


def test_callbacks_do_not_show():
    model = MixtureSVC(density=SMALL, random_state=0).set_callbacks(BoundRecorder()).fit(TABLE, Y)
    assert "BoundRecorder" not in model._repr_html_()


def test_of_many_classes_the_most_frequent_ones_are_counted():
    text = class_counts([f"c{i}" for i in range(100)], list(range(100)))
    assert text.startswith("c99: 99, c98: 98, ")
    assert text.endswith(", 90 others")
    assert class_counts(["a", "b"], None) == "a, b"


def test_an_estimator_without_facts_has_an_empty_table():
    class Empty(NotebookMixin, BaseEstimator):
        def fit(self, X):
            return self

        def __sklearn_is_fitted__(self):
            return True

        def _learned_facts(self):
            return {}

    assert facts_table({}) in Empty()._repr_html_()
