"""The road of the data has one direction: no room imports from a room further up."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import mixkern

PACKAGE = Path(mixkern.__file__).parent

# Lowest first; rooms on one line do not know each other.
ORDER = [
    {"errors", "wording", "typing"},
    {"imports", "validation", "sampling", "threads"},
    {"engine", "encoding"},
    {"io"},
    {"datasets"},
    {"density"},
    {"kernels"},
    {"svm"},
    {"explain"},
    {"estimators"},
    {"search"},
    {"advice", "storage"},
    {"plot"},
    {"report"},
    {"cli"},
    {"__main__"},
]
LEVEL = {room: level for level, rooms in enumerate(ORDER) for room in rooms}
ROOMS = sorted(path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file())
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


def room_of(module: str) -> str:
    return module.split(".")[1]


def imported_rooms(source: str, exports: set[str]) -> set[str]:
    """Every room of mixkern that a module imports, at its top or inside a function."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module == "mixkern":
            found |= {alias.name for alias in node.names} & exports
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("mixkern."):
            found.add(room_of(node.module))
        elif isinstance(node, ast.Import):
            found |= {room_of(alias.name) for alias in node.names if alias.name.startswith("mixkern.")}
    return found


def test_every_room_has_its_place():
    assert set(ROOMS) - {"__init__"} <= set(LEVEL)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_module_imports_upwards(path):
    room = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    above = {
        other for other in imported_rooms(path.read_text("utf-8"), set(LEVEL)) - {room} if LEVEL[other] >= LEVEL[room]
    }
    assert not above, f"{path.name} imports from {above}, which is not below {room}"


def test_an_upward_import_would_be_found():
    assert imported_rooms("def f():\n    from mixkern_study import x", set()) == {"study"}
    assert imported_rooms("from mixkern import plot", {"plot"}) == {"plot"}
    assert imported_rooms("import mixkern.cli", set()) == {"cli"}


@pytest.mark.parametrize("room", [room for room in ROOMS if room not in ("__init__", "__main__")])
def test_each_room_stands_alone(room):
    """Imported without the package's own __init__, a room brings along nothing from above."""
    code = f"""
import importlib, sys, types
package = types.ModuleType("mixkern")
package.__path__ = [{str(PACKAGE)!r}]
package.__version__ = "0"
sys.modules["mixkern"] = package
importlib.import_module("mixkern.{room}")
print(*{{name.split(".")[1] for name in sys.modules if name.startswith("mixkern.")}})
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    above = {other for other in done.stdout.split() if LEVEL[other] > LEVEL[room]}
    assert room in done.stdout.split()
    assert not above
