import inspect
import pickle
import warnings

import pytest

from mixkern import errors
from mixkern.errors import MixkernError, MixkernWarning, TableError, hint, ignored_warnings, warn
from mixkern.fitting import NotConvergedWarning


def test_every_error_fits_a_built_in():
    for _, each in inspect.getmembers(errors, inspect.isclass):
        if issubclass(each, MixkernError) and each not in (MixkernError, errors.DatasetError):
            assert issubclass(each, (ValueError, TypeError, OSError, ImportError)), each


def test_warnings_are_warnings_of_users():
    assert issubclass(MixkernWarning, UserWarning)
    assert issubclass(NotConvergedWarning, MixkernWarning)


def test_a_message_has_a_hint_for_each_surface():
    error = TableError("It is text.", hint=hint(python="Drop it: X.drop().", cli="Drop it: --drop."))
    assert str(error) == error.on("python") == "It is text. Drop it: X.drop()."
    assert error.on("cli") == "It is text. Drop it: --drop."
    assert error.text == "It is text."
    assert TableError("It is text.", hint=hint(python="Drop it.")).on("cli") == "It is text."


def test_rows_are_counted_from_1_and_moved_by_the_rows_before_them():
    error = TableError("Text in {row}.", row=0)
    assert str(error) == error.on("cli") == "Text in row 1 (counted from 1)."
    moved = error.below(20)
    assert (type(moved), str(moved)) == (TableError, "Text in row 21 (counted from 1).")
    assert str(TableError("No row.").below(20)) == "No row."


def test_messages_survive_a_pickle():
    error = pickle.loads(pickle.dumps(TableError("In {row}.", hint=hint(python="a", cli="b"), row=2)))
    assert (type(error), error.on("python"), error.on("cli")) == (
        TableError,
        "In row 3 (counted from 1). a",
        "In row 3 (counted from 1). b",
    )


def test_a_warning_points_to_the_line_of_the_user():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn("Careful.", MixkernWarning, hint=hint(python="Do X.", cli="Do Y."))
    assert caught[0].filename == __file__
    assert caught[0].message.on("cli") == "Careful. Do Y."


def test_ignored_warnings_of_several_threads_leave_no_filter():
    before = list(warnings.filters)
    first, second = ignored_warnings(UserWarning), ignored_warnings(UserWarning)
    first.__enter__()
    second.__enter__()  # in another thread, say
    first.__exit__(None, None, None)
    warn("Not shown, where warnings are errors.", MixkernWarning)
    second.__exit__(None, None, None)
    assert list(warnings.filters) == before
    with pytest.raises(MixkernWarning):
        warn("Shown.", MixkernWarning)
