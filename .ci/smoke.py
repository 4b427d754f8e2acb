"""Check an installed mixkern, in an environment that has one extra or none: ``python smoke.py dask``.

It runs outside of the checkout and without pytest, so it imports what a user has, and no more.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from importlib.metadata import metadata
from pathlib import Path
from zipfile import ZipFile

import numpy as np

import mixkern
from mixkern import MixtureSVC
from mixkern.engine import _core
from mixkern.errors import MissingExtraError

HOME = Path(mixkern.__file__).parent
IS_TARGET = "MIXKERN_SMOKE_TARGET" in os.environ  # installed into a folder, and emulated
HAS_NO_COMPILER = "MIXKERN_SMOKE_NO_COMPILER" in os.environ  # which is checked


def two_groups(n=200):
    """Return rows of two groups, all but two labels -1, and the truth."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], n // 2)
    X = rng.normal(size=(n, 3)) + 4 * truth[:, None]
    y = np.full(n, -1)
    y[[0, -1]] = truth[[0, -1]]
    return X, y, truth


def fitted():
    """Return a classifier, and check that it is right about two groups."""
    X, y, truth = two_groups()
    model = MixtureSVC(random_state=0).fit(X, y)
    assert model.score(X, truth) > 0.95, model.score(X, truth)
    return model


def check_core(folder):
    """The compiled engine is there; a model is fitted, saved and loaded; what an extra would bring is named."""
    assert "site-packages" in HOME.parts or IS_TARGET, HOME
    assert not HAS_NO_COMPILER or not any(map(shutil.which, ("cc", "gcc", "c++", "g++", "clang")))
    assert _core.isas(), "the compiled engine has no build for this processor"
    model = fitted()
    X = two_groups()[0]
    mixkern.save(model, folder / "model.mixkern")
    assert np.array_equal(mixkern.load(folder / "model.mixkern").decision_function(X), model.decision_function(X))
    if not installed("pandas"):
        try:
            mixkern.datasets.load("iris")
        except MissingExtraError as error:
            assert "pip install 'mixkern[data]'" in str(error), error
        else:
            raise AssertionError("pandas is missing, but a data set was loaded")
    if not installed("click") and not IS_TARGET:  # where the system cannot start emulated programs
        done = command(folder, "--help", code=1)
        assert "pip install 'mixkern[cli]'" in done.stderr, done.stderr


def check_data(folder):
    """A packaged table, whole, and a model of it."""
    heart = mixkern.datasets.load("heart")
    model = MixtureSVC(random_state=0).fit(heart.X, heart.few_labels(per_class=10, random_state=0))
    assert model.score(heart.X, heart.y) > 0.6


def check_plot(folder):
    """A picture in a file."""
    import matplotlib as mpl

    mpl.use("Agg")
    X, y, _ = two_groups()
    picture = mixkern.plot.decision(MixtureSVC(random_state=0).fit(X[:, :2], y), X[:, :2], y)
    getattr(picture, "figure", picture).savefig(folder / "decision.png")
    assert (folder / "decision.png").stat().st_size > 5000


def check_file(folder):
    """Tables of text and Parquet."""
    import pyarrow as pa
    import pyarrow.parquet

    (folder / "a.csv").write_text("a,b\n1.5,x\n2.5,\n", encoding="utf-8")
    pa.parquet.write_table(pa.table({"a": [1.5, 2.5], "b": ["x", None]}), folder / "a.parquet")
    for name in ("a.csv", "a.parquet"):
        table = mixkern.read_table(folder / name)
        assert table.columns == ("a", "b"), table.columns
        assert len(table) == 2


def check_excel(folder):
    """A table of Excel, with one cell in each of two rows."""
    site = "http://schemas.openxmlformats.org"
    relation, package, main = (
        f"{site}/{end}" for end in ("officeDocument/2006/relationships", "package/2006", "spreadsheetml/2006/main")
    )
    relationship = f'<Relationship Id="r" Type="{relation}/%s" Target="%s"/>'
    link = f'<Relationships xmlns="{package}/relationships">{relationship}</Relationships>'
    cells = '<row r="1"><c r="A1" t="inlineStr"><is><t>size</t></is></c></row><row r="2"><c r="A2"><v>7</v></c></row>'
    sheet = '<sheets><sheet name="s" sheetId="1" r:id="r"/></sheets>'
    default = '<Default Extension="xml" ContentType="application/xml"/>'
    members = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types">{default}</Types>',
        "_rels/.rels": link % ("officeDocument", "xl/workbook.xml"),
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{relation}">{sheet}</workbook>',
        "xl/_rels/workbook.xml.rels": link % ("worksheet", "worksheets/sheet1.xml"),
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{main}"><sheetData>{cells}</sheetData></worksheet>',
    }
    with ZipFile(folder / "a.xlsx", "w") as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    table = mixkern.read_table(folder / "a.xlsx")
    assert table.columns == ("size",), table.columns
    assert len(table) == 1


