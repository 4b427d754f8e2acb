"""Run every benchmark."""

from benchmarks import table

table.run()
