"""Start of the command: help and version import no library that computes."""

import json
import subprocess
import sys

import pytest

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


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], [], ["ftt"]], ids=str)
def test_no_library_is_imported(arguments):
    code, found = imported(*arguments)
    assert found == set()
    assert (code or 0) == (2 if arguments in ([], ["ftt"]) else 0)
