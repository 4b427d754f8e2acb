"""Passes over partitions: their order of addition, and the names of their tasks."""

import dask
import numpy as np
from dask.utils import key_split

from mixkern.distributed.scheduling import results, total
from mixkern.distributed.values import located


def test_sums_are_added_from_the_first_partition_to_the_last():
    parts = [dask.delayed(i) for i in range(100)]
    assert total("texts", parts, lambda part, shared, own: f"{part}{shared}{own} ", "-", [1] * 100) == "".join(
        f"{i}-1 " for i in range(100)
    )


def test_nothing_is_left_out_of_a_sum():
    parts = [dask.delayed(i) for i in range(20)]
    assert total("few", parts, lambda part, shared, own: part if part in (3, 17) else None, None, [None] * 20) == 20
    assert total("none", parts, lambda part, shared, own: None, None, [None] * 20) is None


def test_tasks_have_the_name_of_their_pass():
    names = set()

    class Recorder(dask.callbacks.Callback):
        def _pretask(self, key, dsk, state):
            names.add(key_split(key))

    with Recorder(), dask.config.set(scheduler="synchronous"):
        results("my pass", {0: dask.delayed(1)}, lambda part, shared, own: part, None, {0: None})
    assert any(name.startswith("mixkern-my-pass") for name in names)


def test_located_rows_are_put_in_order():
    lengths, random = [3, 0, 5, 2], np.random.RandomState(0)
    rows = np.arange(10)
    ends = np.cumsum(lengths)
    parts = [rows[end - n : end] for end, n in zip(ends, lengths, strict=True)]
    positions = random.randint(10, size=30)
    at, order = located(positions, lengths)
    assert np.concatenate([parts[i][each] for i, each in at.items()])[order].tolist() == positions.tolist()