def check_convert(folder):
    """A model of an older format, which is among the tests."""
    old = Path(__file__).parents[1] / "tests" / "io" / "models" / "data" / "format_1_svc.mixkern"
    command(folder, "convert", str(old), "new.mixkern")
    assert mixkern.load(folder / "new.mixkern").classes_.size == 2


def check_report(folder):
    """A page of a model."""
    from mixkern.report import write_model_report

    heart = mixkern.datasets.load("heart")
    y = heart.few_labels(per_class=10, random_state=0)
    write_model_report(MixtureSVC(random_state=0).fit(heart.X, y), heart.X, y, folder / "report.html")
    assert "</html>" in (folder / "report.html").read_text("utf-8")


def check_cli(folder):
    """From a table to predictions and a report, by commands."""
    command(folder, "datasets", "--write", "heart", "--labels", "10", "--target", "disease", "-o", "heart.csv")
    command(folder, "fit", "heart.csv", "--target", "disease", "-o", "heart.mixkern")
    command(folder, "predict", "heart.mixkern", "heart.csv", "-o", "labelled.csv")
    command(folder, "report", "heart.mixkern", "heart.csv", "-o", "heart.html")
    assert len((folder / "labelled.csv").read_text("utf-8").splitlines()) == 271
    assert "</html>" in (folder / "heart.html").read_text("utf-8")


def check_serve(folder):
    """A server answers with the predictions of a model that was fitted on a table."""
    import pyarrow as pa

    from mixkern.serving import ModelServer

    X, _, truth = two_groups()
    columns = [f"x{i}" for i in range(X.shape[1])]
    labels = [str(label) if i % 5 == 0 else None for i, label in enumerate(truth.tolist())]
    model = MixtureSVC(random_state=0).fit(pa.table(dict(zip(columns, X.T, strict=True))), labels)
    mixkern.save(model, folder / "served.mixkern")
    row = json.dumps([dict(zip(columns, X[0].tolist(), strict=True))]).encode()
    with ModelServer(folder / "served.mixkern") as server:
        request = urllib.request.Request(f"{server.url}predict", row, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            assert json.load(answer)["predictions"][0]["label"] == str(truth[0])


def check_onnx(folder):
    """A model is written as an ONNX file that the library accepts."""
    import onnx

    onnx.checker.check_model(onnx.load(fitted().to_onnx(folder / "model.onnx")))


def check_label(folder):
    """The labelling page is served."""
    heart = mixkern.datasets.load("heart")
    y = heart.few_labels(per_class=5, random_state=0)
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())  # of the token
    with (
        mixkern.label(heart.X, y, target="disease", journal=folder / "a.labels", browser=False) as page,
        browser.open(page.url, timeout=60) as answer,
    ):
        assert b"<html" in answer.read()


def check_dask(folder):
    """A fit over partitions is the fit in memory."""
    import dask.dataframe as dd

    heart = mixkern.datasets.load("heart")
    y = heart.few_labels(per_class=10, random_state=0)
    table = heart.X.assign(target=y)
    parts = dd.from_pandas(table, npartitions=3)
    model = MixtureSVC(random_state=0).fit(parts.drop(columns="target"), parts["target"])
    assert len(model.predict(parts.drop(columns="target")).compute()) == len(table)


def installed(library):
    """Return whether a library is installed."""
    from importlib.util import find_spec

    return find_spec(library) is not None


def command(folder, *arguments, code=0):
    """Run the command ``mixkern`` of this environment."""
    program = Path(sys.executable).parent / "mixkern"
    done = subprocess.run([program, *arguments], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return done


if __name__ == "__main__":
    extra = sys.argv[1]
    checks = {name.removeprefix("check_"): check for name, check in globals().items() if name.startswith("check_")}
    if extra not in checks:
        sys.exit(f"There is no check of the extra {extra!r}; expected one of {', '.join(checks)}.")
    with tempfile.TemporaryDirectory() as folder:
        checks["core"](Path(folder))
        if extra != "core":
            checks[extra](Path(folder))
    version, python = metadata("mixkern")["Version"], sys.version.split()[0]
    print(f"Python {python}, {extra}: mixkern {version} works, engine {_core.isas()[0]}")
