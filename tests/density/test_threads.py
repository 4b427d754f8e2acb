import os

import pytest
from joblib import Parallel, delayed
from threadpoolctl import threadpool_info

from mixkern import VBMixture, datasets
from mixkern.density.threads import threads


def blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_linear_algebra_keeps_to_one_thread_meanwhile():
    before = blas_threads()
    with threads():
        assert set(blas_threads()) == {1}
        with threads():
            assert set(blas_threads()) == {1}
        assert set(blas_threads()) == {1}
    assert blas_threads() == before


def test_fits_in_parallel_threads_leave_no_limit_behind():
    before = blas_threads()
    X, _ = datasets.make_ripley(n=300, random_state=0)
    Parallel(4, backend="threading")(delayed(VBMixture(5, max_iter=5).fit)(X[: 50 + 10 * i]) for i in range(20))
    assert blas_threads() == before


def test_an_error_lifts_the_limit():
    before = blas_threads()
    with pytest.raises(KeyError), threads():
        raise KeyError
    assert blas_threads() == before


@pytest.mark.parametrize(
    ("asked", "most"), [("1", 1), ("1000", os.cpu_count()), ("", os.cpu_count()), ("x", os.cpu_count())]
)
def test_the_number_of_threads_follows_the_environment(monkeypatch, asked, most):
    monkeypatch.setenv("OMP_NUM_THREADS", asked)
    with threads() as pool:
        assert 1 <= pool._max_workers <= most
