"""The group of commands: help, errors with their exit codes, commands of other packages."""

import signal
import subprocess
import sys
import time
from importlib import import_module
from importlib.metadata import EntryPoint
from inspect import signature

import click
import numpy as np
import pytest
from click.testing import CliRunner

from mixkern.cli import cli
from mixkern.cli.group import STOPPED, Commands
from mixkern.errors import LabelError, hint
from mixkern.io import table_file

LEARNERS = ("look", "suggest", "fit")


@pytest.fixture
def failing():
    """A group with one command that raises what it is given."""

    def invoke(error):
        @click.group(cls=Commands)
        def group():
            pass

        @group.command("fail")
        def fail():
            raise error

        return CliRunner().invoke(group, ["fail"])

    return invoke


def test_an_error_is_printed_with_the_hint_for_the_command_line(failing):
    done = failing(LabelError("It is text.", hint=hint(python="Drop it: X.drop().", cli="Drop it: --drop age.")))
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr == "Error: It is text. Drop it: --drop age.\n"


def test_too_little_memory_is_an_error_message(failing):
    done = failing(MemoryError())
    assert (done.exit_code, done.stderr) == (1, "Error: There is not enough memory. Give fewer rows or columns.\n")


def test_ctrl_c_has_the_exit_code_of_shells(failing):
    done = failing(KeyboardInterrupt())
    assert done.exit_code == STOPPED == 130
    assert done.stderr.strip() == "Stopped. No file was changed."


def test_ctrl_c_in_the_middle_of_an_import_may_become_another_error(failing):
    error = RuntimeError("cannot release un-acquired lock")  # of Python's own import lock
    error.__context__ = KeyboardInterrupt()
    assert failing(error).exit_code == STOPPED


@pytest.mark.posix
@pytest.mark.parametrize(
    ("command", "delays"),
    [
        ("--version", (0.03, 0.06, 0.1)),
        ("fit", (0.1, 0.4)),
        pytest.param("--version", np.arange(0.02, 0.5, 0.02), marks=pytest.mark.slow),
        pytest.param("fit", np.arange(0.1, 2.6, 0.1), marks=pytest.mark.slow),
    ],
)
def test_ctrl_c_while_a_command_starts(command, delays, table, tmp_path):
    """From the moment when mixkern itself is imported; until then Ctrl-C is Python's own matter."""
    code = "from mixkern.__main__ import main; print('imported', flush=True); main()"
    arguments = [command] if command == "--version" else [command, table, "--target", "churn", "-o", tmp_path / "a"]
    codes = [interrupted([sys.executable, "-c", code, *arguments], delay) for delay in delays]
    assert set(codes) <= {STOPPED, 0}  # 0 where the command had ended before
    assert command == "--version" or codes[0] == STOPPED


