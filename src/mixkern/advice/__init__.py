"""Advice before and between labels."""

from mixkern.advice.advice import Advice, Verdict
from mixkern.advice.advise import advise
from mixkern.advice.labels_only import plain_numbers
from mixkern.advice.suggest import suggest, suggested_rows
from mixkern.advice.suggestion import suggestion_table

__all__ = ["Advice", "Verdict", "advise", "plain_numbers", "suggest", "suggested_rows", "suggestion_table"]
