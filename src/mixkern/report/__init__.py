"""What a model has learned from a table, as an HTML page or a model card."""

from mixkern.report.content import write_model_card, write_model_report
from mixkern.report.facts import FitRecord

__all__ = ["FitRecord", "write_model_card", "write_model_report"]
