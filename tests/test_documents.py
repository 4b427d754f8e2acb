"""Every Python example in README and docs runs, in the order of its page."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
PROMISE = re.compile(r"^print\((.*)\)  # (.+)$", re.MULTILINE)


def blocks(page):
    return BLOCK.findall(page.read_text("utf-8"))


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p)], ids=lambda p: p.name)
def test_examples_run_and_keep_their_promises(page, capsys):
    """A comment behind a print is what the print must show."""
    names = {}
    for block in blocks(page):
        exec(compile(block, str(page), "exec"), names)
        printed = capsys.readouterr().out
        for promise in PROMISE.findall(block):
            assert promise[1] in printed


def test_the_readme_has_ten_lines_of_code():
    code = [line for line in blocks(ROOT / "README.md")[0].splitlines() if line.strip()]
    assert len(code) == 10


def test_every_link_in_the_documents_leads_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", page.read_text("utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
