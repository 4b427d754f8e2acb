import hashlib
from importlib.resources import files

from mixkern.study import published_data_sets


def test_the_table_is_complete():
    rows = published_data_sets()
    assert len(rows) == 20
    assert sum(row.n_samples for row in rows) == 34136
    assert all(len(row.class_percent) == row.n_classes for row in rows)


def test_the_file_is_the_published_one():
    text = files("mixkern.study").joinpath("data_sets.csv").read_bytes()
    assert hashlib.sha256(text).hexdigest() == "4d73ab314b016457180a7cf261bb083f9b69ad7e3bb52afa709ee6b47b2096b9"


def test_slips_stay_as_published():
    clouds = next(row for row in published_data_sets() if row.title == "Clouds")
    assert clouds.class_percent == (52.2, 50.0)
