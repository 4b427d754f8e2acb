"""Two hundred damaged files: each is refused with one kind of error, or is a model that works."""

from contextlib import suppress

import pytest

from mixkern.errors import MixkernError, ModelFileError
from mixkern.io import load

from .damage import damaged
from .example import answers, table


@pytest.fixture(scope="module")
def versions(content):
    return damaged(content)


@pytest.mark.slow
def test_there_are_two_hundred_and_most_reach_below_the_checksum(versions, content):
    assert len(versions) == len({each.name for each in versions}) == 200
    assert sum(each.is_sealed for each in versions) >= 120
    assert all(each.content != content for each in versions)


@pytest.mark.slow
def test_a_damaged_file_is_refused_or_works(versions, tmp_path):
    path, refused = tmp_path / "damaged.mixkern", 0
    for each in versions:
        path.write_bytes(each.content)
        try:
            model = load(path)
        except ModelFileError:
            refused += 1
        else:
            _assert_works(model, each.name)
    assert 130 <= refused < 200  # some damage is as good as none: a tolerance, a remark, a digit of a number
    assert [file.name for file in tmp_path.iterdir()] == ["damaged.mixkern"]


def _assert_works(model, name):
    rows = model.support_vectors_[:5]
    own = rows if model.encoder_ is None else model.encoder_.inverse_transform(rows)
    assert set(answers(model, own)) >= {"predict", "decision_function", "novelty", "responsibilities"}, name
    with suppress(MixkernError):  # the table of another model: another name of a column, a number where a date is due
        answers(model, table()[:10])
