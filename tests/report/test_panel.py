"""Parts of a page: what users have named stays text, and what is counted is written."""

from mixkern.report.panel import Card, Cards, Gauge, Share, TextTable, Tile, Tiles, named


def test_names_are_isolated_escaped_and_cut():
    assert named("a<b") == "<bdi>a&lt;b</bdi>"
    long = named('"' * 500)
    assert long.startswith('<bdi title="&quot;&quot;')
    assert long.count("…") == 1
    assert len(named("x" * 10**6)) < 2_000


def test_tiles_are_terms():
    assert (
        Tiles((Tile("5", "rows"),)).to_html()
        == '<dl class="tiles"><div><dt><bdi>rows</bdi></dt><dd>5</dd></div></dl>\n'
    )


def test_a_table_has_headings_for_rows_and_columns_and_can_be_scrolled_by_keys():
    table = TextTable("t", "A & B", "Of <c>.", ("Name", "n"), (("<x>", "1"),), frozenset({1}), (3,))
    written = table.to_html()
    assert '<th scope="col" class="number"><bdi>n</bdi></th>' in written
    assert '<th scope="row"><svg class="mark c3"' in written
    assert "<bdi>&lt;x&gt;</bdi></th>" in written
    assert '<td class="number"><bdi>1</bdi></td>' in written
    assert 'role="region" aria-label="A &amp; B" tabindex="0"' in written
    assert "Of &lt;c&gt;." in written


def test_cards_show_shares_and_what_is_wrong():
    shares = (Share(0, 0.75, "<a>", "3"), Share(-1, 0.25, "2 others", "1"))
    card = Card("Component 1", "4 rows", "No label", (("Labels", shares),), ("Column", "Here"), (("age", "5"),))
    written = Cards((card,)).to_html()
    assert '<i class="c0" style="width:75.00%"></i><i class="others" style="width:25.00%"></i>' in written
    assert "<bdi>&lt;a&gt;</bdi> (3)" in written
    assert '<p class="warning">No label</p>' in written
    assert '<th scope="row"><bdi>age</bdi></th><td><bdi>5</bdi></td>' in written
    plain = Card("Component 1", "4 rows", "", (), ("Column", "Here"), ())
    assert "alarmed" not in plain.to_html()
    assert "No column sets it apart." in plain.to_html()


def test_a_gauge_says_what_it_draws():
    written = Gauge(0.8, 0.5, 1.0, "About 80 %").to_html()
    assert 'role="img" aria-label="About 80 %"' in written
    assert "left:50.00%;width:50.00%" in written
    assert "left:80.00%" in written
