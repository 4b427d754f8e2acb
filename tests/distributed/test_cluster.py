"""On workers of a Dask cluster in this process: equal models, Ctrl-C, and joblib's backend."""

import subprocess
import sys

import dask
import joblib
import numpy as np
import pytest
from tests.distributed.conftest import in_partitions

from mixkern import MixtureSVC, SVCSearch, VBMixture, datasets

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def client():
    options = {"processes": False, "dashboard_address": "127.0.0.1:0", "silence_logs": 50}
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, **options) as local,
        distributed.Client(local) as client,
    ):
        yield client


def test_two_workers_and_one_process_give_the_same_bits(client, frame):
    rows = frame[["size", "weight"]]
    parts = in_partitions(rows)
    settings = {"n_components": 4, "tol": 1e-3, "random_state": 0}
    ours = VBMixture(**settings).fit(parts)
    local = VBMixture(**settings).fit(rows)
    assert ours.n_components_ == local.n_components_
    assert np.abs(ours.mixture_.means - local.mixture_.means).max() < 1e-9
    assert np.array_equal(ours.predict(parts).compute(), local.predict(rows))
    with dask.config.set(scheduler="synchronous"):
        assert VBMixture(**settings).fit(parts).mixture_ == ours.mixture_


# In a process of its own: other tests may have changed the handler of the signal.
INTERRUPTED = """
import signal, threading, time
import dask.dataframe as dd
import pandas as pd
from distributed import Client, LocalCluster
from mixkern import VBMixture

def slow(number):
    time.sleep(0.2)  # 10 s in all
    return pd.DataFrame({"a": [float(number)], "b": [1.0]})

def n_tasks(dask_scheduler):
    return len(dask_scheduler.tasks)

signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where the tests run in the background of a shell
options = {"processes": False, "dashboard_address": "127.0.0.1:0", "silence_logs": 50}
with LocalCluster(n_workers=2, threads_per_worker=1, **options) as local, Client(local) as client:
    parts = dd.from_map(slow, list(range(100)), meta=pd.DataFrame({"a": [1.0], "b": [1.0]}))
    model = VBMixture()
    # As a terminal does: the signal wakes the main thread, which waits for the cluster.
    main = threading.main_thread().ident
    threading.Timer(1.0, lambda: signal.pthread_kill(main, signal.SIGINT)).start()
    try:
        model.fit(parts)
    except KeyboardInterrupt:
        print("interrupted", hasattr(model, "mixture_"))
    deadline = time.monotonic() + 5
    while client.run_on_scheduler(n_tasks) and time.monotonic() < deadline:
        time.sleep(0.05)
    print(client.run_on_scheduler(n_tasks), "tasks are left")
"""


@pytest.mark.slow
@pytest.mark.posix
def test_ctrl_c_cancels_the_tasks():
    found = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=120, check=True)
    assert found.stdout == "interrupted False\n0 tasks are left\n"


def test_a_search_runs_on_the_cluster_by_joblib(client):
    iris = datasets.load("iris")
    y = iris.few_labels(per_class=6, random_state=0)
    settings = {"C": [1, 10], "gamma": [0.1, 1], "random_state": 0}
    alone = SVCSearch(MixtureSVC(), **settings).fit(iris.X, y)
    with joblib.parallel_config(backend="dask"):
        spread = SVCSearch(MixtureSVC(), n_jobs=2, **settings).fit(iris.X, y)
    assert spread.best_params_ == alone.best_params_
    assert spread.best_score_ == alone.best_score_
