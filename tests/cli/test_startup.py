"""Start of the command: help, version and errors in options import no library that computes."""

import json
import subprocess
import sys

import pytest

from mixkern.cli import cli

HEAVY = ("numpy", "scipy", "sklearn", "pandas", "pyarrow", "matplotlib", "narwhals", "dask")
PROGRAM = """
import json, sys
sys.argv = ["mixkern", *json.loads(sys.argv[1])]
from mixkern.__main__ import main
try:
    main()
except SystemExit as end:
    code = end.code
print(json.dumps([code, sorted(sys.modules)]))
"""


def imported(*arguments):
    """Run a command in a fresh interpreter; return its exit code and the libraries that it has imported."""
    command = [sys.executable, "-c", PROGRAM, json.dumps(arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    code, modules = json.loads(done.stdout.splitlines()[-1])
    return code, {name for name in modules if name in HEAVY}


@pytest.mark.parametrize(
    "arguments", [["--help"], ["--version"], *([name, "--help"] for name in cli.commands)], ids=str
)
def test_help_imports_no_library(arguments):
    code, found = imported(*arguments)
    assert found == set()
    assert not code


@pytest.mark.parametrize(
    "arguments", [[], ["ftt"], ["fit", "a.csv", "--tagret"], ["predict"], ["serve", "--port", "x"]], ids=str
)
def test_an_error_in_options_imports_no_library(arguments):
    assert imported(*arguments) == (2, set())


@pytest.mark.slow
def test_a_command_imports_the_libraries_of_its_work():
    code, found = imported("predict", "a.mixkern", "a.csv")
    assert code == 1
    assert found >= {"numpy", "sklearn"}
