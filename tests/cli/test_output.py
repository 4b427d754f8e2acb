"""Results and notes, tables, progress on a terminal and silence in a pipe, pictures."""

import io
import json
import warnings

import click
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from rich.console import Console

from mixkern.cli import output
from mixkern.cli.output import (
    byte_progress,
    class_counts,
    free_name,
    print_result,
    print_wide,
    spinner,
    text_table,
    warnings_as_notes,
    write_picture,
)
from mixkern.errors import ColumnChoiceWarning, UnseenCategoryWarning


def test_of_each_kind_the_first_warning_is_noted():
    notes = []
    with warnings_as_notes(notes):
        for text, kind in (("a", UnseenCategoryWarning), ("x", ColumnChoiceWarning), ("b", UnseenCategoryWarning)):
            warnings.warn(text, kind, stacklevel=1)
    assert notes == ["a\nLater rows are affected as well.", "x"]


def test_the_same_warning_again_says_nothing_new():
    notes = []
    with warnings_as_notes(notes):
        for _ in range(3):
            warnings.warn("a", UnseenCategoryWarning, stacklevel=1)
    assert notes == ["a"]


def test_warnings_of_others_stay_warnings():
    notes = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with warnings_as_notes(notes):
            warnings.warn("soon", FutureWarning, stacklevel=1)
    assert [(each.category, str(each.message)) for each in caught] == [(FutureWarning, "soon")]
    assert notes == []


def test_an_error_goes_through():
    with pytest.raises(ZeroDivisionError), warnings_as_notes([]):
        raise ZeroDivisionError


def test_json_holds_the_notes_and_all_signs(capsys):
    print_result({"a": np.float64("inf"), "🙂": [pd.NaT, np.int64(3)]}, ["b"], lambda: None, as_json=True)
    found = capsys.readouterr()
    assert json.loads(found.out) == {"a": None, "🙂": [None, 3], "notes": ["b"]}
    assert "🙂" in found.out
    assert found.err == ""


def test_notes_for_people_go_to_the_other_stream(capsys):
    print_result({}, ["one", "two"], lambda: print("answer"), as_json=False)  # noqa: T201
    found = capsys.readouterr()
    assert (found.out, found.err) == ("answer\n", "Note: one\nNote: two\n")


def test_a_name_that_is_free():
    taken = ["label"]
    for _ in range(3):
        taken.append(free_name("label", taken))
    assert taken == ["label", "mixkern_label", "mixkern_label_2", "mixkern_label_3"]


# ---------------------------------------------------------------- tables and progress


@pytest.fixture
def screen(monkeypatch):
    """A terminal that remembers."""
    file = io.StringIO()

    def console(**options):
        options.pop("stderr", None)
        return Console(file=file, force_terminal=True, width=100, **options)

    monkeypatch.setattr(output, "Console", console)
    return file


def test_a_bar_on_a_terminal(screen):
    with byte_progress("Predicting [red].csv") as on_progress:
        on_progress(500_000, 1_000_000)
    assert "Predicting [red].csv" in screen.getvalue()
    assert "0.5/1.0 MB" in screen.getvalue()


def test_a_bar_of_a_pipe_whose_end_nobody_knows(screen):
    with byte_progress("Reading") as on_progress:
        on_progress(500_000, None)
    assert "Reading" in screen.getvalue()


def test_work_on_a_terminal(screen):
    with spinner("Learning from [3] rows"):
        pass
    assert "Learning from [3] rows" in screen.getvalue()


def test_nothing_is_said_in_a_pipe(capsys):
    with byte_progress("Reading") as on_progress, spinner("Learning"):
        on_progress(1, 2)
    assert capsys.readouterr() == ("", "")


def test_nothing_is_shown_beside_json(screen):
    with click.Context(click.Command("fit")) as context:
        context.params["as_json"] = True
        with byte_progress("Reading") as on_progress, spinner("Learning"):
            on_progress(1, 2)
    assert screen.getvalue() == ""


def test_a_bar_goes_away_when_something_fails(screen):
    with pytest.raises(ZeroDivisionError), byte_progress("Reading"):
        raise ZeroDivisionError
    assert screen.getvalue().count("\x1b[?25h") == screen.getvalue().count("\x1b[?25l") == 1  # the cursor is back


def test_tables_hold_anything(capsys):
    print_wide("[red].csv: 2 rows", text_table(["[b]", "n"], [["[/b]", "1"], ["🙂 [", "[0]"]], right=["n"]))
    found = capsys.readouterr().out
    for text in ("[red].csv: 2 rows", "[b]", "[/b]", "🙂 [", "[0]"):
        assert text in found


def test_a_table_is_as_wide_as_it_must_be(capsys):
    print_wide("wide", text_table([f"column {i}" for i in range(40)], [["a cell"] * 40]))
    assert "column 0" in (line := capsys.readouterr().out.splitlines()[1])
    assert "column 39" in line


def test_cells_do_not_command_the_terminal(capsys):
    print_wide("title", text_table(["a"], [["x\x1b[31mred\x07"]]))
    assert "\x1b[31m" not in capsys.readouterr().out


# ---------------------------------------------------------------- pictures


@pytest.mark.parametrize(("name", "start"), [("a.png", b"\x89PNG"), ("a.svg", b"<?xml"), ("a.PDF", b"%PDF")])
def test_the_name_says_the_format(tmp_path, name, start):
    write_picture(tmp_path / "deep" / name, Figure, dpi=50)
    assert (tmp_path / "deep" / name).read_bytes().startswith(start)


def test_a_drawing_that_fails_leaves_the_old_picture(tmp_path):
    path = tmp_path / "a.png"
    path.write_bytes(b"old")

    def broken():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_picture(path, broken, dpi=50)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_place_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(click.ClickException, match="could not be written"):
        write_picture(tmp_path / "file" / "a.png", Figure, dpi=50)


def test_of_many_classes_the_first_are_counted():
    assert class_counts({str(i): 1 for i in range(13)}).endswith("1 of '12'")
    assert class_counts({f"c{i:02d}": 2 for i in range(30)}).endswith("2 of 'c11' and 18 more classes")
