"""Report of the paper's study: one HTML file, or a folder of Markdown, LaTeX and CSV files."""

from mixkern_study.report.page import write_pages, write_report

__all__ = ["write_pages", "write_report"]
