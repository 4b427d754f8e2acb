"""Sphinx configuration; `make docs` builds with warnings as errors."""

from importlib.metadata import version as installed_version

project = "mixkern"
author = "the mixkern developers"
copyright = f"2026, {author}"  # noqa: A001
release = version = installed_version("mixkern")

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
]
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]

autodoc_typehints = "none"  # shapes and meanings stand in the docstrings
autodoc_member_order = "bysource"
numpydoc_show_class_members = False  # api.md says which
numpydoc_xref_param_type = False

html_theme = "pydata_sphinx_theme"
html_title = f"mixkern {release}"
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {"**": []}
html_show_sourcelink = False
