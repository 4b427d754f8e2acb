"""Facts about the project that stand in several files: its version and its licence."""

import re
import tomllib
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).parents[1]


def project(folder):
    return tomllib.loads((ROOT / folder / "pyproject.toml").read_text("utf-8"))["project"]


def test_there_is_one_version():
    ours, study = project("."), project("study")
    assert version("mixkern") == version("mixkern-study") == ours["version"] == study["version"]
    assert study["dependencies"][0] == f"mixkern[cli]=={ours['version']}"
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"\nversion: {ours['version']}\n" in citation
    released = re.search(r'\ndate-released: "(.+)"\n', citation)[1]
    newest = re.search(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)[1]
    assert newest == f"{ours['version']} ({released})"
    assert f"| {ours['version'].rpartition('.')[0]} | yes |" in (ROOT / "SECURITY.md").read_text("utf-8")


def test_there_is_one_licence():
    assert project(".")["license"] == "BSD-3-Clause AND MIT"  # the second of parts from elsewhere
    assert project("study")["license"] == "BSD-3-Clause"
    assert "\nlicense: BSD-3-Clause\n" in (ROOT / "CITATION.cff").read_text("utf-8")
