"""Pictures, for people who would rather look than read."""

from mixkern.plot.sample import gallery, scatter

__all__ = ["gallery", "scatter"]
