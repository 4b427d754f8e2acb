"""Twenty million rows in Parquet files on two workers of 1 GB, and the time of a pass over 100 million generated rows.

`make bench-scale`; takes minutes, 1.7 GB of disk and the extra `dask`. Fit and predict run on a local cluster of two
processes with one thread each, and then, with the same passes, in one process with two threads.
"""

import shutil
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.ratio import seconds
from mixkern import MixtureSVC, VBMixture
from mixkern.distributed import listening, parquet_table, write_assessed
from mixkern.distributed.collection import table_of
from mixkern.encoding.numeric import numbers_of
from mixkern.errors import MixkernWarning

N_FILES, ROWS_PER_FILE, N_COLUMNS, N_GROUPS = 200, 100_000, 10, 5
TINY_FILES, TINY_ROWS = 4, 5_000
LABEL_EVERY = 200_000  # rows for one label
LIMIT = "1GB"
GROWTH = 5  # of the generated table
REPEATS = 3
TARGET_RATIO, TARGET_GROWTH = 1.5, (4.5, 5.5)


@dataclass(frozen=True)
class Generator:
    """Generates a partition: rows of a mixture of Gaussians, of which the first few have a label."""

    n_rows: int
    labels: int = 0  # rows for one label; none for 0

    def __call__(self, number: int) -> Any:
        """Return a frame with the rows of a partition."""
        import pandas as pd

        random = np.random.default_rng(number)
        groups = random.integers(N_GROUPS, size=self.n_rows)
        means = 3 * np.random.default_rng(7).normal(size=(N_GROUPS, N_COLUMNS))
        values = means[groups] + random.normal(size=(self.n_rows, N_COLUMNS))
        frame = pd.DataFrame(values, columns=[f"x{i}" for i in range(N_COLUMNS)])
        if self.labels:
            has_label = (np.arange(self.n_rows) + number * self.n_rows) % self.labels == 0
            frame["y"] = pd.array(np.where(has_label, np.where(groups < 2, "yes", "no"), None), "string")
        return frame


def run(*, tiny: bool = False) -> None:
    """Print times, ratios and the largest memory of the workers."""
    n_files, n_rows = (TINY_FILES, TINY_ROWS) if tiny else (N_FILES, ROWS_PER_FILE)
    warnings.simplefilter("ignore", MixkernWarning)
    folder = Path(tempfile.mkdtemp(prefix="mixkern-scale-"))
    try:
        _write(folder / "events", n_files, Generator(n_rows, LABEL_EVERY // (1_000 if tiny else 1)))
        print(f"{n_files * n_rows:,} x {N_COLUMNS} rows in {n_files} Parquet files", flush=True)
        with _two_workers() as peaks:
            ours = _fit_and_predict(folder, "workers")
            memory = peaks()
        with _two_threads():
            peer = _fit_and_predict(folder, "threads")
        largest = ", ".join(f"{size:,.0f} MB" for size in memory)
        print(f"  largest memory of the workers, limit {LIMIT}: {largest}", flush=True)
        for name, target in (("fit", TARGET_RATIO), ("predict", TARGET_RATIO), ("both", TARGET_RATIO)):
            print(f"  {name}: {ours[name] / peer[name]:.2f} times one process with two threads, target {target}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    _growth(n_files, n_rows, tiny=tiny)


def _write(folder: Path, n_files: int, generate: Generator) -> None:
    folder.mkdir()
    with ProcessPoolExecutor(2) as pool:
        list(pool.map(_write_one, [generate] * n_files, range(n_files), [folder] * n_files))


def _write_one(generate: Generator, number: int, folder: Path) -> None:
    generate(number).to_parquet(folder / f"part-{number:05}.parquet", index=False)


@contextmanager
def _two_workers() -> Iterator[Callable[[], list[float]]]:
    """Start two workers of one thread; give a function that returns the largest memory of each so far, in MB."""
    import distributed

    options = {"n_workers": 2, "threads_per_worker": 1, "memory_limit": LIMIT, "dashboard_address": "127.0.0.1:0"}
    with distributed.LocalCluster(silence_logs=50, **options) as cluster, distributed.Client(cluster) as client:
        yield lambda: sorted(client.run(_peak).values())


def _peak() -> float:
    """Give the largest memory of a worker, in MB; that of getrusage would include the process that started it."""
    lines = Path("/proc/self/status").read_text("ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


@contextmanager
def _two_threads() -> Iterator[None]:
    import dask

    with dask.config.set(scheduler="threads", num_workers=2):
        yield


def _fit_and_predict(folder: Path, name: str) -> dict[str, float]:
    """Fit a model and write predictions; give their times."""
    table = parquet_table(str(folder / "events"))
    columns = [column for column in table.names if column != "y"]
    passes: Counter[str] = Counter()
    times: Counter[str] = Counter()
    found: list[MixtureSVC] = []

    def listen(what: str, duration: float) -> None:
        passes[what] += 1
        times[what] += duration

    with listening(listen):
        X, y = table.collection(columns), table.collection(["y"])["y"]
        fit = seconds(lambda: found.append(MixtureSVC(random_state=0).fit(X, y)))
        predict = seconds(lambda: write_assessed(found[0], table, folder / name))
    each = ", ".join(f"{what} {passes[what]} x {times[what] / passes[what]:.1f} s" for what in passes)
    model = found[0]
    print(f"  {name}: fit {fit:.0f} s, predict {predict:.0f} s; {model.mixture_.n_components} components, ", end="")
    print(f"{model.n_labels_.sum()} labels; passes: {each}", flush=True)
    return {"fit": fit, "predict": predict, "both": fit + predict}


def _growth(n_files: int, n_rows: int, *, tiny: bool) -> None:
    """Print how the time of a pass grows with the number of rows, which are generated when they are needed."""
    import dask.dataframe as dd

    generate = Generator(n_rows)
    sizes = n_files, GROWTH * n_files
    density = VBMixture(random_state=0).fit(generate(0).to_numpy()[:20_000])
    medians = []
    with _two_workers() as peaks:
        for n_parts in sizes:
            collection = dd.from_map(generate, range(n_parts), meta=generate(0)[:0])
            values = table_of(collection).values(numbers_of, N_COLUMNS)
            blocks = values.inner_rows(density).remote_blocks()  # a pass for the number of rows and their coordinates
            posterior = density._ascent.posterior  # noqa: SLF001
            once = partial(blocks.statistics, posterior)
            medians.append(float(np.median([seconds(once) for _ in range(1 if tiny else REPEATS)])))
            print(f"{len(values):,} generated rows: {medians[-1]:.1f} s a pass", flush=True)
        largest = ", ".join(f"{size:,.0f} MB" for size in peaks())
    print(
        f"  {medians[1] / medians[0]:.2f} times as long for {GROWTH} times the rows, target {TARGET_GROWTH}; {largest}"
    )


if __name__ == "__main__":
    run()
