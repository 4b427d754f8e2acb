"""``mixkern convert``: old model files, and what the other commands print about them."""

from pathlib import Path

import pytest

from mixkern import load

OLD = Path(__file__).parents[1] / "io" / "models" / "data" / "format_1_svc.mixkern"


def test_an_old_file_is_converted(run, tmp_path):
    done = run("convert", OLD, tmp_path / "new.mixkern")
    assert done.stdout == f"Wrote {tmp_path / 'new.mixkern'}\n"
    assert load(tmp_path / "new.mixkern").classes_.tolist()


@pytest.mark.parametrize("command", ["predict", "explain", "report"])
def test_commands_name_the_conversion(command, run, table, tmp_path):
    options = (
        ["--row", "1"]
        if command == "explain"
        else ["-o", tmp_path / ("out.html" if command == "report" else "out.csv")]
    )
    done = run(command, OLD, table, *options, code=1)
    assert "written by a development version of mixkern 0.1, in an older format" in done.stderr
    assert "Convert it: mixkern convert OLD NEW" in " ".join(done.stderr.split())


def test_other_files_are_refused(run, model, tmp_path):
    done = run("convert", model, tmp_path / "new.mixkern", code=1)
    assert "is no model of format 1 or 2, but of the present format: use it as it is." in " ".join(done.stderr.split())
    assert not (tmp_path / "new.mixkern").exists()


def test_files_and_folders_that_are_missing(run, tmp_path):
    assert "there is no such file" in run("convert", tmp_path / "old.mixkern", tmp_path / "a.mixkern", code=1).stderr
    done = run("convert", OLD, tmp_path / "missing" / "new.mixkern", code=1)
    assert "new.mixkern cannot be written: there is no folder" in " ".join(done.stderr.split())
    assert not (tmp_path / "missing").exists()
