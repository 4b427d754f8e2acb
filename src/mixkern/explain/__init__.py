"""Why a row has its label."""

from mixkern.explain.explanation import Explanation

__all__ = ["Explanation"]