def interrupted(command, delay):
    """Return the exit code of a command that gets Ctrl-C; it prints at most what is kept."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout.readline() == b"imported\n"
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        _, printed = process.communicate(timeout=60)
    assert not printed or process.returncode == 0 or printed == b"Stopped. No file was changed.\n", printed.decode()
    return process.returncode


def test_a_bug_stays_a_bug(failing):
    assert isinstance(failing(ZeroDivisionError()).exception, ZeroDivisionError)


def test_a_typo_has_code_2(run, table):
    assert "No such command 'prdict'. Did you mean 'predict'?" in run("prdict", code=2).stderr
    message = run("look", table, "--tagret", "churn", code=2).stderr
    assert "No such option" in message
    assert "--tagret" in message
    assert "Missing option '--target'" in run("fit", table, code=2).stderr


# ---------------------------------------------------------------- help, and commands of other packages


@pytest.mark.parametrize("name", cli.commands)
def test_help_keeps_examples_on_their_own_lines(name, run):
    text = run(name, "--help").stdout
    assert "\\b" not in text
    examples = [line.strip() for line in text.splitlines() if line.strip().startswith("mixkern ")]
    assert examples
    assert all(line.startswith(f"mixkern {name} ") for line in examples)


def test_every_command_is_listed_with_its_line_of_help(run):
    text = run("--help").stdout
    for name, command in cli.commands.items():
        assert f"  {name} " in text
        assert command.short_help[:40] in text


def test_help_names_the_package_of_the_other_commands(run, monkeypatch):
    monkeypatch.setattr("mixkern.cli.group.entry_points", lambda group: [])
    assert run("--help").stdout.endswith("\nFor mixkern paper and mixkern study: pip install mixkern-study\n")
    assert "No such command 'paper'. For mixkern paper and mixkern study: pip" in run("paper", code=2).stderr


def test_commands_of_other_packages_join(run, monkeypatch):
    other = EntryPoint("paper", "mixkern.cli:cli", "mixkern.commands")
    monkeypatch.setattr("mixkern.cli.group.entry_points", lambda group: [other])
    text = run("--help").stdout
    assert "pip install mixkern-study" not in text
    assert "paper     From another package." in text
    assert run("paper", "--help").stdout.startswith("Usage: mixkern paper")


class Bound:
    """A module whose functions bind their arguments, and do nothing else."""

    def __init__(self, name):
        self._module = import_module(name)

    def __getattr__(self, name):
        return signature(getattr(self._module, name)).bind


@pytest.mark.parametrize("name", cli.commands)
def test_a_command_is_run_by_a_function_with_its_options(name, monkeypatch):
    monkeypatch.setattr("mixkern.cli.group.import_module", Bound)
    command = cli.commands[name]
    options = {each.name: None for each in command.params if each.expose_value}
    assert command.callback(**options).kwargs.keys() <= options.keys()


# ---------------------------------------------------------------- damaged files

SOME_OR_ALL = pytest.mark.parametrize("step", [20, pytest.param(1, marks=pytest.mark.slow)], ids=["some", "all"])


@SOME_OR_ALL
@pytest.mark.slow
def test_damaged_models_are_refused_or_work(step, run, damage, model, table, tmp_path, in_time):
    n_refused = 0
    files = damage("io/models").damaged(model.read_bytes())[::step]
    with in_time():
        for each in files:
            path, output = tmp_path / "damaged.mixkern", tmp_path / "out.csv"
            path.write_bytes(each.content)
            done = run("predict", path, table, "-o", output, code=None)
            assert done.exit_code in (0, 1), each.name
            assert output.exists() == (done.exit_code == 0), each.name
            n_refused += done.exit_code
            if output.exists():
                assert len(table_file(output).table()) == 90, each.name
                output.unlink()
            assert [file.name for file in tmp_path.iterdir()] == ["damaged.mixkern"], each.name
    assert 0.5 * len(files) <= n_refused < len(files)


@pytest.mark.slow
@SOME_OR_ALL
def test_damaged_tables_are_refused_or_read(step, run, damage, people, model, tmp_path, in_time):
    n_refused = 0
    files = damage("io").damaged(people.to_csv(index=False).encode())[::step]
    with in_time():
        for i, (name, harmed) in enumerate(files):
            path, output = tmp_path / "damaged.csv", tmp_path / "out.csv"
            path.write_bytes(harmed)
            done = run("predict", model, path, "-o", output, code=None)
            assert done.exit_code in (0, 1), name
            assert output.exists() == (done.exit_code == 0), name
            n_refused += done.exit_code
            if output.exists():
                assert len(table_file(output).table()) == len(table_file(path).table()), name
                output.unlink()
            learner = LEARNERS[i % 3]
            options = ["-o", tmp_path / "out.mixkern", "--no-estimate"] if learner == "fit" else []
            done = run(learner, path, "--target", "churn", *options, code=None)
            assert done.exit_code in (0, 1), name
            assert (tmp_path / "out.mixkern").exists() == (learner == "fit" and done.exit_code == 0), name
            (tmp_path / "out.mixkern").unlink(missing_ok=True)
            assert [file.name for file in tmp_path.iterdir()] == ["damaged.csv"], name
    assert 0.2 * len(files) < n_refused < len(files)
