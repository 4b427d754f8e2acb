"""Numbers in sentences."""

from mixkern.report.model.word import listed, many, number


def test_counts_have_separators():
    assert number(1_234_567) == "1,234,567"
    assert many(0, "row") == "0 rows"


def test_lists_read_like_sentences():
    assert listed(["a"]) == "a"
    assert listed(["a", "b"]) == "a and b"
    assert listed(list("abcd"), most=3) == "a, b, c and 1 more"
