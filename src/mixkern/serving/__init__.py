"""Serve the predictions of a model over HTTP, as JSON and Arrow."""

from mixkern.serving.limits import Limits
from mixkern.serving.start import ModelServer

__all__ = ["Limits", "ModelServer"]
