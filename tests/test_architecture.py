"""docs/architecture.md: its list of files, and the way of one row through them, traced."""

import ast
import re
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import mixkern
from mixkern.cli import cli

ROOT = Path(__file__).parents[1]
PACKAGE = Path(mixkern.__file__).parent
PAGE = (ROOT / "docs" / "architecture.md").read_text("utf-8")
HOPS = re.findall(r"^\| \d+ \| `([\w/]+\.py)` \|", PAGE, re.MULTILINE)
MOST_HOPS = 27

# Checks, plans, options and texts: files that a row does not pass through.
SUPPORT = {
    "arguments.py",
    "cli/__init__.py",
    "cli/formula.py",
    "cli/group.py",
    "cli/option.py",
    "cli/output.py",
    "device.py",
    "encoding/matching.py",
    "engine/check.py",
    "engine/plan.py",
    "errors.py",
    "estimators/svc.py",  # chooses between pairs of classes and single ones, with svm/scheme.py
    "encoding/spelling.py",  # found from the first rows
    "gpu_array.py",
    "io/dialect.py",  # found from the first bytes
    "io/excel.py",
    "io/records.py",
    "io/table.py",
    "explain/contributions.py",  # the index of a frame
    "imports.py",
    "partitions.py",  # a table in memory is none of its concern
    "svm/scheme.py",
    "threads.py",
    "validation.py",
    "whole_file.py",
    "wording.py",
}


def first_line(path):
    text = ast.get_docstring(ast.parse(path.read_text("utf-8"))).split("\n\n")[0]
    return re.sub(r":\w+:`~?(?:\w+\.)*(\w+)`", r"`\1`", " ".join(text.split()).replace("``", "`")).rstrip(".")


@pytest.mark.parametrize(
    ("folder", "package"), [("src/mixkern", PACKAGE), ("study", ROOT / "study" / "src" / "mixkern_study")]
)
def test_every_file_is_listed_with_its_docstring(folder, package):
    modules = [path for path in package.rglob("*.py") if path.name != "__init__.py"]
    lost = [f"{path.name}: {first_line(path)}" for path in modules if f"` | {first_line(path)} |" not in PAGE]
    assert modules
    assert not lost, f"docs/architecture.md lacks files of {folder}, or has other descriptions of them"


def traced(*arguments):
    """Run a command, and return the files of mixkern that it runs through after the model has been read."""
    found, root = set(), f"{PACKAGE}/"

    def follow(frame, event, _):
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(root):
            if name.endswith("cli/table.py"):
                found.add("begun")
            if "begun" in found:
                found.add(name.removeprefix(root))

    sys.setprofile(follow)
    try:
        done = CliRunner().invoke(cli, arguments)
    finally:
        sys.setprofile(None)
    assert done.exit_code == 0, done.output
    return found - {"begun"}


def test_a_row_takes_the_way_of_the_table(tmp_path):
    table, model, out = (str(tmp_path / name) for name in ("heart.csv", "heart.mixkern", "out.csv"))
    for arguments in (
        ["datasets", "--write", "heart", "--labels", "10", "--target", "disease", "-o", table],
        ["fit", table, "--target", "disease", "-o", model, "--no-estimate"],
    ):
        assert CliRunner().invoke(cli, arguments).exit_code == 0
    assert traced("predict", model, table, "-o", out) - SUPPORT == set(HOPS)
    assert len(HOPS) == len(set(HOPS)) <= MOST_HOPS
