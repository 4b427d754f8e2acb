"""A study to read: one HTML page, or pages of a documentation site."""

from mixkern.report.page import write_report
from mixkern.report.site import write_pages

__all__ = ["write_pages", "write_report"]
