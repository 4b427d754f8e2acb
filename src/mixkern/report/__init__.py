"""What a model has learned from a table, as an HTML page."""

from mixkern.report.content import write_model_report

__all__ = ["write_model_report"]
