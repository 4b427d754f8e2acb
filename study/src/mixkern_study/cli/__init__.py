"""The commands ``mixkern paper`` and ``mixkern study``."""
