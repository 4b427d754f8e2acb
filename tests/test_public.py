"""Public names: they resolve, have docstrings, are listed in the documentation, and need no extra before their use."""

import importlib
import inspect
import re
from pathlib import Path

import pytest

import mixkern

ROOT = Path(__file__).parents[1]
PACKAGE = Path(mixkern.__file__).parent
ROOMS = sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py") if path.parent.name != "cli")
MODULES = ["mixkern", *(f"mixkern.{room}" for room in ROOMS)]
NAMES = [(module, name) for module in MODULES for name in importlib.import_module(module).__all__]
EXTRAS = ("pandas", "polars", "pyarrow", "matplotlib", "skops", "jinja2", "click", "rich", "onnx")


def is_value(found):
    """Constants and aliases of types have no docstring of their own."""
    return not (inspect.isclass(found) or inspect.isfunction(found) or inspect.ismodule(found))


@pytest.mark.parametrize(("module", "name"), NAMES)
def test_a_public_name_resolves_and_has_a_docstring(module, name):
    found = getattr(importlib.import_module(module), name)
    assert is_value(found) or len(inspect.getdoc(found) or "") > 20


@pytest.mark.parametrize("module", MODULES)
def test_public_names_are_sorted_and_shown_by_dir(module):
    room = importlib.import_module(module)
    assert len(set(room.__all__)) == len(room.__all__)
    assert set(room.__all__) <= {*dir(room), "__version__"}


def documented():
    """Return the objects that docs/api.md documents, by their full names."""
    module, found = "", set()
    for line in (ROOT / "docs" / "api.md").read_text("utf-8").splitlines():
        if match := re.match(r"\.\. currentmodule:: (\S+)", line):
            module = match[1]
        elif match := re.match(r"\.\. auto(?:class|function|data|module):: (\S+)", line):
            found.add(match[1] if match[1].startswith("mixkern") else f"{module}.{match[1]}")
    return {name for name in found if name.startswith("mixkern.")}


def test_every_public_name_is_listed_in_the_documentation():
    listed = {id(resolved(name)) for name in documented()}
    missing = [
        f"{module}.{name}"
        for module, name in NAMES
        for found in [getattr(importlib.import_module(module), name)]
        if not is_value(found) and not inspect.ismodule(found) and id(found) not in listed
    ]
    assert missing == []


def resolved(full_name):
    """Return the object of a full name; the documentation names nothing that does not exist."""
    module, _, name = full_name.rpartition(".")
    return getattr(importlib.import_module(module), name)


def test_version_is_the_installed_one():
    assert mixkern.__version__ == importlib.metadata.version("mixkern")


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'mixkern' has no attribute 'study'"):
        mixkern.study  # noqa: B018


# ---------------------------------------------------------------- what is imported when


@pytest.mark.slow
def test_what_an_import_loads(fresh_interpreter):
    show = "\nimport sys; print(*sys.modules)"
    setup = "import sys"
    package, estimator = fresh_interpreter(setup, [f"import mixkern{show}", f"from mixkern import MixtureSVC{show}"])
    assert (package[0], estimator[0]) == (0, 0)
    heavy = {"matplotlib", "sqlite3", "sklearn.ensemble", "mixkern_study", "mixkern.plot", "mixkern.report"}
    assert not set(package[1].split()) & {*heavy, "numpy", "scipy", "sklearn", "pandas", "mixkern.estimators"}
    # scikit-learn itself imports pandas where it is installed
    above = {f"mixkern.{room}" for room in ("io", "datasets", "search", "advice")}
    assert not set(estimator[1].split()) & {*heavy, *above, "sklearn.cluster", "sklearn.datasets", "skops"}


# ---------------------------------------------------------------- without extras

SENTENCES = {
    "mixkern.datasets.load('iris')": (
        "mixkern.datasets needs pandas, which is not installed. Install it with: pip install 'mixkern[data]'"
    ),
    "mixkern.datasets.load('clouds')": "pip install 'mixkern[data]'",
    "mixkern.datasets.load('openml:61')": "pip install 'mixkern[data]'",
    "mixkern.TableEncoder().fit([[1.5], [2]]).describe()": "TableEncoder.describe needs pandas",
    "mixkern.TableEncoder().fit([[1.5], [2]]).inverse_transform([[0]])": "TableEncoder.inverse_transform needs pandas",
    "mixkern.plot.gallery()": (
        "mixkern.plot needs matplotlib, which is not installed. Install it with: pip install 'mixkern[plot]'"
    ),
    "import mixkern.__main__; mixkern.__main__.main()": (
        "mixkern: The command line needs click, which is not installed. Install it with: pip install"
    ),
}


@pytest.fixture(scope="module")
def without_extras(fresh_interpreter):
    """Run snippets in processes in which no extra can be imported."""
    block = f"""
import sys
class Block:
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in {EXTRAS!r}:
            raise ModuleNotFoundError("No module named " + repr(name), name=name)
sys.meta_path.insert(0, Block)
import sklearn.svm
"""

    def run(*snippets):
        return fresh_interpreter(block, ["import mixkern\n" + each for each in snippets])

    return run


@pytest.mark.slow
def test_the_core_needs_no_extra(without_extras):
    encode = "print(mixkern.TableEncoder().fit_transform([[1.5, 'a'], [2.5, 'b']]).tolist())"
    learn = "X = [[0.1, 0.3], [0.2, 0.1], [0.9, 0.7], [0.8, 0.8], [0.7, 0.9], [0.3, 0.2]]\n"
    learn += "print(mixkern.MixtureSVC(random_state=0).fit(X, [0, 0, 1, 1, -1, -1]).predict(X).tolist())"
    names = f"import importlib\nfor module in {MODULES!r}:\n"
    names += "    room = importlib.import_module(module)\n    [getattr(room, name) for name in room.__all__]"
    encoded, learned, named = without_extras(encode, learn, names)
    assert encoded == [0, "[[-1.0, 0.0], [1.0, 1.0]]\n", ""]
    assert learned == [0, "[0, 0, 1, 1, 1, 0]\n", ""]
    assert named == [0, "", ""]


@pytest.mark.slow
def test_a_missing_extra_is_one_sentence(without_extras):
    for (code, sentence), (status, _, errors) in zip(SENTENCES.items(), without_extras(*SENTENCES), strict=True):
        assert status == 1, code
        assert sentence in errors, code


@pytest.mark.slow
def test_a_broken_library_raises_its_own_error(tmp_path, fresh_interpreter):
    (tmp_path / "matplotlib").mkdir()
    (tmp_path / "matplotlib" / "__init__.py").write_text("import no_such_thing")
    ((status, _, errors),) = fresh_interpreter(
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})", ["from mixkern import plot; plot.gallery()"]
    )
    assert status == 1
    assert "No module named 'no_such_thing'" in errors
    assert "mixkern[plot]" not in errors
