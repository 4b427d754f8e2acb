"""The pages of a study: one HTML file, or a folder of Markdown, LaTeX and CSV files."""

from mixkern_study.report.page import write_report
from mixkern_study.report.site import write_pages

__all__ = ["write_pages", "write_report"]
