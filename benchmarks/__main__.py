"""Run every benchmark."""

from benchmarks import density, table

for each in (table, density):
    each.run()
