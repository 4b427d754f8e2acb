"""Fixtures of the command line's tests: small tables, a model, commands in this process and in another."""

import importlib.util
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from mixkern.cli import cli

SCRIPT = Path(sys.executable).with_name("mixkern")
LONGEST = 120  # seconds after which a command is taken to hang


def _invoke(*arguments, stdin=None, code=0):
    """Run a command in this process; an error must be a message, not a traceback."""
    done = CliRunner().invoke(cli, [str(each) for each in arguments], input=stdin, prog_name="mixkern")
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise AssertionError(f"{arguments} has a traceback: {done.exception!r}") from done.exception
    if code is not None:
        assert done.exit_code == code, (arguments, done.stdout, done.stderr)
    if done.exit_code == 1:
        assert_one_error(done.stderr)
    return done


def assert_one_error(stderr):
    lines = stderr.splitlines()
    assert sum(line.startswith("Error: ") for line in lines) == 1, stderr
    assert lines[-1].strip(), stderr
    assert "Traceback" not in stderr
    assert len(stderr) < 1500, stderr


@pytest.fixture(scope="session")
def run():
    return _invoke


@pytest.fixture(scope="session")
def script():
    """The installed script."""
    return SCRIPT


@pytest.fixture(scope="session")
def installed():
    """Run the installed command in another process; return its output and exit code."""

    def run(*arguments, stdin=b"", cwd=None, code=0, **environment):
        done = subprocess.run(
            [SCRIPT, *map(str, arguments)],
            input=stdin,
            capture_output=True,
            cwd=cwd,
            timeout=LONGEST,
            check=False,
            env={**os.environ, **environment},
        )
        found = SimpleNamespace(code=done.returncode, stdout=done.stdout.decode(), stderr=done.stderr.decode())
        if code is not None:
            assert found.code == code, (arguments, found.stdout, found.stderr)
        if found.code == 1:
            assert_one_error(found.stderr)
        return found

    return run


@pytest.fixture(scope="session")
def people():
    """A table of numbers, categories and gaps, with a label in every third row."""
    random = np.random.RandomState(0)
    n = 90
    group = np.arange(n) % 2
    frame = pd.DataFrame(
        {
            "age": (random.randn(n) + 4 * group + 30).round(2),
            "town": np.array(["Ulm", "Kassel", "Passau"])[(group + (random.rand(n) < 0.2)) % 3],
            "churn": np.array(["no", "yes"], dtype=object)[group],
        }
    )
    frame.loc[::7, "age"] = np.nan
    frame.loc[::11, "town"] = None
    frame["churn"] = frame["churn"].where(np.arange(n) % 6 < 2)
    return frame


@pytest.fixture(scope="session")
def shared(people, tmp_path_factory):
    """A folder with the table, people.csv, and a model of it, people.mixkern: to be read only."""
    folder = tmp_path_factory.mktemp("shared")
    people.to_csv(folder / "people.csv", index=False)
    _invoke("fit", folder / "people.csv", "--target", "churn")
    return folder


@pytest.fixture
def table(shared):
    return shared / "people.csv"


@pytest.fixture
def model(shared):
    return shared / "people.mixkern"


@pytest.fixture
def written(tmp_path):
    """Write a frame to a CSV file of this test."""

    def write(frame, name="mine.csv", **options):
        frame.to_csv(tmp_path / name, index=False, **options)
        return tmp_path / name

    return write


@pytest.fixture(scope="session")
def damage():
    """The modules that damage tables and models; with --import-mode=importlib tests cannot import their neighbours."""

    def module(room):
        path = Path(__file__).parents[1] / room / "damage.py"
        spec = importlib.util.spec_from_file_location(f"damage_of_{room}", path)
        found = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = found  # its dataclasses look for it there
        spec.loader.exec_module(found)
        return found

    return module


@pytest.fixture(scope="session")
def in_time():
    """Raise an error in code that hangs."""

    @contextmanager
    def guard(seconds=LONGEST):
        def stop(*_):
            raise TimeoutError(f"still running after {seconds} s")

        before = signal.signal(signal.SIGALRM, stop)
        signal.alarm(seconds)
        try:
            yield
        finally:
            signal.alarm(0)
            signal.signal(signal.SIGALRM, before)

    return guard
