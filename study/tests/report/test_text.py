"""What the report tells readers to type can be typed."""

import ast
import importlib

import pytest

from mixkern.report.blocks import Bullets, Paragraph
from mixkern_study.report import text


@pytest.mark.parametrize("code", [text.OWN_DATA, text.OWN_METHOD, text.REPORT])
def test_what_is_imported_exists(code):
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                assert hasattr(importlib.import_module(node.module), alias.name)


def test_only_code_is_marked():
    """Both renderers take backticks, and neither stars, brackets or angles."""
    blocks = [*text.INTRODUCTION, *text.HOW_TO_READ, *text.STATISTICS, *text.RUN_TIMES, *text.HOW_TO_ADD]
    words = [block.text for block in blocks if isinstance(block, Paragraph)]
    words += [each for block in blocks if isinstance(block, Bullets) for each in block.texts]
    for each in words:
        assert each.count("`") % 2 == 0
        assert not set("*[]<>$|{}#") & set(each)
