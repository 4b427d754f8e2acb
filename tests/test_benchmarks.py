"""Every benchmark runs, at a tiny size."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NAMES = sorted(path.stem for path in (ROOT / "benchmarks").glob("[a-z]*.py") if "def run(" in path.read_text("utf-8"))


def run(*arguments):
    command = [sys.executable, "-m", "benchmarks", *arguments]
    return subprocess.run(command, cwd=ROOT, env=dict(os.environ), capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_benchmark_runs_at_a_tiny_size(name):
    done = run("--tiny", name)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_unknown_benchmarks_are_refused():
    done = run("kernels")
    assert done.returncode == 2
    assert "there is no benchmark kernels" in done.stderr


def test_every_benchmark_has_a_name():
    listed = run("--help").stdout
    assert len(NAMES) == 19
    assert all(name in listed for name in NAMES)
