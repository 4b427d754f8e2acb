"""Sphinx configuration; `make docs` builds with warnings as errors, and runs the examples of the gallery."""

import os
from importlib.metadata import distribution
from importlib.metadata import version as installed_version
from typing import Any

import click
from sphinx.application import Sphinx
from sphinx.util.nodes import make_refnode
from sphinx_gallery.sorting import ExplicitOrder

from mixkern.cli import cli

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
    "sphinx_gallery.gen_gallery",
]
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3
exclude_patterns = ["_build", "gallery/*.ipynb", "gallery/*.py"]

autodoc_typehints = "none"  # shapes and meanings stand in the docstrings
autodoc_member_order = "bysource"
numpydoc_show_class_members = False  # api.md says which
numpydoc_xref_param_type = False
nitpicky = True
nitpick_ignore_regex = [
    ("py:.*", r"(sklearn|matplotlib)\..*"),  # their sites are elsewhere
    ("py:(attr|obj)", r".*_"),  # learned attributes are described with their class
    ("py:class", "mixkern.errors.Message"),  # a base class that is not for users
]

# Dask and processes of an example inherit this: a figure opens no window.
os.environ.setdefault("MPLBACKEND", "agg")
GALLERY = (
    "two_rings",
    "messy_csv",
    "suggest",
    "explain",
    "mixed_types",
    "supervised",
    "wide_table",
    "novelty",
    "regression",
    "kernel_pca",
    "spectral_clustering",
    "gaussian_process",
    "own_kernel",
    "dask",
    "paper_figure",
)
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "within_subsection_order": ExplicitOrder([*(f"plot_{name}.py" for name in GALLERY), "*"]),
    "doc_module": ("mixkern",),
    "backreferences_dir": "gallery/backreferences",
    "image_srcset": ["2x"],
    "thumbnail_size": (500, 300),
    "first_notebook_cell": "# If mixkern is missing here:\n# %pip install 'mixkern[all]'\n%matplotlib inline",
    "download_all_examples": False,
    "show_signature": False,
    "write_computation_times": False,  # its page loads scripts from elsewhere
    "min_reported_time": 3600,  # times of a shared machine say little
    "plot_gallery": True,
}

html_theme = "pydata_sphinx_theme"
html_title = f"mixkern {release}"
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "header_links_before_dropdown": 8,
}
# Pages without others of their section have no list of them.
html_sidebars: dict[str, list[str]] = {page: [] for page in ("index", "start", "cookbook", "search", "genindex")}
html_static_path = ["_static"]
html_css_files = ["style.css", "gallery.css"]
html_show_sourcelink = False

# The site loads nothing from the network: MathJax is one file, taken from a package.
MATHJAX = next(
    file
    for file in distribution("sphinx-mathjax-offline").files or []
    if file.as_posix().endswith("/static/mathjax/tex-svg.js")
)
html_static_path += [str(MATHJAX.locate())]
html_context = {"default_mode": "auto"}
mathjax_path = "tex-svg.js"


def resolve_short_name(app: Any, env: Any, node: Any, content: Any) -> Any:
    """Resolve a name such as `mixkern.TableEncoder` or `MixtureSVC.fit` that is documented under a longer one."""
    if node.get("refdomain") != "py":
        return None
    name = node["reftarget"].removeprefix("mixkern.").removeprefix("mixkern_study.")
    objects = env.domains["py"].objects
    found = {key: entry for key, entry in objects.items() if f".{key}".endswith(f".{name}") and not entry.aliased}
    if len(found) != 1:
        return None
    ((key, entry),) = found.items()
    return make_refnode(app.builder, node["refdoc"], entry.docname, entry.node_id, content, key)


def setup(app: Sphinx) -> None:
    """Let commands.md have the help text of each command, and short names of Python be found."""
    app.connect("source-read", write_help)
    app.connect("missing-reference", resolve_short_name)


def write_help(_app: Sphinx, page: str, source: list[str]) -> None:
    """Write the help texts of all commands behind the text of commands.md."""
    if page == "commands":
        context = click.Context(cli, info_name="mixkern", terminal_width=80, **cli.context_settings)
        source[0] += "".join(f"\n## {name}\n\n```text\n{text}\n```\n" for name, text in help_texts(context))


def help_texts(context: click.Context) -> list[tuple[str, str]]:
    """Return the full name and the help text of each command of a group, also of those in groups within it."""
    found = []
    for name in context.command.list_commands(context):
        inner = click.Context(context.command.get_command(context, name), context, name)
        if isinstance(inner.command, click.Group):
            found += help_texts(inner)
        else:
            found.append((inner.command_path, inner.command.get_help(inner)))
    return found
