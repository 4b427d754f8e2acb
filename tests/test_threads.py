"""The number of threads follows the limits that are set; linear algebra keeps to one while ours run."""

import os
import sys
from subprocess import run
from threading import Event, Timer

import numpy as np
import pytest
from joblib import Parallel, delayed
from threadpoolctl import threadpool_info, threadpool_limits

from mixkern import MixtureSVC, TableEncoder, VBMixture, datasets
from mixkern.threads import ThreadPool, available_threads, single_threaded_algebra, thread_pool


def blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_linear_algebra_keeps_to_one_thread_meanwhile():
    before = blas_threads()
    with thread_pool():
        assert set(blas_threads()) == {1}
        with thread_pool():
            assert set(blas_threads()) == {1}
        assert set(blas_threads()) == {1}
    assert blas_threads() == before


def test_fits_in_parallel_threads_leave_no_limit_behind():
    before = blas_threads()
    X, _ = datasets.make_ripley(n=300, random_state=0)
    Parallel(4, backend="threading")(delayed(VBMixture(5, tol=0.1).fit)(X[: 50 + 10 * i]) for i in range(20))
    assert blas_threads() == before


def test_an_error_cancels_tasks_that_have_not_begun():
    begun, is_released = [], Event()

    def work(i):
        begun.append(i)
        is_released.wait(60)

    pool = ThreadPool(1)
    futures = [pool.submit(work, i) for i in range(50)]
    Timer(0.2, is_released.set).start()  # after the pool has begun to end
    with pytest.raises(KeyError), pool:
        raise KeyError
    assert len(begun) < 50
    assert all(future.done() for future in futures)


@pytest.mark.parametrize("limit", [thread_pool, single_threaded_algebra])
def test_an_error_lifts_the_limit(limit):
    before = blas_threads()
    with pytest.raises(KeyError), limit():
        raise KeyError
    assert blas_threads() == before


def test_the_limit_lasts_until_the_last_has_ended():
    """The first context to open is the first to close; the last one to close restores the limit."""
    before = blas_threads()
    first, second = single_threaded_algebra(), single_threaded_algebra()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert set(blas_threads()) == {1}
    second.__exit__(None, None, None)
    assert blas_threads() == before


def test_a_limit_of_the_users_own_stays():
    with threadpool_limits(limits=2, user_api="blas"):
        before = blas_threads()
        with single_threaded_algebra():
            pass
        assert blas_threads() == before


OVERLAP = """
from threading import Barrier, Thread
import numpy, scipy.linalg
from threadpoolctl import threadpool_info
from mixkern.threads import single_threaded_algebra

def blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

steps = Barrier(3, timeout=30)

def first():
    with single_threaded_algebra():
        steps.wait()
        steps.wait()
    steps.wait()
    steps.wait()

def second():
    steps.wait()
    with single_threaded_algebra():
        steps.wait()
        steps.wait()
    steps.wait()

before = blas_threads()
workers = [Thread(target=first), Thread(target=second)]
for worker in workers:
    worker.start()
steps.wait()  # the first is in
steps.wait()  # the second is in
meanwhile = set(blas_threads())
steps.wait()  # the first is out
steps.wait()  # the second is out, the first thread is still there
after = blas_threads()
for worker in workers:
    worker.join()
print(before, meanwhile, after)
assert meanwhile == {1}, meanwhile
assert after == before, (before, after)
"""


@pytest.mark.slow
def test_the_last_thread_lifts_the_limit_that_the_first_has_set():
    """In a process of its own, where two threads are allowed and no limit was set before."""
    run([sys.executable, "-c", OVERLAP], check=True, env={**os.environ, "OPENBLAS_NUM_THREADS": "2"}, timeout=60)


@pytest.mark.parametrize(
    ("asked", "most"), [("1", 1), ("1000", os.cpu_count()), ("", os.cpu_count()), ("x", os.cpu_count())]
)
def test_the_number_of_threads_follows_the_environment(monkeypatch, asked, most):
    monkeypatch.setenv("OMP_NUM_THREADS", asked)
    with thread_pool() as pool:
        assert 1 <= pool._max_workers <= most


@pytest.mark.parametrize(("asked", "found"), [("1", 1), ("1,4", 1), ("nonsense", None), ("", None)])
def test_available_threads_follow_the_environment(monkeypatch, asked, found):
    usual = available_threads()
    monkeypatch.setenv("OMP_NUM_THREADS", asked)
    assert available_threads() == (found or usual)


def test_available_threads_follow_threadpoolctl():
    with threadpool_limits(1):
        assert available_threads() == 1


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no affinity here")
def test_available_threads_follow_affinity():
    granted = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(granted)})
        assert available_threads() == 1
    finally:
        os.sched_setaffinity(0, granted)


# The child ends itself by the alarm, so that a test that fails leaves no process behind.
FORKED = """
import os, signal
from mixkern import MixtureSVC, datasets

moons = datasets.load("two_moons")
y = moons.few_labels(per_class=4, random_state=0)
model = MixtureSVC(random_state=0).fit(moons.X, y)
expected = model.predict_proba(moons.X)
child = os.fork()
if not child:
    signal.alarm(60)
    assert (model.predict_proba(moons.X) == expected).all()
    assert (MixtureSVC(random_state=0).fit(moons.X, y).predict_proba(moons.X) == expected).all()
    os._exit(0)
raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.posix
@pytest.mark.slow
def test_a_forked_process_fits_and_predicts_after_its_parent():
    environment = {**os.environ, "OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"}
    done = run([sys.executable, "-c", FORKED], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_neither_a_fit_nor_a_prediction_depends_on_the_number_of_threads(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    table = datasets.load("heart")
    y = table.few_labels(per_class=8, random_state=0)

    def found(**settings):
        encoder = TableEncoder(continuous=table.continuous, categorical=table.categorical)
        model = MixtureSVC(encoder=encoder, random_state=0, **settings).fit(table.X, y)
        density, kernel = model.mixture_, model.kernel_
        values = [density.means, density.covariances, *density.categories, kernel.share, kernel.gamma, model.dual_coef_]
        values.append(model.novelty(table.X))
        if settings:  # linear algebra of several threads changes the last digits of the S3VM
            values += [model.decision_function(table.X), model.predict_proba(table.X)]
        return [np.asarray(each).tobytes() for each in values]

    with threadpool_limits(3):
        n_threads, many = available_threads(), [found(), found(unlabelled="ignore")]
    with threadpool_limits(1):
        assert available_threads() == 1
        assert [found(), found(unlabelled="ignore")] == many
    assert n_threads == min(3, os.process_cpu_count() if hasattr(os, "process_cpu_count") else n_threads)
