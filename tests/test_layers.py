"""Imports go in one direction: no room imports from a room further up."""

import ast
from pathlib import Path

import pytest

import mixkern

PACKAGE = Path(mixkern.__file__).parent

# Lowest first; rooms on one line do not import each other.
ORDER = [
    {"errors", "wording", "typing", "defaults"},
    {"arguments", "threads"},
    {"imports", "partitions", "validation", "device", "sampling", "whole_file"},
    {"gpu_array"},
    {"fitting", "notebook", "parts"},
    {"nodes", "trials"},
    {"engine", "encoding"},
    {"io"},
    {"datasets"},
    {"density"},
    {"kernels"},
    {"svm"},
    {"explain", "export"},
    {"estimators"},
    {"search"},
    {"advice"},
    {"distributed"},
    {"plot"},
    {"report"},
    {"web"},
    {"labelling", "serving"},
    {"cli"},
    {"__main__"},
]
LEVEL = {room: level for level, rooms in enumerate(ORDER) for room in rooms}
ROOMS = sorted(path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file())
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


def imported_modules(source: str) -> set[str]:
    """Full names of all modules that a module imports, at its top or inside a function."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found


def imported_rooms(source: str) -> set[str]:
    """Every room of mixkern that a module imports."""
    parts = (name.split(".") for name in imported_modules(source))
    return {part[1] for part in parts if part[0] == "mixkern" and len(part) > 1} & set(LEVEL)


def test_every_room_has_its_place():
    assert set(ROOMS) - {"__init__"} <= set(LEVEL)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_module_imports_upwards(path):
    room = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    above = {other for other in imported_rooms(path.read_text("utf-8")) - {room} if LEVEL[other] >= LEVEL[room]}
    assert not above, f"{path.name} imports from {above}, which is not below {room}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_module_imports_the_study(path):
    found = imported_modules(path.read_text("utf-8"))
    assert not [name for name in found if name.split(".")[0] == "mixkern_study"]


def test_all_kinds_of_imports_are_found():
    assert imported_modules("def f():\n    from mixkern_study.plot import x") == {"mixkern_study.plot.x"}
    assert imported_rooms("from mixkern import plot") == {"plot"}
    assert imported_rooms("import mixkern.cli") == {"cli"}
    assert imported_rooms("from mixkern.density.vb import VBMixture") == {"density"}


@pytest.mark.slow
def test_each_room_imports_alone(fresh_interpreter):
    """Imported without the package's own __init__, a room loads no room above it."""
    rooms = [room for room in ROOMS if room not in ("__init__", "__main__")]
    code = """
import importlib, sys, types
package = types.ModuleType("mixkern")
package.__path__ = [{path!r}]
package.__getattr__ = lambda name: importlib.import_module(f"mixkern.{{name}}")
sys.modules["mixkern"] = package
importlib.import_module("mixkern.{room}")
print(*{{name.split(".")[1] for name in sys.modules if name.startswith("mixkern.")}})
print(*(name for name in sys.modules if name.startswith("mixkern_study")))
"""
    setup = "import sklearn.svm, sklearn.gaussian_process, click, rich"
    snippets = [code.format(path=str(PACKAGE), room=room) for room in rooms]
    for room, (status, output, errors) in zip(rooms, fresh_interpreter(setup, snippets), strict=True):
        assert status == 0, errors
        loaded, study = (line.split() for line in output.splitlines())
        assert room in loaded
        assert not {other for other in loaded if LEVEL[other] > LEVEL[room]}, room
        assert not study
