"""The files in ``dist``: what the wheels and the source distribution contain, and their tags. Run by `.ci/wheels`."""

import json
import re
import tarfile
import tomllib
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
WHEELS = sorted(DIST.glob("*.whl"))
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
MOST_BYTES = 2_000_000
TAGS = {f"{python}-manylinux_2_34_{cpu}" for python in ("cp311-cp311", "cp312-abi3") for cpu in ("x86_64", "aarch64")}
LICENCES = {path.name for path in (ROOT / "LICENSE", ROOT / "DATA.md", *(ROOT / "licenses").iterdir())}


def source_files(*suffixes):
    """Give the files of the package with these suffixes, as they are named in a wheel."""
    files = (ROOT / "src" / "mixkern").rglob("*")
    return {path.relative_to(ROOT / "src").as_posix() for path in files if path.is_file() and path.suffix in suffixes}


@pytest.fixture(params=WHEELS, ids=lambda path: path.name)
def names(request):
    with ZipFile(request.param) as archive:
        return set(archive.namelist())


def test_there_is_one_wheel_for_each_tag():
    # A wheel of GLIBC 2.17 symbols alone has two tags; none of ours has.
    assert {path.stem.split("-", 2)[2] for path in WHEELS} == TAGS


@pytest.mark.parametrize("wheel", WHEELS, ids=lambda path: path.name)
def test_wheels_are_small(wheel):
    assert wheel.stat().st_size < MOST_BYTES


def test_a_wheel_has_the_package_and_nothing_else(names):
    assert {name.split("/")[0] for name in names} == {"mixkern", f"mixkern-{VERSION}.dist-info"}
    assert source_files(".py", ".pyi", ".gz", ".json", ".html", ".js", ".css", ".svg", ".jinja", ".cu", ".cuh") <= names
    assert "mixkern/py.typed" in names
    assert not [name for name in names if re.search(r"\.(cpp|hpp|pyc|o)$|(^|/)(tests?|study|docs|benchmarks)/", name)]


def test_a_wheel_has_one_compiled_module(names):
    assert len([name for name in names if ".so" in name]) == 1
    assert [name for name in names if re.fullmatch(r"mixkern/engine/_core\.(abi3|cpython-311-\w+-linux-gnu)\.so", name)]


def test_a_wheel_has_all_tables(names):
    index = json.loads((ROOT / "src" / "mixkern" / "datasets" / "tables" / "index.json").read_text("utf-8"))
    assert len([name for name in names if name.endswith(".csv.gz")]) == len(index)


def test_a_wheel_has_all_licences(names):
    found = {name.rsplit("/", 1)[1] for name in names if ".dist-info/licenses/" in name and not name.endswith("/")}
    assert found >= LICENCES


def test_the_source_distribution_is_complete_and_small():
    (path,) = DIST.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}
    expected = {"CMakeLists.txt", "pyproject.toml", "README.md", "LICENSE", "DATA.md", "PKG-INFO"}
    assert expected | {f"src/{name}" for name in source_files(".py", ".cpp", ".hpp", ".gz")} <= names
    assert not [name for name in names if re.search(r"\.(so|pyc|o)$|^(build|dist|\.venv|\.github|\.ci)/", name)]
    assert path.stat().st_size < 4 * MOST_BYTES
