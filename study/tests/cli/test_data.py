"""``mixkern paper data``: the data sets beside the figures of the paper."""

import json

from click.testing import CliRunner

from mixkern import datasets
from mixkern_study.cli.data import data_command


def run(*arguments):
    return CliRunner().invoke(data_command, arguments, catch_exceptions=False)


def test_all_twenty_data_sets_are_listed_beside_the_paper():
    done = run()
    assert done.exit_code == 0
    for name in datasets.names():
        assert name in done.output
    assert "6435 / 6345 *" in done.output
    assert "15 of 20 sets agree with the paper in every figure." in done.output


def test_figures_as_json():
    rows = json.loads(run("--json").stdout)
    assert len(rows) == 20
    assert rows[8]["ours"]["n_samples"] == rows[8]["paper"]["n_samples"] == 150
