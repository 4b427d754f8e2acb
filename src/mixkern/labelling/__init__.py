"""Label the rows of a table in a browser: suggestions, a journal of all answers, a page."""

from mixkern.labelling.journal import Journal
from mixkern.labelling.session import LabelSession
from mixkern.labelling.start import LabelServer, label
from mixkern.labelling.table import LabelTable

__all__ = ["Journal", "LabelServer", "LabelSession", "LabelTable", "label"]
