"""Every example in README and docs runs, in the order of its page: Python, scripts, commands and what they print."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from mixkern.cli import cli

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(python|console|sh)\n(.*?)^```", re.MULTILINE | re.DOTALL)
PROMISE = re.compile(r"^print\((.*)\)  # (.+)$", re.MULTILINE)
LINK = re.compile(r"""(?:\]\(|href="|src=")(?!https?:)([^)"#]+)[)"#]""")
PROMPT = "$ "
QUICK = ("datasets.md", "tables.md")  # the others are slow


def blocks(page):
    """Give the examples of a page, each with its language."""
    return BLOCK.findall(page.read_text("utf-8"))


def run_python(text, page, names, capsys):
    """A comment behind a print is what the print must show."""
    exec(compile(text, str(page), "exec"), names)
    printed = capsys.readouterr().out
    for promise in PROMISE.findall(text):
        assert promise[1] in printed


def run_script(text):
    """Run lines as a shell would, with the commands of this installation."""
    found = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(["sh", "-e", "-c", text], env=found, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


def promised_lines(text):
    """Return the lines below a prompt that hold no digits: numbers may differ between computers."""
    lines = (" ".join(line.split()) for line in text)
    return [line for line in lines if re.search("[a-z]", line) and not re.search(r"\d", line)]


def run_commands(text):
    """Run the command after each prompt, and compare the lines below it with its output."""
    assert text.startswith(PROMPT)
    for part in re.split(rf"^{re.escape(PROMPT)}", text, flags=re.MULTILINE)[1:]:
        command, *shown = part.splitlines()
        program, *arguments = shlex.split(command)
        assert program == "mixkern", f"for other commands take a block of sh: {command}"
        done = CliRunner().invoke(cli, arguments)
        assert done.exit_code == 0, f"{command}\n{done.output}"
        printed = [" ".join(line.split()) for line in done.output.splitlines()]
        for line in promised_lines(shown):
            assert line in printed, f"{command}\n{done.output}"


def page_parameters():
    """Pages with examples; those that take long carry the mark slow."""
    marks = {True: (), False: (pytest.mark.slow,)}
    return [pytest.param(page, marks=marks[page.name in QUICK], id=page.name) for page in PAGES if blocks(page)]


@pytest.mark.parametrize("page", page_parameters())
def test_examples_run_and_keep_their_promises(page, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    for language, text in blocks(page):
        match language:
            case "python":
                run_python(text, page, names, capsys)
            case "sh":
                run_script(text)
            case "console":
                run_commands(text)


@pytest.mark.slow
def test_a_command_that_prints_something_else_is_noticed():
    run_commands("$ mixkern --version\nmixkern, version 9.9\n")  # a number may differ
    with pytest.raises(AssertionError):
        run_commands("$ mixkern --help\nUsage: mixkern of another kind\n")
    with pytest.raises(AssertionError):
        run_commands("$ mixkern look no_such_table.csv\n")
    with pytest.raises(AssertionError):
        run_script("mixkern look no_such_table.csv\nmixkern --version")


def test_the_readme_has_ten_lines_of_code():
    first = next(text for language, text in blocks(ROOT / "README.md") if language == "python")
    assert len([line for line in first.splitlines() if line.strip()]) == 10


def test_the_readme_shows_every_command_for_tables():
    (script,) = (text for language, text in blocks(ROOT / "README.md") if language == "sh")
    for name in ("look", "suggest", "fit", "predict", "explain", "report"):
        assert re.search(rf"^mixkern {name} ", script, re.MULTILINE)


def test_every_link_in_the_documents_leads_somewhere():
    for page in PAGES:
        for target in LINK.findall(page.read_text("utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
