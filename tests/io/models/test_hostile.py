"""Files made to do harm: each is refused, runs nothing, and takes no more memory than twice its size."""

import io
import json
import os
import pickle
import tracemalloc
from dataclasses import replace
from pathlib import Path
from zipfile import ZIP_DEFLATED

import joblib
import numpy as np
import pytest
import skops.io

from mixkern import Mixture, MixtureSVC
from mixkern.errors import ModelFileError
from mixkern.io import load, save
from mixkern.io.archive import CHECKSUMS, DESCRIPTION, JSON_MEMORY
from mixkern.kernels import LaplacianKernel, RBFKernel

from .damage import array_names, described, members, sealed, sums, zipped
from .example import density, labels, numbers

MB = 2**20


class Trap:
    """Makes a file when it is unpickled, or when skops restores it."""

    def __init__(self, marker):
        self.marker = marker

    def __reduce__(self):
        return os.system, (f"touch {self.marker}",)

    def __setstate__(self, state):
        Path(state["marker"]).touch()


def refused(content, path):
    path.write_bytes(content)
    with pytest.raises(ModelFileError) as caught:
        load(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def at(description, place):
    """Return the parts of an object in the description of a classifier."""
    parts = description["model"]["parts"]
    return {"model": parts, "kernel_": parts["kernel_"]["parts"], "encoder_": parts["encoder_"]["parts"]}[place]


@pytest.mark.parametrize("place", ["model", "kernel_", "encoder_"])
@pytest.mark.parametrize(
    "name",
    [
        "os.system",
        "posix.system",
        "subprocess.Popen",
        "builtins.eval",
        "eval",
        "type",
        "mixkern.load",
        "SVC",
        "sklearn.SVC",
    ],
)
def test_classes_that_are_not_registered_are_refused_by_name(name, place, content, tmp_path):
    marker = tmp_path / "ran"
    facts = described(content)
    parts = at(facts, place)
    parts[next(iter(parts))] = {"class": name, "parts": {"command": f"touch {marker}"}}
    message = refused(sealed(content, facts), tmp_path / "a.mixkern")
    assert f"it names a class '{name}', which no model has" in message
    assert not marker.exists()


def test_attributes_do_not_replace_methods(content, tmp_path):
    for name in ("predict", "__class__", "__dict__", "_decision", "to_parts", "unknown"):
        facts = described(content)
        facts["model"]["parts"][name] = 1
        message = refused(sealed(content, facts), tmp_path / "a.mixkern")
        assert f"its MixtureSVC has unknown parts: '{name}'" in message


@pytest.mark.parametrize("protocol", [0, 2, 5])
def test_a_pickle_is_not_opened(protocol, content, tmp_path):
    marker, path = tmp_path / "ran", tmp_path / "a.mixkern"
    trap = pickle.dumps(Trap(marker), protocol)
    assert ("looks like a pickle" if protocol else "it is no model") in refused(trap, path)
    refused(sealed(content, trap), path)
    buffer = io.BytesIO()
    joblib.dump(Trap(marker), buffer, compress=3)
    refused(buffer.getvalue(), path)
    refused(skops.io.dumps(Trap(marker)), path)
    assert not marker.exists()
    pickle.loads(trap)
    assert marker.exists()  # the trap works where it is trusted


def test_a_pickle_inside_an_array_is_not_opened(content, tmp_path):
    marker, path = tmp_path / "ran", tmp_path / "a.mixkern"
    np.save(buffer := io.BytesIO(), np.array([Trap(marker)], dtype=object), allow_pickle=True)
    first = array_names(content)[0]
    facts = described(content)
    for dtype in ("|O", "<f8"):
        for size in (1, 8, len(buffer.getvalue()) - 128):
            facts["arrays"][0] = {"dtype": dtype, "shape": [size]}
            refused(sealed(content, facts, {first: buffer.getvalue()}), path)
    refused(sealed(content, arrays={first: pickle.dumps(Trap(marker))}), path)
    assert not marker.exists()


@pytest.mark.parametrize(
    "arguments", [{"n_jobs": 10_000}, {"metric": "euclidean"}, {"filter_params": True}, {"degree": 2, "n_jobs": -1}]
)
def test_a_pairwise_kernel_starts_no_processes(arguments, content, tmp_path):
    facts = described(content)
    kernel = {"metric": "linear", "pairwise_kernels_kwargs": {"dict": [list(pair) for pair in arguments.items()]}}
    facts["model"]["parts"]["kernel"] = {"class": "sklearn.PairwiseKernel", "parts": kernel}
    assert "its pairwise_kernels_kwargs is not valid" in refused(sealed(content, facts), tmp_path / "a.mixkern")


# ---------------------------------------------------------------- memory


def with_extra(content, text, place="top"):
    """Add JSON under an unused key, of the file or of its model."""
    facts = described(content)
    (facts if place == "top" else facts["model"]["parts"])["unused"] = "HERE"
    return sealed(content, json.dumps(facts).replace('"HERE"', text))


def with_member(content, extra, compression=0, name=None):
    """Add a member that nothing refers to, with the right checksum."""
    parts = members(content)
    parts.pop(CHECKSUMS)
    parts[name or f"arrays/{len(parts) - 1}.npy"] = extra
    return zipped({**parts, CHECKSUMS: sums(parts)}, compression)


def strings(n):
    return "[" + ",".join(f'"{i:010d}"' for i in range(n // 13)) + "]"


def keys(n):
    return "{" + ",".join(f'"{i:x}":0' for i in range(n // 9)) + "}"


def with_parts(content, text):
    """Add JSON as a part before the others."""
    return sealed(content, json.dumps(described(content)).replace('"encoder_"', f'"x": {text}, "encoder_"'))


def columns(n):
    categories = {"tuple": [f"{i:x}" for i in range(n // 80)]}
    column = {"class": "CategoricalColumn", "parts": {"name": "a", "kind": "text", "categories": categories}}
    return json.dumps([column] * 5)


def wide(content):
    """Declare an array that is much larger than its member."""
    facts = described(content)
    facts["arrays"][0] = {"dtype": "<f8", "shape": [2**28]}
    return sealed(content, facts)


# Files that would take much memory, or would take much more than their size if they were believed.
ATTACKS = {
    "strings under an unused key": lambda content, n: with_extra(content, strings(n)),
    "strings under an unused part": lambda content, n: with_extra(content, strings(n), "model"),
    "keys": lambda content, n: with_extra(content, keys(n)),
    "one text": lambda content, n: with_extra(content, '"' + "x" * n + '"'),
    "one text of wide characters": lambda content, n: with_extra(content, '"' + "x" * n + '\\ud83d\\ude00"'),
    "blanks": lambda content, n: with_extra(content, " " * n + "1"),
    "brackets": lambda content, n: with_extra(content, "[" + ",".join(["[]"] * (n // 3)) + "]"),
    "nested brackets": lambda content, n: with_extra(content, "[" * (n // 2) + "]" * (n // 2)),
    "notes": lambda content, n: sealed(content, facts={"notes": {"a": ["x"] * (n // 5)}}),
    "an unused member": lambda content, n: with_member(content, bytes(n)),
    "an unused member of another name": lambda content, n: with_member(content, bytes(n), name="unused.bin"),
    "compressed strings": lambda content, n: zipped(members(with_extra(content, strings(n))), ZIP_DEFLATED),
    "a compressed member": lambda content, n: with_member(content, bytes(n), ZIP_DEFLATED),
    "a compressed description": lambda _, n: zipped({DESCRIPTION: bytes(n), CHECKSUMS: b""}, ZIP_DEFLATED),
    "many members": lambda _, n: zipped({f"arrays/{i}.npy": b"" for i in range(n // 800)}),
    "many columns": lambda content, n: with_parts(content, columns(n)),
    "a wide shape": lambda content, _: wide(content),
    "a repeated array": lambda content, n: with_parts(content, "[" + ",".join(['{"array": 0}'] * (n // 320)) + "]"),
}


def peak_of(path):
    """Return the error of loading a file, and the memory that it takes."""
    tracemalloc.start()
    start, error = tracemalloc.get_traced_memory()[0], None
    try:
        load(path)
    except ModelFileError as caught:
        error = caught
    peak = tracemalloc.get_traced_memory()[1] - start
    tracemalloc.stop()
    return error, peak


@pytest.mark.parametrize("n", [2 * MB, pytest.param(64 * MB, marks=pytest.mark.slow)], ids=["small", "large"])
@pytest.mark.parametrize("name", ATTACKS)
def test_no_file_takes_more_than_twice_its_size(name, n, content, tmp_path):
    """Or than the limit for a description."""
    path = tmp_path / "a.mixkern"
    path.write_bytes(content)
    load(path)  # imports and caches
    hostile = ATTACKS[name](content, n)
    path.write_bytes(hostile)
    error, peak = peak_of(path)
    assert (error is None) == (name == "notes" and n == 2 * MB), error  # notes may be anything, within limits
    assert peak < max(2 * len(hostile) + MB, JSON_MEMORY), (peak / MB, len(hostile) / MB)


def test_a_good_file_takes_little_more_than_twice_its_size(content, tmp_path):
    path = tmp_path / "a.mixkern"
    path.write_bytes(content)
    load(path)
    error, peak = peak_of(path)
    assert error is None
    assert peak < 2 * len(content) + MB


def test_a_small_file_does_not_compute_large_matrices(tmp_path):
    """Rows times components, and the metrics of all components, may be much larger than both."""
    X, y = numbers(), np.arange(90) % 2
    many = Mixture(np.full(4000, 1 / 4000), np.random.RandomState(0).randn(4000, 3), np.ones(4000), "spherical")
    model = MixtureSVC(density=many, random_state=0, probability=False).fit(X, y)
    model._novelty = replace(model._novelty, rows=np.resize(X, (20_000, 3)))  # 640 MB of responsibilities
    path = save(model, tmp_path / "a.mixkern")
    error, peak = peak_of(path)
    assert error is None
    assert peak < 16 * MB


def test_a_graph_is_not_computed_when_a_file_is_read(tmp_path, monkeypatch):
    kernel = LaplacianKernel(RBFKernel(gamma=0.2), ratio=10.0) + RBFKernel(gamma=0.2)
    model = MixtureSVC(kernel, density=density(), random_state=0).fit(numbers(), labels())
    path = save(model, tmp_path / "a.mixkern")
    monkeypatch.setattr(LaplacianKernel, "__call__", lambda *_: 1 / 0)
    assert load(path).kernel_.k1.rows.shape == (90, 3)
