import pytest

from mixkern.encoding.lookalike import are_dates, are_identifiers, not_numbers

DAYS = [f"2024-05-{day:02}" for day in range(1, 21)]


def test_texts_that_spell_no_number_keep_their_order():
    assert not_numbers(["z", "1", "-1e5", "a", "3 cm", "nan"]) == ["z", "a", "3 cm"]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (DAYS, True),
        (["2024-05-01T12:30:00", "2024-05-01 12:30+02:00"], True),
        ([*DAYS, "?", "unknown"], True),  # 20 of 22
        ([*DAYS, "?", "unknown", "later"], False),  # 20 of 23
        (["2024-05-01", "?"], False),
        (["20240501"], False),
        (["01.05.2024", "May"], False),
        (["2024-13-01"], False),
        ([], False),
    ],
)
def test_dates(texts, expected):
    assert are_dates(texts) is expected


@pytest.mark.parametrize(("n_distinct", "n_texts", "expected"), [(90, 100, True), (89, 100, False), (11, 11, True)])
def test_identifiers(n_distinct, n_texts, expected):
    assert are_identifiers(n_distinct, n_texts) is expected
