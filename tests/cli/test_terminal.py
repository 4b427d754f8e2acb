"""Progress on a terminal, silence in a pipe, tables that hold anything."""

import io

import pytest
from rich.console import Console

from mixkern.cli import terminal
from mixkern.cli.terminal import bytes_bar, print_wide, text_table, working


@pytest.fixture
def screen(monkeypatch):
    """A terminal that remembers."""
    file = io.StringIO()

    def console(**options):
        options.pop("stderr", None)
        return Console(file=file, force_terminal=True, width=100, **options)

    monkeypatch.setattr(terminal, "Console", console)
    return file


def test_a_bar_on_a_terminal(screen):
    with bytes_bar("Predicting [red].csv") as on_progress:
        on_progress(500_000, 1_000_000)
    assert "Predicting [red].csv" in screen.getvalue()
    assert "0.5/1.0 MB" in screen.getvalue()


def test_a_bar_of_a_pipe_whose_end_nobody_knows(screen):
    with bytes_bar("Reading") as on_progress:
        on_progress(500_000, None)
    assert "Reading" in screen.getvalue()


def test_work_on_a_terminal(screen):
    with working("Learning from [3] rows"):
        pass
    assert "Learning from [3] rows" in screen.getvalue()


def test_nothing_is_said_in_a_pipe(capsys):
    with bytes_bar("Reading") as on_progress, working("Learning"):
        on_progress(1, 2)
    assert capsys.readouterr() == ("", "")


def test_a_bar_goes_away_when_something_fails(screen):
    with pytest.raises(ZeroDivisionError), bytes_bar("Reading"):
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
