"""What a model has learned of a table, to read."""

from mixkern.report.model.page import write_model_report

__all__ = ["write_model_report"]
