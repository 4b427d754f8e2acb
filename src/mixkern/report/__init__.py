"""Pages to read: a study's results, and what a model has learned of a table."""

from mixkern.report.model import write_model_report
from mixkern.report.page import write_report
from mixkern.report.site import write_pages

__all__ = ["write_model_report", "write_pages", "write_report"]
