"""Predicting a million rows: memory above the table itself, and time against scikit-learn's SVC."""

import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
from sklearn.svm import SVC

from benchmarks.ratio import seconds
from mixkern import MixtureSVC, datasets

N_ROWS, TINY_N_ROWS = 1_000_000, 2_000
MEGABYTES = 1_000
ROOT = Path(__file__).parents[1]


def run(*, tiny: bool = False) -> None:
    """Measure in a process of its own: the largest memory of a process never falls."""
    size = TINY_N_ROWS if tiny else N_ROWS
    subprocess.run([sys.executable, "-m", "benchmarks.predict", str(size)], check=True, cwd=ROOT)  # noqa: S603


def _measure(n_rows: int) -> None:
    per_class = min(200, n_rows // 100)
    print(f"MixtureSVC predicting {n_rows:,} rows of Phoneme, resampled, {2 * per_class} labels", flush=True)
    data = datasets.load("phoneme")
    y = data.few_labels(per_class=per_class, random_state=0)
    model = MixtureSVC(random_state=0).fit(data.X, y)
    labelled = (y != -1).to_numpy()
    values = data.X.to_numpy()
    peer = SVC().fit(values[labelled], y[labelled])
    X = data.X.iloc[np.random.default_rng(0).integers(len(data.X), size=n_rows)].reset_index(drop=True)
    before = _resident()  # not the largest so far, which the making of the table has raised
    time = seconds(lambda: model.predict_proba(X))
    extra = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024 - before
    print(f"  {time:.1f} s, at most {extra:.0f} MB above the table, target {MEGABYTES} MB", flush=True)
    print(f"  SVC of scikit-learn, labels only: {seconds(lambda: peer.predict(X.to_numpy())):.1f} s", flush=True)


def _resident() -> float:
    """Give the present memory of the process, in MB."""
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * resource.getpagesize() / 2**20


if __name__ == "__main__":
    _measure(int(sys.argv[1]))
