"""The number of threads follows the limits that others set."""

import multiprocessing
import os

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from mixkern import engine
from mixkern.engine import threads

from .mixtures import case


@pytest.mark.parametrize(("asked", "found"), [("1", 1), ("1,4", 1), ("nonsense", None), ("", None)])
def test_the_environment_is_heard(monkeypatch, asked, found):
    usual = threads.available()
    monkeypatch.setenv("OMP_NUM_THREADS", asked)
    assert threads.available() == (found or usual)


def test_threadpoolctl_is_heard():
    with threadpool_limits(1):
        assert threads.available() == 1


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no affinity here")
def test_affinity_is_heard():
    granted = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(granted)})
        assert threads.available() == 1
    finally:
        os.sched_setaffinity(0, granted)


def total(rows):
    return float(engine.distance(*rows.one, whiteners=rows.whiteners, n_threads=2).sum())


@pytest.mark.skipif(os.environ.get("MIXKERN_SANITIZED") == "1", reason="sanitizers and fork do not go together")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_computes_too():
    rows = case(0, 400, 1, 5, 3)
    expected = total(rows)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert np.array_equal(pool.map_async(total, [rows] * 4).get(timeout=60), [expected] * 4)
