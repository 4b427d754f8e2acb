"""Predicting a million rows: memory above the table itself, and time against scikit-learn's SVC."""

import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
from sklearn.svm import SVC

from benchmarks.ratio import seconds
from mixkern import MixtureSVC, datasets

N_ROWS = 1_000_000
MEGABYTES = 1_000


def run() -> None:
    """Measure in a process of its own: the largest memory of a process never falls."""
    subprocess.run([sys.executable, "-m", "benchmarks.predict"], check=True)


def _measure() -> None:
    print(f"MixtureSVC predicting {N_ROWS:,} rows of Phoneme, resampled, 400 labels", flush=True)
    data = datasets.load("phoneme")
    y = data.few_labels(per_class=200, random_state=0)
    model = MixtureSVC(random_state=0).fit(data.X, y)
    labelled = (y != -1).to_numpy()
    values = data.X.to_numpy()
    peer = SVC().fit(values[labelled], y[labelled])
    X = data.X.iloc[np.random.default_rng(0).integers(len(data.X), size=N_ROWS)].reset_index(drop=True)
    before = _resident()  # making the table took more at times, so that the largest so far would hide something
    time = seconds(lambda: model.predict_proba(X))
    extra = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024 - before
    print(f"  {time:.1f} s, at most {extra:.0f} MB above the table, target {MEGABYTES} MB", flush=True)
    print(f"  SVC of scikit-learn, labels only: {seconds(lambda: peer.predict(X.to_numpy())):.1f} s", flush=True)


def _resident() -> float:
    """Give the memory that the process has now, in MB."""
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * resource.getpagesize() / 2**20


if __name__ == "__main__":
    _measure()
