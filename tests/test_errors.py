import inspect

from mixkern import errors


def classes(base):
    return [c for _, c in inspect.getmembers(errors, inspect.isclass) if issubclass(c, base)]


def test_every_error_is_drawn_in_the_tree():
    drawn = errors.__doc__
    for each in [*classes(errors.MixkernError), *classes(errors.MixkernWarning)]:
        assert each.__name__ in drawn


def test_every_error_fits_a_built_in():
    for each in classes(errors.MixkernError):
        if each not in (errors.MixkernError, errors.DatasetError):
            assert issubclass(each, (ValueError, OSError, ImportError)), each


def test_listing_counts_what_it_leaves_out():
    assert errors.listing("abcdefg") == "'a', 'b', 'c', 'd', 'e' and 2 more"


def test_little_is_not_nothing_and_most_is_not_all():
    shares = (0.0, 1e-9, 0.5, 1 - 1e-9, 1.0)
    assert [errors.percent(share) for share in shares] == ["0 %", "< 1 %", "50 %", "> 99 %", "100 %"]
