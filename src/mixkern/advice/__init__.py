"""Advice on labelling: rows to label next, whether unlabelled rows help, and how accurate a classifier is."""

from mixkern.advice.accuracy import AccuracyEstimate, estimated_accuracy
from mixkern.advice.advice import Advice, Verdict
from mixkern.advice.advise import advise
from mixkern.advice.suggest import suggest, suggested_rows
from mixkern.advice.suggestion import suggestion_table

__all__ = [
    "AccuracyEstimate",
    "Advice",
    "Verdict",
    "advise",
    "estimated_accuracy",
    "suggest",
    "suggested_rows",
    "suggestion_table",
]
