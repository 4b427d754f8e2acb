"""Support vector machines: functions of a kernel matrix and labels that return a dual, and its evaluation."""

from mixkern.svm.decision import DecisionFunction, Dual
from mixkern.svm.folds import label_folds
from mixkern.svm.gaussian_process import evidence_C, evidence_share, log_evidence
from mixkern.svm.libsvm import classifier, one_class, pairs, regressor

__all__ = [
    "DecisionFunction",
    "Dual",
    "classifier",
    "evidence_C",
    "evidence_share",
    "label_folds",
    "log_evidence",
    "one_class",
    "pairs",
    "regressor",
]
