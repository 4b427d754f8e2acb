"""Advice on labelling: rows to label next, whether unlabelled rows help, accuracy, and mistaken labels."""

from mixkern.advice.accuracy import AccuracyEstimate, estimated_accuracy
from mixkern.advice.advice import Advice, Verdict
from mixkern.advice.advise import advise
from mixkern.advice.mistaken import MistakenLabels, mistaken_labels
from mixkern.advice.source import LabelSource
from mixkern.advice.suggest import suggest, suggested_rows
from mixkern.advice.suggestion import suggestion_table

__all__ = [
    "AccuracyEstimate",
    "Advice",
    "LabelSource",
    "MistakenLabels",
    "Verdict",
    "advise",
    "estimated_accuracy",
    "mistaken_labels",
    "suggest",
    "suggested_rows",
    "suggestion_table",
]
