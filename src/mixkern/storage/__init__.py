"""Models in files: written whole, read with suspicion."""

from mixkern.storage.model import ModelFile, load, read_model, save

__all__ = ["ModelFile", "load", "read_model", "save"]
