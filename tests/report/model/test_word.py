"""Numbers in sentences."""

from mixkern.report.model.word import listed, many, number, percent


def test_counts_have_separators():
    assert number(1_234_567) == "1,234,567"
    assert many(0, "row") == "0 rows"


def test_little_is_not_nothing_and_most_is_not_all():
    assert [percent(share) for share in (0.0, 1e-9, 0.5, 1 - 1e-9, 1.0)] == ["0 %", "< 1 %", "50 %", "> 99 %", "100 %"]


def test_lists_read_like_sentences():
    assert listed(["a"]) == "a"
    assert listed(["a", "b"]) == "a and b"
    assert listed(list("abcd"), most=3) == "a, b, c and 1 more"
