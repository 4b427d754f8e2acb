"""Every command tells what it does, with examples one can copy."""

import click
import pytest
from click.testing import CliRunner

from mixkern.cli import cli


def commands(group, path=()):
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name)


@pytest.mark.parametrize("path", list(commands(cli)), ids=" ".join)
def test_help_keeps_examples_on_their_own_lines(path):
    result = CliRunner().invoke(cli, [*path, "--help"])
    assert result.exit_code == 0
    assert "\\b" not in result.output
    examples = [line.strip() for line in result.output.splitlines() if line.strip().startswith("mixkern ")]
    assert all(line.startswith(f"mixkern {' '.join(path)}") for line in examples)
