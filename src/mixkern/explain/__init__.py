"""Why a row has its label, and which columns matter."""

from mixkern.explain.explanation import Explanation
from mixkern.explain.importance import column_importance

__all__ = ["Explanation", "column_importance"]
