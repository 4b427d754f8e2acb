"""The list of methods: titles, names and settings."""

import pytest

from mixkern_study import METHODS, Method, StudyError, method_list, optional_method
from mixkern_study.method_list import LABELS_ONLY, REFERENCE, chosen_leaderboard_methods, title_of_method


def test_who_is_who():
    assert METHODS[REFERENCE].is_own
    assert not METHODS[LABELS_ONLY].is_own
    assert sum(each.is_own for each in METHODS.values()) == 9
    assert [METHODS[name].prior for name in (REFERENCE, "blend", "rwm", "svc")] == ["", "evidence", "typical", ""]
    assert len({each.title for each in METHODS.values()}) == len(METHODS)


def test_settings_of_stored_results_are_unchanged():
    assert METHODS["bayes"].settings == "GaussianNB(priors=None, var_smoothing=1e-09)"
    assert METHODS["svc"].settings.startswith("FewLabelSearch(estimator=SVC(C=1.0, ")
    assert METHODS["svc"].settings.endswith("random_state=None, setting='C', values=(10.0, 1.0, 100.0))")


def test_libraries_are_looked_for_when_methods_are_listed(monkeypatch):
    monkeypatch.setattr(optional_method, "find_spec", lambda name: name if name == "catboost" else None)
    assert list(method_list.leaderboard_methods()) == [*METHODS, "catboost"]
    assert title_of_method("catboost") == "CatBoost"


def test_a_method_that_is_not_available_is_refused_with_the_reason(monkeypatch):
    monkeypatch.setattr(optional_method, "find_spec", lambda name: None)
    with pytest.raises(StudyError, match="LightGBM needs lightgbm, which is not installed: pip install lightgbm"):
        chosen_leaderboard_methods(["svc", "lightgbm"])
    with pytest.raises(StudyError, match=r"There is no method 'svd'. Did you mean 'svc'"):
        chosen_leaderboard_methods(["svd"])
    mine = {"lightgbm": Method("Mine", lambda data: None)}
    assert chosen_leaderboard_methods(mine) == mine
    assert list(chosen_leaderboard_methods()) == list(METHODS)
