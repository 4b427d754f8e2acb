"""The paper item by item: what it says, the code that does it, a verdict, and what checks it."""

from mixkern_study.items.item import ItemVerdict, PaperItem
from mixkern_study.items.table import ITEMS, items_table

__all__ = ["ITEMS", "ItemVerdict", "PaperItem", "items_table"]
