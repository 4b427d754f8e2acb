from mixkern.study import published_data_sets


def test_the_table_is_complete():
    rows = published_data_sets()
    assert len(rows) == 20
    assert sum(row.n_samples for row in rows) == 34136
    assert all(len(row.class_percent) == row.n_classes for row in rows)


def test_slips_stay_as_published():
    clouds = next(row for row in published_data_sets() if row.title == "Clouds")
    assert clouds.class_percent == (52.2, 50.0)
