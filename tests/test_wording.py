import shlex

from mixkern.wording import listing, names_argument, percent


def test_listing_counts_what_it_leaves_out():
    assert listing("abcdefg") == "'a', 'b', 'c', 'd', 'e' and 2 more"


def test_only_exact_shares_are_nothing_or_all():
    shares = (0.0, 1e-9, 0.5, 1 - 1e-9, 1.0)
    assert [percent(share) for share in shares] == ["0 %", "< 1 %", "50 %", "> 99 %", "100 %"]


def test_names_with_commas_quotes_and_blanks_are_quoted():
    assert names_argument(["age", "town"]) == "age,town"
    names = ["price, EUR", '"a"', ' b "c" ', 'd"e', ""]
    assert shlex.split(names_argument(names)) == ['"price, EUR","""a"""," b ""c"" ",d"e,""']
