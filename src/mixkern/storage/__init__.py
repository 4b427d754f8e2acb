"""Save fitted models to files, and load them without running code from the file."""

from mixkern.storage.model import ModelFile, load, read_model, save

__all__ = ["ModelFile", "load", "read_model", "save"]
