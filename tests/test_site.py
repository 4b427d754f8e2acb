"""docs/check_site.py on small sites with and without faults, and the form of the gallery's examples."""

import ast
import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CHECK = runpy.run_path(str(ROOT / "docs" / "check_site.py"))
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
GOOD = {
    "index.html": '<h1 id="top">A</h1><a href="#top">up</a><a href="b/page.html#one">b</a><a href="https://x.org">x</a>',
    "b/page.html": '<a name="one"></a><img src="../a%20b.png" srcset="../a%20b.png 2x"><a href="..">a</a>',
    "a b.png": "",
    "_static/style.css": 'body {background: url("../a b.png"); src: url(data:font/woff2;base64,AA)}',
    "_static/template.html": '<a href="{{ nowhere }}">not a page</a>',
}


def faults(folder, **pages):
    """Return the faults of the good site with some other pages."""
    for name, text in {**GOOD, **pages}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return list(CHECK["Site"](folder).faults())


def test_a_good_site_has_no_faults(tmp_path, capsys):
    assert faults(tmp_path) == []
    assert CHECK["main"](str(tmp_path)) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("page", "fault"),
    [
        ('<a href="c.html">c</a>', "links to c.html, which does not exist"),
        ('<a href="index.html#two">c</a>', "links to index.html#two, which does not exist"),
        ('<a href="#two">c</a>', "links to #two, which does not exist"),
        ('<a href="../outside.html">c</a>', "links to ../outside.html, which does not exist"),
        ('<img src="c.png">', "links to c.png, which does not exist"),
        ('<img src="a%20b.png" srcset="c.png 2x">', "links to c.png, which does not exist"),
        ('<script src="https://cdn.org/a.js"></script>', "loads https://cdn.org/a.js from elsewhere"),
        ('<link rel="stylesheet" href="//cdn.org/a.css">', "loads //cdn.org/a.css from elsewhere"),
        ('<p style="background: url(https://cdn.org/a.png)">', "loads https://cdn.org/a.png from elsewhere"),
    ],
)
def test_a_fault_is_found(tmp_path, capsys, page, fault):
    (tmp_path.parent / "outside.html").write_text("", "utf-8")
    assert faults(tmp_path, **{"c d.html": page}) == [f"c d.html {fault}"]
    assert CHECK["main"](str(tmp_path)) == 1
    assert fault in capsys.readouterr().err


def test_style_sheets_load_nothing_from_elsewhere(tmp_path):
    (fault,) = faults(tmp_path, **{"_static/b.css": "@import 'https://cdn.org/a.css';"})
    assert fault == "_static/b.css loads https://cdn.org/a.css from elsewhere"


def test_a_canonical_address_is_not_loaded(tmp_path):
    assert faults(tmp_path, **{"c.html": '<link rel="canonical" href="https://x.org/c.html">'}) == []


def test_a_folder_without_a_site_is_an_error(tmp_path, capsys):
    assert CHECK["main"](str(tmp_path)) == 1
    assert "Build the site first: make docs." in capsys.readouterr().err


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_opens_with_a_title_and_two_sentences(path):
    """`make docs` runs the examples."""
    title, line, text = ast.get_docstring(ast.parse(path.read_text("utf-8"))).split("\n", 2)
    assert path.stem.startswith("plot_")
    assert line == "=" * len(title)
    assert 2 <= len(re.findall(r"[.!?](?=\s|$)", text.strip())) <= 3


def test_the_gallery_has_an_order_for_each_example():
    tree = ast.parse((ROOT / "docs" / "conf.py").read_text("utf-8"))
    (names,) = (
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "GALLERY"
    )
    assert sorted(f"plot_{name}" for name in names) == [path.stem for path in EXAMPLES]
    assert len(names) >= 12
