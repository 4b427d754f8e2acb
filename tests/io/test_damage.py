"""200 damaged files: each reads or is refused with a TableError."""

import warnings

import pytest

from mixkern.encoding import TableEncoder
from mixkern.errors import MixkernError
from mixkern.io import table_file
from mixkern.io.table import pandas_frame


def outcome(path, kinds):
    """Read a file whole and in blocks; return the messages of errors."""
    messages = []
    for read in (
        lambda file: pandas_frame(file.table(text=["approved"])),
        lambda file: list(file.blocks(kinds, n_rows=100)),
    ):
        try:
            file = table_file(path)
            read(file)
        except MixkernError as error:
            messages.append(str(error))
    return messages


@pytest.fixture(scope="module")
def kinds(credit_frame):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        encoder = TableEncoder().fit(credit_frame.drop(columns="approved"))
    return {column.name: column for column in encoder.columns_}


@pytest.mark.slow
def test_damaged_files_read_or_are_refused(damage, credit_frame, kinds, tmp_path):
    content = credit_frame.to_csv(index=False).encode("utf-8")
    n_refused = 0
    for name, harmed in damage.damaged(content):
        path = tmp_path / f"{name}.csv"
        path.write_bytes(harmed)
        messages = outcome(path, kinds)
        n_refused += bool(messages)
        for message in messages:
            assert path.name in message, message
            assert len(message) < 500, message
            assert message.endswith((".", "?")), message
    assert 100 < n_refused < 200


def test_the_damage_is_always_the_same(damage):
    content = b"a,b\n1,2\n3,4\n" * 10
    assert damage.damaged(content) == damage.damaged(content)
    assert len({harmed for _, harmed in damage.damaged(content)}) > 150
