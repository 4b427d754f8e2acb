"""Tasks of a pass: how many are done, and clusters whose workers are gone."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time

import dask
import dask.dataframe as dd
import pandas as pd
import pytest

from mixkern import TableEncoder
from mixkern.distributed import execution, listening
from mixkern.distributed.scheduling import results, total
from mixkern.errors import OptionError, PartitionError

distributed = pytest.importorskip("distributed")
N = 20


@contextlib.contextmanager
def cluster(**options):
    options = {"processes": False, "dashboard_address": "127.0.0.1:0", "silence_logs": 50, **options}
    with distributed.LocalCluster(**options) as local, distributed.Client(local) as client:
        yield client


def double(part, shared, own):
    return 2 * part


def reported(run):
    """Return what a listener was called with during a pass, after the last events have arrived."""
    seen = []
    with listening(lambda name, _: None, lambda *step: seen.append(step)):
        found = run()
        deadline = time.monotonic() + 10
        while seen[-1][1] < N and time.monotonic() < deadline:
            time.sleep(0.01)
    return found, seen


@pytest.mark.parametrize("scheduler", ["synchronous", "threads", None])
def test_each_task_that_is_done_is_reported(scheduler):
    parts = [dask.delayed(i) for i in range(N)]
    expected = [("numbers", done, N) for done in range(N + 1)]
    with cluster(n_workers=2, threads_per_worker=1) if scheduler is None else dask.config.set(scheduler=scheduler):
        found, seen = reported(lambda: total("numbers", parts, double, None, [None] * N))
        assert found == N * (N - 1)
        assert seen == expected
        found, seen = reported(lambda: results("numbers", dict(enumerate(parts)), double, None, [None] * N))
        assert found == [2 * i for i in range(N)]
        assert seen == expected


def test_only_tasks_of_the_running_pass_are_counted():
    with cluster(n_workers=1) as client:
        client.log_event("mixkern-progress", {"prefix": "another", "position": 3})
        _, seen = reported(lambda: total("a", [dask.delayed(1)] * N, double, None, [None] * N))
    assert [done for _, done, _ in seen] == list(range(N + 1))


def test_without_tasks_or_a_listener_no_events_are_sent():
    with cluster(n_workers=1) as client:
        assert results("nothing", {}, double, None, {}) == []
        total("a", [dask.delayed(1)] * 3, double, None, [None] * 3)
        assert not client.get_events("mixkern-progress")


@pytest.mark.slow
def test_an_error_ends_a_pass_before_its_other_tasks(tmp_path):
    def fail(part, shared, own):
        if shared.exists():
            time.sleep(0.5)
            return part
        shared.touch()
        raise ValueError("the first one.")

    with cluster(n_workers=1, threads_per_worker=1) as client:
        parts = {i: dask.delayed(i) for i in range(40)}  # 20 s
        start = time.monotonic()
        with pytest.raises(PartitionError, match=r"has failed: the first one\.$"):
            results("a", parts, fail, tmp_path / "mark", [None] * 40)
        assert time.monotonic() - start < 15
        deadline = time.monotonic() + 5
        while client.run_on_scheduler(n_tasks) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert client.run_on_scheduler(n_tasks) == 0


def n_tasks(dask_scheduler):
    return len(dask_scheduler.tasks)


def test_a_cluster_without_workers_is_an_error_after_the_time_that_is_set(monkeypatch):
    monkeypatch.setattr(execution, "STEP", 0.05)
    parts = [dask.delayed(1)]
    with cluster(n_workers=0), dask.config.set({"mixkern.worker-timeout": "0.2s"}):
        with pytest.raises(PartitionError) as caught:
            total("a", parts, double, None, [None])
        assert str(caught.value) == (
            "The pass 'a' over the partitions was ended: the Dask cluster has had no worker for 0.2 s. Start workers, "
            'and call it again. To wait longer for them: dask.config.set({"mixkern.worker-timeout": "1 hour"}).'
        )
        assert (
            "set the environment variable DASK_MIXKERN__WORKER_TIMEOUT to a time such as '1 hour'."
            in caught.value.on("cli")
        )
        with (
            dask.config.set({"mixkern.worker-timeout": "soon"}),
            pytest.raises(OptionError, match="must be a time such as '1 hour', but it is 'soon'"),
        ):
            total("a", parts, double, None, [None])


def test_the_setting_can_be_given_in_the_environment():
    found = dask.config.collect_env({execution.ENVIRONMENT: "1h"})
    assert dask.config.get("mixkern.worker-timeout", config=found) == "1h"


def test_a_worker_that_comes_late_does_the_work(monkeypatch):
    monkeypatch.setattr(execution, "STEP", 0.05)
    with cluster(n_workers=0) as client, dask.config.set({"mixkern.worker-timeout": "60s"}):
        timer = threading.Timer(0.3, client.cluster.scale, (1,))
        timer.start()
        assert total("a", [dask.delayed(1)], double, None, [None]) == 2
        timer.join()


@pytest.mark.posix
@pytest.mark.slow
def test_a_worker_that_dies_and_is_not_started_again_ends_the_call(tmp_path):
    class Deadly:
        def __call__(self, number):
            os.kill(os.getpid(), signal.SIGKILL)

    with (
        dask.config.set({"mixkern.worker-timeout": "2s"}),
        cluster(n_workers=0, protocol="tcp", host="127.0.0.1") as client,
    ):
        command = [sys.executable, "-m", "distributed.cli.dask_worker", client.scheduler.address, "--no-nanny"]
        folder = ["--no-dashboard", "--local-directory", str(tmp_path)]
        worker = subprocess.Popen([*command, *folder], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            client.wait_for_workers(1, timeout=60)
            frame = pd.DataFrame({"a": [1.0]})
            with pytest.raises(PartitionError, match=r"the Dask cluster has had no worker for 2 s\. Start workers"):
                TableEncoder().fit(dd.from_map(Deadly(), [0, 1], meta=frame))
        finally:
            worker.kill()
            assert worker.wait() == -signal.SIGKILL
