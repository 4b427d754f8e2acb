"""Pictures that are whole or not there."""

import click
import pytest
from matplotlib.figure import Figure

from mixkern.cli.picture import draw_to


@pytest.mark.parametrize(("name", "start"), [("a.png", b"\x89PNG"), ("a.svg", b"<?xml"), ("a.PDF", b"%PDF")])
def test_the_name_says_the_format(tmp_path, name, start):
    draw_to(tmp_path / "deep" / name, Figure, dpi=50)
    assert (tmp_path / "deep" / name).read_bytes().startswith(start)


def test_a_drawing_that_fails_leaves_the_old_picture(tmp_path):
    path = tmp_path / "a.png"
    path.write_bytes(b"old")

    def broken():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        draw_to(path, broken, dpi=50)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_place_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(click.ClickException, match="could not be written"):
        draw_to(tmp_path / "file" / "a.png", Figure, dpi=50)
